import fc from 'fast-check';
import type { InjectOptions } from 'fastify';
import { attachmentDefinition, damaging, groupDefinition, groupName, leaf, placePath, tree } from './grammar.js';

/** What GET /openapi.json says, as far as requests are made of it. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}

export type FuzzedRequest = InjectOptions & { readonly url: string; readonly method: Method };
type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** Nobody waits longer for a turn: the fuzz would wait with it. */
const WAIT_MS_MAX = 2;

/** Requests to every route that the node describes, in its own words, most of them wrong in one place. */
export function requestsFor({ paths }: Description): fc.Arbitrary<FuzzedRequest> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
      return { path, method: method.toUpperCase() as Method, body: bodyFor(path, body) };
    }),
  );
  return fc.oneof(...operations.map(requestOf));
}

function requestOf(operation: { path: string; method: Method; body: fc.Arbitrary<unknown> | null }) {
  const { path, method, body } = operation;
  const parts = fc.record({
    names: fc.array(fc.oneof(groupName, placePath), { minLength: 3, maxLength: 3 }),
    how: fc.oneof(
      { weight: 15, arbitrary: fc.constant(method) },
      { weight: 1, arbitrary: fc.constantFrom<Method>('GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS') },
    ),
    query: mostly('', '?dryRun=true', '?dryRun=yes', '?force=true', '?x', '?limit=-1', '?limit=5', '?%zz', '?sort=a'),
    match: mostly(undefined, '*', '"1"', '"x"', 'W/"3"', '', '"99999999999999999999"'),
    type: mostly('application/json', 'text/plain', 'application/json; charset=utf-16', 'application/jsonx', '/'),
    payload: body ?? fc.constant(undefined),
    damage: fc.oneof(
      { weight: 4, arbitrary: fc.constant((text: string) => text) },
      { weight: 1, arbitrary: damaging() },
    ),
  });
  return parts.map(({ names, how, query, match, type, payload, damage }): FuzzedRequest => {
    let at = 0;
    const filled = path.replaceAll(/\{[^}]+\}/g, () => encodeURIComponent(names[at++ % names.length]));
    const conditions = match === undefined ? {} : { 'if-match': match };
    if (payload === undefined) return { method: how, url: filled + query, headers: conditions };
    const headers = { ...conditions, 'content-type': type };
    return { method: how, url: filled + query, headers, payload: damage(JSON.stringify(patient(payload)) ?? '') };
  });
}

function bodyFor(path: string, schema: Schema | undefined): fc.Arbitrary<unknown> | null {
  if (schema === undefined) return null;
  const own = path.includes('attachment') ? attachmentDefinition : groupDefinition;
  const fromTable = schema.properties === undefined ? own : fromSchema(schema);
  return fc.oneof({ weight: 5, arbitrary: fromTable }, { weight: 1, arbitrary: tree });
}

function fromSchema({ type, properties, items, enum: allowed, oneOf, anyOf }: Schema): fc.Arbitrary<unknown> {
  const choices = oneOf ?? anyOf;
  if (choices !== undefined) return fc.oneof(...choices.map(fromSchema), leaf);
  if (allowed !== undefined) return mostly(allowed[0], ...allowed.slice(1), 'neither');
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, schema]) => [name, fieldOf(name, schema)]);
    return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] });
  }
  if (items !== undefined) return fc.array(fromSchema(items), { maxLength: 3 });
  if (type === 'number' || type === 'integer') return fc.oneof(fc.nat({ max: 20 }), leaf);
  return leaf;
}

function fieldOf(name: string, schema: Schema): fc.Arbitrary<unknown> {
  return name === 'group' ? fc.oneof(groupName, leaf) : fromSchema(schema);
}

/** The first most of the time. */
function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(usual, ...others) },
  );
}

function patient(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(patient);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => {
    const isWait = name === 'waitMs' && typeof inner === 'number';
    return [name, isWait ? Math.min(inner, WAIT_MS_MAX) : patient(inner)];
  });
  return Object.fromEntries(entries);
}
