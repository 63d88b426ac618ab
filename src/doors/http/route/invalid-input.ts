import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { SHOWN_MAX, showSent, valueAlong } from '../../../base/input/input-mistakes.js';
import { isMapping } from '../../../base/input/mapping.js';
import { hasMisspelled, nearestNames } from '../../../base/input/nearest-name.js';
import { layersOf, schemasAlong } from '../../../base/input/schema-parts.js';
import type { Rule } from './body.js';
import { WORDING } from './wording.js';

/** Carries a schema's refusal through fastify to the error handler. */
export class InvalidInput extends Error {
  readonly schema: z.ZodType;
  readonly issues: readonly z.core.$ZodIssue[];
  readonly validationContext?: 'body' | 'querystring';

  constructor(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]) {
    super('the input is not as its schema says');
    this.schema = schema;
    this.issues = issues;
  }

  /** Makes the catalogue's error: names each wrong field with what was sent; several are FIELDS_INVALID. */
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

/** Input that was read with a schema; the wording of its mistakes. */
interface ReadInput {
  readonly sent: unknown;
  readonly part: 'body' | 'query';
  readonly params?: Readonly<Record<string, unknown>>;
  /** Prefix of field names: 'refunds[3].' for an item of a list, '' for the whole. */
  readonly where?: string;
}

/** Reads one item of a list by itself; throws its mistake. */
export function readPart<Schema extends z.ZodType>(schema: Schema, sent: unknown, where: string): z.output<Schema> {
  const read = schema.safeParse(sent);
  if (read.success) return read.data;
  throw new InvalidInput(schema, read.error.issues).told({ sent, part: 'body', where });
}

/** Most wrong fields that an answer names. */
const NAMED_MAX = 20;

/** Returns an error, or one per unknown key; none where a reported misspelling explains a missing field. */
function errorsOf(
  issue: z.core.$ZodIssue,
  { schema: root, issues }: InvalidInput,
  reading: ReadInput,
): QuotameshError[] {
  const { schema, path } = judgeOf(root, issue.path);
  const value = valueAlong(reading.sent, path);
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
  // Here 'refunds[3].' is the item itself.
  return [new QuotameshError('FIELD_INVALID', { field: field.replace(/\.$/, ''), reason })];
}

/** Finds the schema whose wording counts at `path`: the innermost, or one above with its own error. */
function judgeOf(root: z.ZodType, path: readonly PropertyKey[]): { schema: z.ZodType; path: readonly PropertyKey[] } {
  const along = schemasAlong(root, path).map((schema) => {
    const layers = layersOf(schema);
    return layers.find((layer) => WORDING.get(layer)?.allowed !== undefined) ?? layers[layers.length - 1];
  });
  const own = along.findIndex((schema) => {
    return schema instanceof z.ZodRecord || typeof WORDING.get(schema)?.allowed === 'function';
  });
  const depth = own === -1 ? along.length - 1 : own;
  return { schema: along[depth], path: path.slice(0, depth) };
}

/** Tests if the missing field at `path` was sent under another name. */
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
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`));
  return where + steps.join('').replace(/^\./, '');
}

function prefixOf(field: string): string {
  return field === '' || field.endsWith('.') ? field : `${field}.`;
}
