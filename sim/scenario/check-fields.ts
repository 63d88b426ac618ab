import { z } from 'zod';
import { inputMistakes } from '../../src/base/input/input-mistakes.js';
import { isMapping } from '../../src/base/input/mapping.js';
import { didYouMean } from '../../src/base/input/nearest-name.js';
import type { ConfigPath, Findings, FoundMistake } from '../../src/config/setting/findings.js';
import { show } from '../../src/config/setting/setting-text.js';
import type { Field, Fields, ReadFields } from './fields.js';

export function readFields<Own extends Fields>(
  findings: Findings,
  path: ConfigPath,
  input: unknown,
  fields: Own,
  besides: readonly string[] = [],
): ReadFields<Own> {
  const schema = schemaOf(fields, besides);
  for (const mistake of inputMistakes(schema, input, schema.safeParse(input).error?.issues ?? [])) {
    const at = [...path, ...mistake.path];
    if (mistake.kind === 'told') {
      findings.add(at, { problem: mistake.problem, ...(mistake.params as Pick<FoundMistake, 'allowed' | 'remedy'>) });
    } else if (mistake.kind === 'key-unknown') {
      findings.add([...at, mistake.key], unknownKey(mistake.key, mistake.known), { part: 'key' });
    } else {
      findings.add(at, notMapping([...Object.keys(fields), ...besides], input));
    }
  }
  const given = isMapping(input) ? input : {};
  const values = Object.entries(fields).map(([key, field]) => [key, readOr(field, given[key])] as const);
  return Object.fromEntries(values) as ReadFields<Own>;
}

export function readList(findings: Findings, path: ConfigPath, input: unknown, says: string): readonly unknown[] {
  if (Array.isArray(input)) return input;
  const allowed = `a list of ${says}`;
  findings.add(path, { problem: `must be ${allowed}, got ${show(input)}`, allowed, remedy: 'Begin each with "- ".' });
  return [];
}

/** Reads an entry's kind and row; undefined after a mistake. */
export function readKind<Kind extends string, Row>(
  findings: Findings,
  path: ConfigPath,
  input: unknown,
  { key, kinds }: { readonly key: string; readonly kinds: Readonly<Record<Kind, Row>> },
): { readonly kind: Kind; readonly row: Row } | undefined {
  const names = Object.keys(kinds);
  const given = isMapping(input) ? input[key] : undefined;
  if (isKey(kinds, given)) return { kind: given, row: kinds[given] };
  const allowed = `one of ${names.join(', ')}`;
  if (!isMapping(input)) {
    findings.add(path, notMapping([key], input));
  } else if (given === undefined || given === null) {
    findings.add(path, { problem: `has no ${key}`, allowed, remedy: `Add ${key}: ${names[0]}, or another one.` });
  } else {
    const remedy = (typeof given === 'string' && didYouMean(given, names)) || `Known here: ${names.join(', ')}.`;
    findings.add([...path, key], { problem: `must be ${allowed}, got ${show(given)}`, allowed, remedy });
  }
  return undefined;
}

function isKey<Kind extends string>(kinds: Readonly<Record<Kind, unknown>>, given: unknown): given is Kind {
  return typeof given === 'string' && Object.hasOwn(kinds, given);
}

export function unknownKey(key: string, known: readonly string[]): FoundMistake {
  const allowed = known.join(', ');
  return { problem: 'is not a known key', allowed, remedy: didYouMean(key, known) || `Known keys here: ${allowed}.` };
}

function notMapping(known: readonly string[], input: unknown): FoundMistake {
  const allowed = `a mapping with the keys ${known.join(', ')}`;
  return { problem: `must be ${allowed}, got ${show(input)}`, allowed, remedy: 'Indent the keys below it.' };
}

function readOr(field: Field, input: unknown): unknown {
  if (input === undefined || input === null) return field.default;
  const { value, problems } = field.read(input);
  return problems.length === 0 ? value : undefined;
}

const schemas = new WeakMap<Fields, z.ZodType>();

function schemaOf(fields: Fields, besides: readonly string[]): z.ZodType {
  const known = schemas.get(fields);
  if (known !== undefined) return known;
  const leaves = Object.entries(fields).map(([key, field]) => [key, leafSchema(field)] as const);
  const rest = besides.map((key) => [key, z.unknown().optional()] as const);
  const schema = z.strictObject({ ...Object.fromEntries(leaves), ...Object.fromEntries(rest) });
  schemas.set(fields, schema);
  return schema;
}

function leafSchema(field: Field): z.ZodType {
  const { required, allowed } = field;
  const leaf = z.unknown().superRefine((input, context) => {
    if (input === undefined || input === null) {
      if (!required) return;
      const params = { allowed, remedy: `Write ${allowed}.` };
      context.addIssue({ code: 'custom', path: [], message: 'is missing', params });
      return;
    }
    for (const { at, problem, ...params } of field.read(input).problems) {
      context.addIssue({ code: 'custom', path: [...at], message: problem, params });
    }
  });
  return required ? leaf : leaf.optional();
}
