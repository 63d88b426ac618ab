import { z } from 'zod';
import { unwrapped } from '../../../base/input/schema-parts.js';
import { BULK_MAX } from '../route/fields.js';
import { ACQUIRE_BODY, type AcquireBody } from './acquire-body.js';

/**
 * Recognizes a body that ACQUIRE_BODY passes unchanged (test/property/plain-request.test.ts); false decides nothing.
 * *Why:* zod takes four times as long as all else of a bulk (docs/decisions/0052).
 */
export function isPlainRequest(wanted: unknown): wanted is AcquireBody {
  if (typeof wanted !== 'object' || wanted === null) return false;
  let named = 0;
  for (const key in wanted) {
    const field = PLAIN[key];
    if (field === undefined || !field.fits((wanted as Readonly<Record<string, unknown>>)[key])) return false;
    named |= field.names;
  }
  return named === (SCOPE | AMOUNT);
}

/** Recognizes a body that BULK_BODY passes unchanged. */
export function isPlainBulk(body: unknown): body is { readonly requests: readonly AcquireBody[] } {
  if (typeof body !== 'object' || body === null) return false;
  for (const key in body) if (key !== 'requests') return false;
  const { requests } = body as { readonly requests?: unknown };
  return (
    Array.isArray(requests) && requests.length >= 1 && requests.length <= BULK_MAX && requests.every(isPlainRequest)
  );
}

interface PlainField {
  readonly fits: (value: unknown) => boolean;
  /** Bits of what the field names; a request names both. */
  readonly names: number;
}

const SCOPE = 1;
const AMOUNT = 2;

/** Fields that say no more than `tryAcquire` takes; bounds as in the schema. */
const PLAIN: Readonly<Record<string, PlainField | undefined>> = Object.assign(
  Object.create(null),
  ...(['group', 'tenant', 'namespace', 'topic', 'client'] as const).map((name) => plain(name, SCOPE)),
  ...(['messages', 'bytes'] as const).map((name) => plain(name, AMOUNT)),
  ...(['direction', 'retry'] as const).map((name) => plain(name, 0)),
);

function plain(name: keyof typeof ACQUIRE_BODY.shape, names: number): Readonly<Record<string, PlainField>> {
  return { [name]: { fits: fitsOf(unwrapped(ACQUIRE_BODY.shape[name])), names } };
}

function fitsOf(schema: z.ZodType): PlainField['fits'] {
  if (schema instanceof z.ZodString) {
    const [least, most] = [schema.minLength ?? 0, schema.maxLength ?? Infinity];
    return (value) => typeof value === 'string' && value.length >= least && value.length <= most;
  }
  if (schema instanceof z.ZodNumber && schema.isInt) {
    const [least, most] = [schema.minValue ?? -Infinity, schema.maxValue ?? Infinity];
    return (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
  }
  if (schema instanceof z.ZodEnum) {
    const options: readonly unknown[] = schema.options;
    return (value) => options.includes(value);
  }
  return schema instanceof z.ZodBoolean ? (value) => typeof value === 'boolean' : () => false;
}
