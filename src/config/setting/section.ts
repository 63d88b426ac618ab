import { z } from 'zod';
import { isMapping } from '../../base/input/mapping.js';
import { fieldsOf, unwrapped } from '../../base/input/schema-parts.js';
import type { QuantityKind } from './quantity.js';
import type { Setting, TextFile } from './setting.js';
import { readValue } from './setting-value.js';
import type { WrittenRate } from './written-rate.js';

/**
 * A mapping with known keys, defined once: the types of what is read, its validation, the variables, the JSON Schema
 * and the documents follow from it. Any key, or the whole mapping, may be absent or null; then the defaults count.
 */
export type Section<Value = unknown> = z.ZodType<Value>;

export function section<const Own extends Members>(members: Own): Section<ValueOf<Own>> {
  const fields = Object.entries(members).map(([key, member]): [string, z.ZodType] => {
    return [key, member instanceof z.ZodType ? member : field(member)];
  });
  const whole = z.strictObject(Object.fromEntries(fields));
  let defaults: Readonly<Record<string, unknown>> | undefined;
  // The defaults are read once. Most groups leave most sections out: reading 10,000 of them anew took a fifth longer.
  const defaultsOfAll = () => (defaults ??= whole.parse({}, { jitless: true }));
  const schema = z.preprocess((written) => written ?? undefined, whole.default(defaultsOfAll));
  return schema as unknown as Section<ValueOf<Own>>;
}

/** A key that is read by a section of its own. */
export const READ_ELSEWHERE = z.unknown().optional();

export type Members = Readonly<Record<string, Setting | z.ZodType>>;

/** Values of a section without mistakes. */
export type ValueOf<Own extends Members> = {
  readonly [Key in keyof Own]: Own[Key] extends z.ZodType<infer Value>
    ? Value
    : Own[Key] extends Setting
      ? FieldValue<Own[Key]>
      : never;
};

/** Includes null for a field without a default that is not required. */
type FieldValue<Row extends Setting> =
  | (Row extends { readonly isWritten: true }
      ? WrittenRate
      : Row extends { readonly choices: readonly (infer Choice)[] }
        ? Choice
        : Row extends { readonly mayBeFile: true }
          ? string | TextFile
          : ValueOfKind[Row['kind']])
  | (null extends Row['default'] ? (Row extends { readonly required: true } ? never : null) : never);

interface ValueOfKind extends Record<QuantityKind, number> {
  readonly name: string;
  readonly text: string;
  readonly choice: string;
  readonly switch: boolean;
  readonly addresses: readonly string[];
  readonly ratios: readonly number[];
  readonly 'group-selection': 'none' | 'all' | readonly string[];
  readonly weights: Readonly<Record<string, number>>;
  /** Read entry by entry afterwards: one that is wrong does not hide what is wrong with the others. */
  readonly entries: unknown;
}

export function factsOf(schema: z.ZodType): Setting | undefined {
  return FACTS.get(schema);
}

/** Its fields by their paths below it, `tls.cert`. */
export function rowsOf(schema: Section): SettingRows {
  const rows = Object.entries(fieldsOf(schema)).flatMap(([key, member]): [string, Setting][] => {
    const own = factsOf(member);
    if (own !== undefined) return [[key, own]];
    return Object.entries(rowsOf(member)).map(([below, row]) => [`${key}.${below}`, row]);
  });
  return Object.fromEntries(rows);
}

export type SettingRows = Readonly<Record<string, Setting>>;

/** Returns the fields of a mapping that have no mistake. */
export function soundPart(schema: Section, written: unknown): unknown {
  if (!(unwrapped(schema) instanceof z.ZodObject)) {
    const read = schema.safeParse(written);
    return read.success ? read.data : undefined;
  }
  const given = isMapping(written) ? written : {};
  const sound: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(fieldsOf(schema))) {
    const value = soundPart(member, Object.hasOwn(given, key) ? given[key] : undefined);
    if (value !== undefined) sound[key] = value;
  }
  return sound;
}

/** Keeps what documents, messages and editors need of a field beside zod. */
const FACTS = new WeakMap<z.ZodType, Setting>();

function field(facts: Setting): z.ZodType {
  const schema = z.transform((written, context) => {
    if (written === null || written === undefined) return facts.default;
    const { value, problems } = readValue(facts, written);
    for (const { at, problem, ...params } of problems) {
      context.issues.push({ code: 'custom', path: [...at], message: problem, params, input: written });
    }
    return problems.length === 0 ? value : z.NEVER;
  });
  FACTS.set(schema, facts);
  return schema;
}
