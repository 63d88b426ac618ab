import { z } from 'zod';
import type { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping } from '../../../base/input/mapping.js';
import { hasMisspelled } from '../../../base/input/nearest-name.js';

export function body<const Shape extends z.ZodRawShape>(
  shape: Shape,
  rules: readonly Rule<z.output<z.ZodObject<Shape, z.core.$strict>>>[] = [],
) {
  const fields = z.strictObject(shape);
  if (rules.length === 0) return fields;
  const ruled = fields.check(({ value, issues }) => {
    for (const rule of rules) {
      if (rule.isKept(value) || isExplained(rule, issues)) continue;
      issues.push({ code: 'custom', input: value, params: { mistake: rule.mistake } });
    }
  });
  // Else zod checks rules only once all fields are right; a client should see all mistakes at once.
  for (const check of ruled.def.checks ?? []) check._zod.def.when = ({ value }) => isMapping(value);
  return ruled.meta(inOneSchema(rules.flatMap(({ schema }) => (schema === undefined ? [] : [schema]))));
}

/** Relation between fields, which a schema of fields cannot state. */
export interface Rule<Body = never> {
  readonly isKept: (body: Body) => boolean;
  /** Makes the error; `where` stands before names of fields: 'requests[3].' or ''. */
  readonly mistake: (where: string) => QuotameshError;
  /** Schema for GET /openapi.json; absent = JSON Schema cannot state it. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Names misspelled fields that may explain a broken rule; only such a field is then reported. */
  readonly explainedBy?: readonly string[] | 'any-unknown-field';
}

function isExplained({ explainedBy = [] }: Rule, issues: readonly z.core.$ZodRawIssue[]): boolean {
  const unknown = issues.flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []));
  return explainedBy === 'any-unknown-field' ? unknown.length > 0 : hasMisspelled(unknown, explainedBy);
}

function inOneSchema([first = {}, ...others]: readonly Readonly<Record<string, unknown>>[]) {
  return others.length === 0 ? first : { ...first, allOf: others };
}

/** Makes JSON Schema for "at least one of these fields". */
export function anyOfFields(names: readonly string[]) {
  return { anyOf: names.map((name) => ({ required: [name] })) };
}
