import { z } from 'zod';
import { valueTextOf } from '../../base/input/input-mistakes.js';
import { fieldsOf } from '../../base/input/schema-parts.js';
import { examineConfig } from '../read/resolve-config.js';
import { UNIT_IN_KEY } from '../read/units-in-keys.js';
import { NODE, SETTINGS } from '../schema/all-settings.js';
import { GROUP } from '../schema/groups.js';
import { KEYS } from '../schema/keys.js';
import { POLLED_BACKEND } from '../schema/polled-backends.js';
import { TOPIC_KIND, TOPIC_KINDS, type TopicKind } from '../schema/topic-kinds.js';
import { QUANTITY_EXAMPLES, type QuantityKind } from '../setting/quantity.js';
import { factsOf, READ_ELSEWHERE, type Section } from '../setting/section.js';
import type { Setting } from '../setting/setting.js';
import { allowedText, defaultText } from '../setting/setting-text.js';
import { RATE_NAMES, rateKey } from '../setting/written-rate.js';

/**
 * JSON Schema (draft 7) of a configuration file, for editors: completion, hover texts and wavy lines. Looser than the
 * real check: a quantity with a unit is a string, its range and the relations are known to resolveConfig only.
 */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const group = editorSchema(GROUP, 'defaults');
  const schema = z.strictObject({
    ...editorMembers(NODE, ''),
    cluster: editorLeaf(SETTINGS.node.rows.cluster),
    backends: z.record(z.string(), editorSchema(POLLED_BACKEND, 'backends')).optional(),
    topic: z
      .union([z.enum(TOPIC_KIND.choices.filter(isWholeByName)), ...TOPIC_KIND.choices.map(topicSchema)])
      .optional(),
    defaults: group.optional(),
    groups: z.record(z.string(), group).nullable().optional(),
    keys: keysSchema(group),
  });
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7', override: describe });
}

/** Describes bounds, and templates by their patterns. Those have groups' settings and overrides of single keys. */
function keysSchema(group: z.ZodType): z.ZodType {
  const template = z.strictObject({ ...editorMembers(GROUP, 'defaults'), overrides: z.record(z.string(), group) });
  return z.object(editorMembers(KEYS, 'keys')).catchall(template.partial().nullable()).nullable().optional();
}

/** Describes what is allowed where the schema cannot. */
function describe({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  const says = valueTextOf(zodSchema as z.ZodType);
  if (says !== undefined) jsonSchema.description ??= says.allowed;
  const { properties = {} } = jsonSchema;
  const hasRates = RATE_NAMES.some((name) => rateKey(name) in properties);
  if (hasRates) jsonSchema.patternProperties = { [UNIT_IN_KEY.source]: { type: ['number', 'string', 'null'] } };
}

/** Tests if a name of a kind may stand alone. */
function isWholeByName(kind: TopicKind): boolean {
  const least = { cluster: 'c', node: 'n', topic: kind, groups: {} };
  return examineConfig(least, { source: '' }).mistakes.length === 0;
}

/** The kind may be left out where it is the default; tls may be true. */
function topicSchema(kind: TopicKind): z.ZodType {
  const { tls, ...members } = editorMembers(TOPIC_KINDS[kind], 'topic');
  const own = {
    kind: kind === TOPIC_KIND.default ? z.literal(kind).optional() : z.literal(kind),
    ...(tls === undefined
      ? {}
      : { tls: z.union([z.boolean(), editorSchema(fieldsOf(TOPIC_KINDS[kind]).tls, 'topic.tls')]).optional() }),
  };
  return z.strictObject({ ...members, ...own }).nullable();
}

/** A section, for editors; `path` is where it stands, and groups stand at `defaults`. */
export function editorSchema(schema: Section, path: string): z.ZodType {
  return z.strictObject(editorMembers(schema, path)).nullable();
}

function editorMembers(schema: Section, path: string): Readonly<Record<string, z.ZodType>> {
  const members = Object.entries(fieldsOf(schema)).filter(([, member]) => member !== READ_ELSEWHERE);
  return Object.fromEntries(members.map(([key, member]) => [key, editorMember(member, path, key).optional()]));
}

function editorMember(member: z.ZodType, path: string, key: string): z.ZodType {
  const facts = factsOf(member);
  if (facts !== undefined) return editorLeaf(facts);
  const own = editorSchema(member, path === '' ? key : `${path}.${key}`);
  return key === 'burst' ? z.union([BURST_IN_SHORT, own]) : own;
}

const BURST_IN_SHORT = z
  .union([z.number(), z.string()])
  .meta({ description: 'So many messages (10), or so much time of the quota (2s).', examples: [10, '2s'] });

function editorLeaf(setting: Setting): z.ZodType {
  const { buys, costs } = setting;
  const description = `${allowedText(setting)}; default ${defaultText(setting)}. Buys: ${buys} Costs: ${costs}`;
  if (setting.of !== undefined) return setting.of.schema.nullable().meta({ description });
  return z.unknown().meta({ description, ...typeOf(setting) });
}

function typeOf(setting: Setting): Readonly<Record<string, unknown>> {
  if (setting.choices !== undefined) return { enum: [...setting.choices, null] };
  switch (setting.kind) {
    case 'name':
    case 'text':
      return setting.mayBeFile === true ? anyOf({ type: 'string' }, FILE) : anyOf({ type: 'string' });
    case 'switch':
      return anyOf({ type: 'boolean' });
    case 'addresses':
    case 'group-selection':
      return anyOf({ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 });
    case 'ratios':
      return anyOf({ type: 'string' }, { type: 'array', items: { type: ['number', 'string'] }, minItems: 1 });
    case 'weights':
      return anyOf({ type: 'object', additionalProperties: anyOf({ type: 'number' }) });
    default:
      return anyOf(
        { type: 'number', minimum: setting.min ?? 0, ...(setting.max !== undefined && { maximum: setting.max }) },
        { type: 'string', examples: QUANTITY_EXAMPLES[setting.kind as QuantityKind].split(' or ') },
      );
  }
}

const FILE = {
  type: 'object',
  properties: { file: { type: 'string' } },
  required: ['file'],
  additionalProperties: false,
};

/** Adds null to what is allowed, as every key may be null. */
function anyOf(...types: readonly Readonly<Record<string, unknown>>[]): Readonly<Record<string, unknown>> {
  return { anyOf: [...types, { type: 'null' }] };
}
