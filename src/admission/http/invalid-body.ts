import type { FastifySchemaValidationError } from 'fastify';
import { nearestNames } from '../../config/nearest-name.js';
import { type ErrorFacts, QuotameshError } from '../../errors.js';
import { ACQUIRE_BODY_SCHEMA, AMOUNT_MAX, RESERVED_FIELDS } from './acquire-schema.js';

/** The catalogue's error for what the schema of an acquire has refused: it names the field, and shows what was sent. */
export function invalidBody(violation: FastifySchemaValidationError, body: unknown): QuotameshError {
  // First of all: a misspelled "messages" would otherwise be reported as an absent one.
  const unexpected = Object.keys(isObject(body) ? body : {}).find((name) => !FIELDS.includes(name));
  if (unexpected !== undefined) return unexpectedField(unexpected);
  const [, field = ''] = violation.instancePath.split('/');
  if (violation.keyword === 'required') return missingField(String(violation.params.missingProperty));
  if (!isObject(body)) {
    return new QuotameshError('BODY_INVALID', { reason: `the body must be a JSON object, got ${show(body)}` });
  }
  const sent = show(body[field]);
  if (field === 'messages' || field === 'bytes') {
    return new QuotameshError('AMOUNT_INVALID', {
      field,
      reason: `must be a finite number from 0 to ${AMOUNT_MAX} (2^53 − 1), got ${sent}`,
    });
  }
  return new QuotameshError('FIELD_INVALID', { field, reason: `${ALLOWED[field] ?? violation.message}, got ${sent}` });
}

const FIELDS = Object.keys(ACQUIRE_BODY_SCHEMA.properties);

const ALLOWED: Readonly<Record<string, string>> = {
  group: 'must be a string of 1 to 1024 characters',
  direction: 'must be "publish" or "dispatch"',
  retry: 'must be true or false',
};

function isObject(body: unknown): body is Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

function unexpectedField(field: string): QuotameshError {
  const shown = field.slice(0, SHOWN_MAX);
  if (RESERVED_FIELDS.includes(field)) return new QuotameshError('FIELD_RESERVED', { field });
  const near = nearestNames(field, FIELDS);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `; known are ${FIELDS.join(', ')}`;
  return new QuotameshError('FIELD_UNKNOWN', { field: shown, near: hint });
}

function missingField(field: string): QuotameshError {
  if (field === 'group') return new QuotameshError('FIELD_INVALID', { field, reason: 'is missing: name the group' });
  const facts: ErrorFacts = { field: 'messages and bytes', reason: 'are both absent: name at least one' };
  return new QuotameshError('AMOUNT_INVALID', facts);
}

/** Characters of a client's input that an answer repeats. */
const SHOWN_MAX = 80;

function show(sent: unknown): string {
  if (sent === null) return 'null';
  if (Array.isArray(sent)) return 'an array';
  if (typeof sent === 'object') return 'an object';
  if (typeof sent === 'string') return JSON.stringify(sent.slice(0, SHOWN_MAX));
  return String(sent);
}
