import {
  type AnswerOf,
  count,
  exactly,
  listOf,
  number,
  oneOf,
  ordinal,
  perDirection,
  record,
  text,
  WRITTEN,
  yes,
} from './answer-table.js';
import { QUOTA, RATES } from './node-status.js';
import { DEFINED_GROUP, IN_FORCE, MADE_GROUP } from './quota-groups.js';

export const COSTED_GROUP = {
  ...DEFINED_GROUP,
  readPageBytes: number.meta({ description: 'The number of bytes in one cost unit (docs/guide/target-rate.md).' }),
};
export interface CostedGroup extends AnswerOf<typeof COSTED_GROUP> {}

const WARNINGS = listOf(text).meta({ description: 'What the change does that nobody may expect; often nothing.' });

const QUOTA_IN_FORCE = {
  isInForce: yes.meta({ description: 'True = nobody can act by a former quota any more.' }),
  waitsFor: listOf(text).meta({
    description: 'The nodes that hold more than they may by a lowered quota; it waits until they return it, or expire.',
  }),
  withinMs: count.meta({
    description: 'The milliseconds until it is in force, at the latest, if the log works; 0 if it is.',
  }),
};
/** Progress of a strict group's changed quota. */
export interface QuotaInForce extends AnswerOf<typeof QUOTA_IN_FORCE> {}

export const CHANGED_GROUP = {
  ...COSTED_GROUP,
  warnings: WARNINGS,
  strict: record<QuotaInForce>(QUOTA_IN_FORCE)
    .nullable()
    .meta({ description: 'For a strict group, how far its quota has come when the log has decided; else null.' }),
};
/** Group as a change has left it. */
export interface ChangedGroup extends AnswerOf<typeof CHANGED_GROUP> {}

const KEY_ENTRY = {
  kind: oneOf(['template', 'key']),
  name: text,
};
/** Template, or a single key's own settings. */
export interface KeyEntry extends AnswerOf<typeof KEY_ENTRY> {}

export const DEFINED_KEYS = {
  ...KEY_ENTRY,
  ...IN_FORCE,
  /** Definition as below the pattern, or its overrides, in YAML. */
  definition: WRITTEN,
};
export interface DefinedKeys extends AnswerOf<typeof DEFINED_KEYS> {}

export const CHANGED_KEYS = { ...DEFINED_KEYS, warnings: WARNINGS };
/** Template or key as a change has left it. */
export interface ChangedKeys extends AnswerOf<typeof CHANGED_KEYS> {}

export const PREVIEWED_GROUP = {
  ...MADE_GROUP,
  origin: oneOf(['yaml', 'run-time']).nullable(),
  revision: count,
  before: WRITTEN.nullable(),
  after: WRITTEN,
};
export interface PreviewedGroup extends AnswerOf<typeof PREVIEWED_GROUP> {}

export const REFUSED_GROUP = { group: text, status: count, code: text, detail: text, remedy: text };
/** Refused group of a batch: members of a problem (RFC 9457). */
export interface RefusedGroup extends AnswerOf<typeof REFUSED_GROUP> {}

const DIRECTION_PREVIEW = {
  ...QUOTA,
  target: RATES,
  nodes: listOf(record({ nodeId: text, demand: RATES, share: RATES })),
};
export interface DirectionPreview extends AnswerOf<typeof DIRECTION_PREVIEW> {}

const SHARES_PREVIEW = perDirection(record<DirectionPreview>(DIRECTION_PREVIEW)).nullable();
export const CHANGE_PREVIEW = {
  group: text,
  dryRun: exactly(true),
  definition: WRITTEN.nullable().meta({
    description: 'The definition that would be in force; null means that there would be no such group.',
  }),
  before: SHARES_PREVIEW,
  after: SHARES_PREVIEW,
  warnings: WARNINGS,
};
/** Effect of a change, without making it. */
export interface ChangePreview extends AnswerOf<typeof CHANGE_PREVIEW> {}
export type GroupPreview = NonNullable<ChangePreview['after']>;

export const KEYS_PREVIEW = {
  ...KEY_ENTRY,
  dryRun: exactly(true),
  before: WRITTEN.nullable(),
  after: WRITTEN.nullable(),
  warnings: WARNINGS,
};
/** Shows the effect of a change without making it; null = not defined. The change is of a template or a key. */
export interface KeysPreview extends AnswerOf<typeof KEYS_PREVIEW> {}

const WRITTEN_OR_NONE = WRITTEN.nullable().meta({
  description: 'The definition as YAML writes it; null means that nothing was defined at run time.',
});
export const AUDITED_CHANGE = {
  revision: ordinal.meta({
    description: 'The revision of the change, and of whatever was detached with it.',
  }),
  time: text.nullable().meta({
    description: 'The time of the request for the change, by the clock of the node that was asked.',
  }),
  node: text.meta({ description: 'The node that was asked.' }),
  who: record({ name: text, how: text, requestId: text }, 'Null means that the node does not say.').nullable(),
  what: oneOf(['made', 'changed', 'deleted']),
  kind: oneOf(['group', 'attachment', 'key-template', 'key']),
  name: text.meta({ description: 'The name of the group, or the path of the scope.' }),
  before: WRITTEN_OR_NONE,
  after: WRITTEN_OR_NONE,
  withGroup: text.nullable().meta({
    description: 'The group whose deletion with force has detached the scope; null otherwise.',
  }),
};
/** Change for people: GET /v1/audit, `quotamesh audit`, the log. */
export interface AuditedChange extends AnswerOf<typeof AUDITED_CHANGE> {}

const LANE_SUMMARY = { ...QUOTA, served: yes, share: RATES, usage: RATES, demand: RATES };
export interface SummarizedLane extends AnswerOf<typeof LANE_SUMMARY> {}

const SUMMARIZED = record<SummarizedLane>(LANE_SUMMARY);
export const GROUP_SUMMARY = {
  group: text,
  strategy: text,
  ...IN_FORCE,
  publish: SUMMARIZED,
  dispatch: SUMMARIZED,
};
/** Line of the list of groups. */
export interface GroupSummary extends AnswerOf<typeof GROUP_SUMMARY> {}
