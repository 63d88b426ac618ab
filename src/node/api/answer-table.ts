import { z } from 'zod';
import { DIRECTIONS, type Direction } from '../../core/base/vocabulary.js';

/**
 * Describes a value of an answer: a schema of zod, of which GET /openapi.json is made, seen as little as its type needs.
 * *Why:* docs/decisions/0061; whoever embeds a node gets these types, and no zod.
 */
export interface Described<Value> {
  readonly _zod: { readonly output: Value };
  meta(words: { readonly description: string }): Described<Value>;
  nullable(): Described<Value | null>;
  exactOptional(): Described<Value>;
}

/** Table of an answer's members; comments are for embedders' editors, `meta` for GET /openapi.json. */
type TableOf<Value> = { readonly [Name in keyof Value]: Described<Value[Name]> };

/** Infers an answer's type from its table. */
export type AnswerOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Described<infer Value> ? Value : never;
};

export const text: Described<string> = z.string();
export const number: Described<number> = z.number().min(0);
/** Below 0, too. */
export const signed: Described<number> = z.number();
export const count: Described<number> = z.int().min(0);
export const integer: Described<number> = z.int();
/** From 1 on. */
export const ordinal: Described<number> = z.int().min(1);
export const yes: Described<boolean> = z.boolean();

/** Settings as YAML would write them. */
export const WRITTEN: Described<Readonly<Record<string, unknown>>> = z.record(z.string(), z.unknown());
export const COUNTS: Described<Readonly<Record<string, number>>> = z.record(z.string(), z.int().min(0));

export function exactly<const Value extends string | true>(value: Value): Described<Value> {
  return z.literal(value);
}

export function oneOf<const Value extends string>(values: readonly Value[]): Described<Value> {
  return z.enum(values) as unknown as Described<Value>;
}

/** Describes an object with exactly these members. */
export function record<Value>(table: TableOf<Value>, description?: string): Described<Value> {
  const schema = z.strictObject(table as unknown as z.ZodRawShape);
  return (description === undefined ? schema : schema.meta({ description })) as unknown as Described<Value>;
}

export function listOf<Value>(item: Described<Value>): Described<readonly Value[]> {
  return z.array(item as unknown as z.ZodType) as unknown as Described<readonly Value[]>;
}

export function eitherOf<One, Other>(one: Described<One>, other: Described<Other>): Described<One | Other> {
  return z.union([one, other] as unknown as [z.ZodType<One>, z.ZodType<Other>]);
}

export function perDirection<Value>(described: Described<Value>): Described<Readonly<Record<Direction, Value>>> {
  const [publish, dispatch] = DIRECTIONS.map(() => described);
  return record<Readonly<Record<Direction, Value>>>({ publish, dispatch });
}
