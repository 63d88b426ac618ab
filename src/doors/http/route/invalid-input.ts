import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { SHOWN_MAX, showSent } from '../../../base/input/input-mistakes.js';
import { isMapping } from '../../../base/input/mapping.js';
import { hasMisspelled, nearestNames } from '../../../base/input/nearest-name.js';
import type { Rule } from './body.js';
import { WORDING } from './wording.js';

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

  /**
   * The catalogue's error: it names every wrong field, and shows what was sent. One wrong field is an error of its own
   * code, several are FIELDS_INVALID.
   */
  told(reading: ReadInput): QuotameshError {
    const { sent, where = '' } = reading;
    if (!isMapping(sent) && where === '') {
      return new QuotameshError('BODY_INVALID', { reason: `the body must be a JSON object, got ${showSent(sent)}` });
    }
    const errors = this.issues.flatMap((issue) => errorsOf(issue, this, reading));
    const distinct = [...new Map(errors.map((error) => [error.message, error])).values()];
    if (distinct.length === 1) return distinct[0];
    const named = distinct.slice(0, NAMED_MAX).map(({ message }) => message);
    const more = distinct.length > NAMED_MAX ? [`and ${distinct.length - NAMED_MAX} more`] : [];
    return new QuotameshError('FIELDS_INVALID', { count: distinct.length, details: [...named, ...more].join('; ') });
  }
}

/** What was read with a schema, and how its mistakes are to be told. */
export interface ReadInput {
  readonly sent: unknown;
  readonly part: 'body' | 'query';
  /** Parameters of the path. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Stands before the names of fields: 'refunds[3].' for an item of a list, or '' for the whole. */
  readonly where?: string;
}

/** Reads an item of a list that is judged by itself; throws what is wrong with it. */
export function readPart<Schema extends z.ZodType>(schema: Schema, sent: unknown, where: string): z.output<Schema> {
  const read = schema.safeParse(sent);
  if (read.success) return read.data;
  throw new InvalidInput(schema, read.error.issues).told({ sent, part: 'body', where });
}

/** Wrong fields that an answer names. */
const NAMED_MAX = 20;

/** One error, or one for each unknown key; none where a misspelled key is told that explains why a field is missing. */
function errorsOf(
  issue: z.core.$ZodIssue,
  { schema: root, issues }: InvalidInput,
  reading: ReadInput,
): QuotameshError[] {
  const { schema, path } = judgeOf(root, issue.path);
  const value = valueAt(reading.sent, path);
  if (value === undefined && isMisspelled(path, issues)) return [];
  const field = fieldText(path, reading);
  const { allowed = 'must be an object' } = WORDING.get(schema) ?? {};
  if (typeof allowed === 'function') return [allowed(field, value)];
  if (issue.code === 'unrecognized_keys' && schema instanceof z.ZodObject) {
    const known = Object.keys(schema.shape);
    return issue.keys.map((key) => unknownKey(root, key, { ...reading, where: prefixOf(field) }, known));
  }
  if (issue.code === 'custom' && issue.params?.mistake !== undefined) {
    const mistakeAt = issue.params.mistake as Rule['mistake'];
    return [mistakeAt(prefixOf(field))];
  }
  const reason = value === undefined ? `is missing: ${allowed}` : `${allowed}, got ${showSent(value)}`;
  const { errorOf } = WORDING.get(root) ?? {};
  if (errorOf !== undefined) return [errorOf({ field, reason, params: reading.params ?? {} })];
  // 'refunds[3].' is the item itself here, and not something in it.
  return [new QuotameshError('FIELD_INVALID', { field: field.replace(/\.$/, ''), reason })];
}

/**
 * The schema whose wording counts for what stands at `path`: the innermost, or one above it that has an error of its
 * own.
 */
function judgeOf(root: z.ZodType, path: readonly PropertyKey[]): { schema: z.ZodType; path: readonly PropertyKey[] } {
  let schema = unwrapped(root);
  for (const [depth, key] of path.entries()) {
    const hasOwnError = typeof WORDING.get(schema)?.allowed === 'function';
    const inner = schema instanceof z.ZodObject ? schema.shape[key as string] : elementOf(schema);
    if (hasOwnError || inner === undefined) return { schema, path: path.slice(0, depth) };
    schema = unwrapped(inner as z.ZodType);
  }
  return { schema, path };
}

function elementOf(schema: z.ZodType): z.ZodType | undefined {
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : undefined;
}

/** Without what only says that a field may be absent, unless that has a wording. */
function unwrapped(schema: z.ZodType): z.ZodType {
  if (WORDING.get(schema)?.allowed !== undefined) return schema;
  const { innerType } = schema.def as { readonly innerType?: z.ZodType };
  return innerType === undefined ? schema : unwrapped(innerType);
}

/** Whether the missing field at `path` was sent under a name that is nearly its own. */
function isMisspelled(path: readonly PropertyKey[], issues: readonly z.core.$ZodIssue[]): boolean {
  const [field, above] = [String(path.at(-1)), path.slice(0, -1)];
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' && String(issue.path) === String(above) ? issue.keys : [],
  );
  return hasMisspelled(unknown, [field]);
}

function unknownKey(root: z.ZodType, key: string, reading: ReadInput, known: readonly string[]): QuotameshError {
  const { where = '', params = {} } = reading;
  const field = where + key.slice(0, SHOWN_MAX);
  const near = nearText(key, known, reading.part);
  const { errorOf } = WORDING.get(root) ?? {};
  if (errorOf !== undefined) return errorOf({ field, reason: `is not known${near}`, params });
  return new QuotameshError('FIELD_UNKNOWN', { field, near });
}

function nearText(key: string, known: readonly string[], part: ReadInput['part']): string {
  const near = nearestNames(key, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  if (part === 'query') return `: no such query parameter${hint}`;
  return hint || `; known are ${known.join(', ')}`;
}

function fieldText(path: readonly PropertyKey[], { where = '' }: ReadInput): string {
  return where + path.map(stepText).join('').replace(/^\./, '');
}

function stepText(step: PropertyKey): string {
  return typeof step === 'number' ? `[${step}]` : `.${String(step)}`;
}

/** What stands before the names of fields that are in `field`. */
function prefixOf(field: string): string {
  return field === '' || field.endsWith('.') ? field : `${field}.`;
}

function valueAt(sent: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], sent);
}
