import type { FastifySchemaValidationError } from 'fastify';
import { NAME_MAX } from '../../admission/request/request-checks.js';
import type { ReportedCost } from '../../api/reported-cost.js';
import { checkCost } from '../../backends/report-cost.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { isMapping } from '../../input/mapping.js';
import { nearestNames } from '../../input/nearest-name.js';
import { SHOWN_MAX, show } from '../../input/shown-value.js';
import { ACQUIRE_BODY_SCHEMA, AMOUNT_MAX, BULK_BODY_SCHEMA, BULK_MAX, HTTP_WAIT_MS_MAX } from './acquire-schema.js';

type Violations = readonly FastifySchemaValidationError[];

/**
 * The catalogue's error for what a schema has refused: it names every wrong field, and shows what was sent. One wrong
 * field is an error of its own code, several are FIELDS_INVALID.
 */
export function invalidBody(violations: Violations, body: unknown, isBatch: boolean): QuotameshError {
  if (!isMapping(body)) {
    return new QuotameshError('BODY_INVALID', { reason: `the body must be a JSON object, got ${show(body)}` });
  }
  return oneOf(violations.flatMap((violation) => errorOf(violation, body, isBatch)));
}

/** Query parameters: none but those of the route, each at most once. */
export function invalidQuery(violations: Violations, query: unknown): QuotameshError {
  return oneOf(
    violations.map((violation) => {
      if (violation.keyword === 'additionalProperties') {
        const field = shown(String(violation.params.additionalProperty));
        return new QuotameshError('FIELD_UNKNOWN', { field, near: ': no such query parameter' });
      }
      const field = violation.instancePath.slice(1);
      const sent = isMapping(query) ? show(query[field]) : '';
      return new QuotameshError('FIELD_INVALID', { field, reason: `must be given once, got ${sent}` });
    }),
  );
}

const FIELDS = Object.keys(ACQUIRE_BODY_SCHEMA.properties);
const FIELDS_OF_BATCH = Object.keys(BULK_BODY_SCHEMA.properties);
const FIELDS_OF_ASK = FIELDS.filter((field) => field !== 'waitMs');

const ALLOWED: Readonly<Record<string, string>> = {
  group: 'must be a string of 1 to 1024 characters',
  direction: 'must be "publish" or "dispatch"',
  retry: 'must be true or false',
  tenant: `must be a string of at most ${NAME_MAX} characters`,
  namespace: `must be a string of at most ${NAME_MAX} characters`,
  headers: 'must be an object of at most 100 strings',
  topic: `must be a string of at most ${NAME_MAX} characters`,
  client: `must be a string of at most ${NAME_MAX} characters`,
  atMost: 'must be true or false',
  priority: 'must be "default" or "immediate"',
  reserve: 'must be true or false',
  waitMs: `must be a number of milliseconds from 0 to ${HTTP_WAIT_MS_MAX}`,
  asks: `must be an array of 1 to ${BULK_MAX} asks`,
};

function oneOf(errors: readonly QuotameshError[]): QuotameshError {
  const byMessage = new Map(errors.map((error) => [error.message, error]));
  const distinct = [...byMessage.values()];
  if (distinct.length === 1) return distinct[0]!;
  const named = distinct.slice(0, NAMED_MAX).map(({ message }) => message);
  const more = distinct.length > NAMED_MAX ? [`and ${distinct.length - NAMED_MAX} more`] : [];
  return new QuotameshError('FIELDS_INVALID', { count: distinct.length, details: [...named, ...more].join('; ') });
}

function errorOf(violation: FastifySchemaValidationError, body: object, isBatch: boolean): QuotameshError[] {
  const { instancePath, keyword, params } = violation;
  // "messages or bytes" is one rule, told once: by anyOf, unless a misspelled field explains it.
  if (keyword === 'required' && /\/anyOf\//.test(violation.schemaPath)) return [];
  const path = instancePath.split('/').slice(1);
  const where = isBatch && path.length > 1 ? `asks[${path[1]}].` : '';
  const ask = valueAt(body, where === '' ? [] : path.slice(0, 2));
  const field = path[where === '' ? 0 : 2];
  if (field === 'cost') return [costError(where, (ask as Readonly<Record<string, unknown>>).cost)];
  const fields = isBatch ? (where === '' ? FIELDS_OF_BATCH : FIELDS_OF_ASK) : FIELDS;
  if (keyword === 'anyOf' && violation.schemaPath.includes('/allOf/')) {
    return [missingField(where, 'group')];
  }
  if (keyword === 'anyOf')
    return hasUnknown(ask, fields) ? [] : [amountError(where, 'are both absent: name at least one')];
  if (keyword === 'additionalProperties') return [unexpectedField(where, String(params.additionalProperty), fields)];
  if (keyword === 'required') return [missingField(where, String(params.missingProperty))];
  if (field === undefined) {
    return [
      new QuotameshError('FIELD_INVALID', { field: where.slice(0, -1), reason: `must be an object, got ${show(ask)}` }),
    ];
  }
  return [wrongValue(where, field, isMapping(ask) ? ask[field] : undefined)];
}

/** The library's own words, so that an estimate and what is reported later are refused alike. */
function costError(where: string, cost: unknown): QuotameshError {
  try {
    checkCost(cost as ReportedCost, `${where}cost: `);
  } catch (error) {
    if (error instanceof QuotameshError) return error;
  }
  return new QuotameshError('COST_INVALID', { field: `${where}cost`, reason: 'is not a cost' });
}

function wrongValue(where: string, field: string, sent: unknown): QuotameshError {
  if (field !== 'messages' && field !== 'bytes') {
    return new QuotameshError('FIELD_INVALID', {
      field: where + field,
      reason: `${ALLOWED[field]}, got ${show(sent)}`,
    });
  }
  const reason =
    typeof sent === 'number' && sent >= 0 && sent <= AMOUNT_MAX
      ? `must be a whole number, got ${sent}`
      : `must be a finite number from 0 to ${AMOUNT_MAX} (2^53 − 1), got ${show(sent)}`;
  return new QuotameshError('AMOUNT_INVALID', { field: where + field, reason });
}

function valueAt(body: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);
}

function hasUnknown(ask: unknown, fields: readonly string[]): boolean {
  return isMapping(ask) && Object.keys(ask).some((field) => !fields.includes(field));
}

function unexpectedField(where: string, field: string, known: readonly string[]): QuotameshError {
  const near = nearestNames(field, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `; known are ${known.join(', ')}`;
  return new QuotameshError('FIELD_UNKNOWN', { field: where + shown(field), near: hint });
}

function missingField(where: string, field: string): QuotameshError {
  const reason =
    field === 'group'
      ? 'is missing: name the group, or tenant, namespace, topic, client or headers'
      : `is missing: ${ALLOWED[field]}`;
  return new QuotameshError('FIELD_INVALID', { field: where + field, reason });
}

function amountError(where: string, reason: string): QuotameshError {
  return new QuotameshError('AMOUNT_INVALID', { field: `${where}messages and ${where}bytes`, reason });
}

/** Wrong fields that an answer names. */
const NAMED_MAX = 20;

function shown(text: string): string {
  return text.slice(0, SHOWN_MAX);
}
