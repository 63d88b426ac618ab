import { z } from 'zod';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { isMapping } from '../../input/mapping.js';
import { nearestNames } from '../../input/nearest-name.js';
import { SHOWN_MAX, show } from '../../input/shown-value.js';
import { allowedOf, makerOf } from './fields.js';

/** What a schema has refused; fastify passes it on to the error handler, which tells what is wrong. */
export class InvalidInput extends Error {
  readonly schema: z.ZodType;
  readonly issues: readonly z.core.$ZodIssue[];
  /** Set by fastify. */
  readonly validationContext?: 'body' | 'querystring';

  constructor(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]) {
    super('the input is not as its schema says');
    this.schema = schema;
    this.issues = issues;
  }

  /** The catalogue's error. */
  told(reading: Reading): QuotameshError {
    return mistakeIn(this, reading);
  }
}

export interface Reading {
  readonly sent: unknown;
  readonly part: 'body' | 'query';
  /** A parameter of the path. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Before the names of fields: 'refunds[3].', or '' for the whole. */
  readonly where?: string;
  /** The name by which the client knows a field. */
  readonly nameOf?: (field: string) => string;
}

/** A part of a body that is judged by itself; throws what is wrong with it. */
export function readPart<Schema extends z.ZodType>(schema: Schema, sent: unknown, where: string): z.output<Schema> {
  const read = schema.safeParse(sent);
  if (read.success) return read.data;
  throw new InvalidInput(schema, read.error.issues).told({ sent, part: 'body', where });
}

/**
 * The catalogue's error: it names every wrong field, and shows what was sent. One wrong field is an error of its own
 * code, several are FIELDS_INVALID.
 */
function mistakeIn({ schema, issues }: InvalidInput, reading: Reading): QuotameshError {
  const { sent, where = '' } = reading;
  if (!isMapping(sent) && where === '') {
    return new QuotameshError('BODY_INVALID', { reason: `the body must be a JSON object, got ${show(sent)}` });
  }
  const errors = issues.flatMap((issue) => mistakesOf(schema, issue, reading));
  const distinct = [...new Map(errors.map((error) => [error.message, error])).values()];
  if (distinct.length === 1) return distinct[0]!;
  const named = distinct.slice(0, NAMED_MAX).map(({ message }) => message);
  const more = distinct.length > NAMED_MAX ? [`and ${distinct.length - NAMED_MAX} more`] : [];
  return new QuotameshError('FIELDS_INVALID', { count: distinct.length, details: [...named, ...more].join('; ') });
}

/** Wrong fields that an answer names. */
const NAMED_MAX = 20;

function mistakesOf(root: z.ZodType, issue: z.core.$ZodIssue, reading: Reading): QuotameshError[] {
  const { sent, part, where = '', nameOf = (field) => field } = reading;
  const { schema, path } = judgeOf(root, issue.path);
  const [first, ...rest] = path;
  const steps = first === undefined ? [] : [typeof first === 'string' && where === '' ? nameOf(first) : first, ...rest];
  const field = where + steps.map(stepText).join('').replace(/^\./, '');
  const value = valueAt(sent, path);
  const make = makerOf(root);
  const params = reading.params ?? {};
  const allowed = allowedOf(schema) ?? 'must be an object';
  if (typeof allowed === 'function') return [allowed(field, value)];
  if (issue.code === 'unrecognized_keys' && schema instanceof z.ZodObject) {
    const below = field === '' || field.endsWith('.') ? field : `${field}.`;
    const known = Object.keys(schema.shape);
    return issue.keys.map((key) => {
      const [name, near] = [below + key.slice(0, SHOWN_MAX), nearText(key, known, part)];
      if (make !== undefined) return make({ field: name, reason: `is not known${near}`, params });
      return new QuotameshError('FIELD_UNKNOWN', { field: name, near });
    });
  }
  if (issue.code === 'custom' && issue.params?.mistake !== undefined) {
    const mistake = issue.params.mistake as (where: string) => QuotameshError;
    return [mistake(field === '' || field.endsWith('.') ? field : `${field}.`)];
  }
  const reason = value === undefined ? `is missing: ${allowed}` : `${allowed}, got ${show(value)}`;
  if (make !== undefined) return [make({ field, reason, params })];
  // An element of a list that is judged alone has no dot behind it.
  return [new QuotameshError('FIELD_INVALID', { field: field.replace(/\.$/, ''), reason })];
}

/** The schema that speaks for what stands at `path`: the innermost, or one above it that speaks for all that is in it. */
function judgeOf(root: z.ZodType, path: readonly PropertyKey[]): { schema: z.ZodType; path: readonly PropertyKey[] } {
  let schema = unwrapped(root);
  for (const [depth, key] of path.entries()) {
    const speaksForAll = typeof allowedOf(schema) === 'function';
    const inner = schema instanceof z.ZodObject ? schema.shape[key as string] : elementOf(schema);
    if (speaksForAll || inner === undefined) return { schema, path: path.slice(0, depth) };
    schema = unwrapped(inner as z.ZodType);
  }
  return { schema, path };
}

function elementOf(schema: z.ZodType): z.ZodType | undefined {
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : undefined;
}

function unwrapped(schema: z.ZodType): z.ZodType {
  if (allowedOf(schema) !== undefined) return schema;
  const { innerType } = schema.def as { readonly innerType?: z.ZodType };
  return innerType === undefined ? schema : unwrapped(innerType);
}

function stepText(step: PropertyKey): string {
  return typeof step === 'number' ? `[${step}]` : `.${String(step)}`;
}

function valueAt(sent: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], sent);
}

function nearText(key: string, known: readonly string[], part: 'body' | 'query'): string {
  const near = nearestNames(key, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  if (part === 'query') return `: no such query parameter${hint}`;
  return hint || `; known are ${known.join(', ')}`;
}
