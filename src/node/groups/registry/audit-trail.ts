import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { BatchDecision } from '../../../core/beside/registry/registry-protocol.js';
import {
  type AuditRecord,
  type ChangedBy,
  type Entry,
  entryOf,
  type GroupDefinition,
} from '../../../core/beside/registry/registry-record.js';

/** Change for people: GET /v1/audit, `quotamesh audit`, the log. */
export interface AuditedChange {
  /** Rises with every change; what was detached with a group has its deletion's. */
  readonly revision: number;
  /** Time by the clock of the changing node; null = unknown. */
  readonly time: string | null;
  readonly node: string;
  readonly who: Omit<ChangedBy, 'atMs'> | null;
  readonly what: 'made' | 'changed' | 'deleted';
  readonly kind: Entry['kind'];
  readonly name: string;
  /** Definition as YAML writes it; null = none at run time. */
  readonly before: GroupDefinition | null;
  readonly after: GroupDefinition | null;
  /** Group deleted with force, which detached it; null = changed by itself. */
  readonly withGroup: string | null;
}

export function auditedChange(record: AuditRecord): AuditedChange {
  const { revision, author, group, before, after, by } = record;
  const what = after === null ? 'deleted' : before === null ? 'made' : 'changed';
  return {
    revision,
    time: by === null ? null : timeOf(by.atMs),
    node: author,
    who: by === null ? null : { name: by.name, how: by.how, requestId: by.requestId },
    what,
    ...entryOf(group),
    before,
    after,
    withGroup: record.withGroup ?? null,
  };
}

/** Logs a change at the node that made it. */
export function logChange(telemetry: Telemetry, record: AuditRecord): void {
  const { time: _time, node: _node, ...change } = auditedChange(record);
  telemetry.log('info', 'change accepted', { audit: true, outcome: 'accepted', ...change });
}

/** Logs a batch in one line; its groups stand in the trail. */
export function logBatch(
  telemetry: Telemetry,
  { revision, changes }: Pick<BatchDecision, 'revision' | 'changes'>,
): void {
  const [first] = changes;
  if (first === undefined) return;
  const { who, kind } = auditedChange(first);
  const names = changes.slice(0, NAMES_MAX).map(({ group }) => group);
  const more = changes.length > NAMES_MAX ? ` and ${changes.length - NAMES_MAX} more` : '';
  const facts = { revision, who, what: 'changed', kind, count: changes.length, groups: `${names.join(', ')}${more}` };
  telemetry.log('info', 'batch of changes accepted', { audit: true, outcome: 'accepted', ...facts });
}

const NAMES_MAX = 20;

/** Formats a time; null = no Date can hold it. */
function timeOf(atMs: number): string | null {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
