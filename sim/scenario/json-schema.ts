import { z } from 'zod';
import { editorSchema } from '../../src/config/describe/json-schema.js';
import { TIMING } from '../../src/config/schema/timing.js';
import { METRICS } from '../verdict/metric-table.js';
import type { Field, Fields } from './fields.js';
import { HAPPENING_KINDS } from './happening-kinds.js';
import { LOAD_KINDS } from './load-kinds.js';
import { BOUND_FIELDS, NETWORK_FIELDS, QUOTA_FIELDS, SCENARIO_FIELDS, SCENARIO_GROUP } from './scenario-fields.js';

/** Makes a scenario's JSON Schema (draft 7) for editors; the check is stricter. */
export function scenarioJsonSchema(): Readonly<Record<string, unknown>> {
  const bounds = METRICS.map(({ name, says }) => {
    return [name, mapping(BOUND_FIELDS).meta({ description: says }).optional()] as const;
  });
  const schema = z.strictObject({
    ...leavesOf(SCENARIO_FIELDS),
    quota: mapping(QUOTA_FIELDS).optional(),
    network: mapping(NETWORK_FIELDS).optional(),
    group: editorSchema(SCENARIO_GROUP, 'defaults').optional(),
    timing: editorSchema(TIMING, 'timing').optional(),
    load: z.array(variants('kind', LOAD_KINDS)),
    happenings: z.array(variants('what', HAPPENING_KINDS)).optional(),
    expect: z.record(z.string(), z.strictObject(Object.fromEntries(bounds))).optional(),
  });
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
}

type Kinds = Readonly<Record<string, { readonly says: string; readonly fields: Fields }>>;

function variants(key: string, kinds: Kinds): z.ZodType {
  const shapes = Object.entries(kinds).map(([name, { says, fields }]) =>
    z.strictObject({ [key]: z.literal(name), ...leavesOf(fields) }).meta({ description: says }),
  );
  return z.union(shapes as unknown as [z.ZodType, z.ZodType]);
}

export function mapping(fields: Fields): z.ZodObject {
  return z.strictObject(leavesOf(fields));
}

function leavesOf(fields: Fields): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, leafOf(field)]));
}

function leafOf({ says, allowed, defaultText, required, json }: Field): z.ZodType {
  const description = `${says} ${allowed}${required ? '' : `; default ${defaultText}`}`;
  const leaf = z.unknown().meta({ description, ...json });
  return required ? leaf : leaf.optional();
}
