import type { z } from 'zod';
import { fieldsOf, layersOf, schemasAlong } from './schema-parts.js';

/** Mistake of any input as data: a configuration words it with file and line, HTTP with a code. */
export type InputMistake = { readonly path: readonly (string | number)[] } & (
  | { readonly kind: 'key-unknown'; readonly key: string; readonly known: readonly string[] }
  | { readonly kind: 'not-a-mapping'; readonly known: readonly string[]; readonly got: unknown }
  | { readonly kind: 'missing'; readonly says: ValueText }
  | { readonly kind: 'value'; readonly says: ValueText; readonly got: unknown }
  /** Found by a check with its own words. */
  | { readonly kind: 'told'; readonly problem: string; readonly params: Readonly<Record<string, unknown>> }
);

/** Wording of what may stand somewhere. */
export interface ValueText {
  /** Completes "must be …": `true or false`. */
  readonly allowed: string;
  /** True = the value is never shown. */
  readonly secret?: true;
}

/** Words the mistakes of `schema`, and of parts without their own words. */
export function told<Schema extends z.ZodType>(schema: Schema, says: ValueText | string): Schema {
  TEXTS.set(schema, typeof says === 'string' ? { allowed: says } : says);
  return schema;
}

const TEXTS = new WeakMap<z.ZodType, ValueText>();

/** Lists the mistakes in `issues` of `schema`, each unknown key by itself. */
export function inputMistakes(
  schema: z.ZodType,
  input: unknown,
  issues: readonly z.core.$ZodIssue[],
): readonly InputMistake[] {
  return issues.flatMap((issue): InputMistake[] => {
    const path = issue.path as (string | number)[];
    if (issue.code === 'custom' && issue.params !== undefined) {
      return [{ kind: 'told', path, problem: issue.message, params: issue.params }];
    }
    const along = schemasAlong(schema, path);
    // Below the last schema the wording of the nearest one around counts.
    const own = along.length > path.length ? along.at(-1) : undefined;
    const known = own === undefined ? [] : Object.keys(fieldsOf(own));
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ kind: 'key-unknown', path, key, known }));
    }
    const got = valueAlong(input, path);
    if (known.length > 0 && valueTextOf(own!) === undefined) return [{ kind: 'not-a-mapping', path, known, got }];
    const says = along.map(valueTextOf).findLast((text) => text !== undefined) ?? { allowed: issue.message };
    return [got === undefined ? { kind: 'missing', path, says } : { kind: 'value', path, says, got }];
  });
}

export function valueTextOf(schema: z.ZodType): ValueText | undefined {
  const layer = layersOf(schema).find((each) => TEXTS.has(each));
  return layer && TEXTS.get(layer);
}

export function valueAlong(input: unknown, path: readonly PropertyKey[]): unknown {
  let current = input;
  for (const step of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step)) return undefined;
    current = (current as Readonly<Record<PropertyKey, unknown>>)[step];
  }
  return current;
}

/** Most characters of a caller's input that an error repeats. */
export const SHOWN_MAX = 80;

/** Shows an input in errors: "5" is not 5, and an object may have no text of its own. */
export function showSent(sent: unknown): string {
  if (sent === null) return 'null';
  if (sent === undefined) return 'nothing';
  if (Array.isArray(sent)) return `an array of ${sent.length}`;
  if (typeof sent === 'object') return 'an object';
  if (typeof sent === 'string') return JSON.stringify(sent.slice(0, SHOWN_MAX));
  return typeof sent === 'bigint' ? `${sent}n` : String(sent).slice(0, SHOWN_MAX);
}
