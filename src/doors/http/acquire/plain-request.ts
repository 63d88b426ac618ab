import { NAME_MAX } from '../../../node/admission/request/request-checks.js';
import { AMOUNT_MAX, BULK_MAX, GROUP_LENGTH_MAX } from '../route/fields.js';
import type { AcquireBody } from './acquire-body.js';

/**
 * Recognizes a body that ACQUIRE_BODY passes unchanged (test/property/plain-request.test.ts); false decides nothing.
 * *Why:* zod takes four times as long as all else of a bulk (docs/decisions/0052).
 */
export function isPlainRequest(wanted: unknown): wanted is AcquireBody {
  if (typeof wanted !== 'object' || wanted === null) return false;
  let namesScope = false;
  let namesAmount = false;
  for (const key in wanted) {
    const value: unknown = (wanted as Readonly<Record<string, unknown>>)[key];
    const fits = FITS[key];
    if (fits === undefined || !fits(value)) return false;
    if (fits === isAmount) namesAmount = true;
    else if (fits === isName || fits === isGroup) namesScope = true;
  }
  return namesScope && namesAmount;
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

function isAmount(amount: unknown): boolean {
  return typeof amount === 'number' && Number.isInteger(amount) && amount >= 0 && amount <= AMOUNT_MAX;
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= NAME_MAX;
}

function isGroup(name: unknown): boolean {
  return typeof name === 'string' && name.length > 0 && name.length <= GROUP_LENGTH_MAX;
}

const FITS: Readonly<Record<string, ((value: unknown) => boolean) | undefined>> = Object.assign(Object.create(null), {
  group: isGroup,
  tenant: isName,
  namespace: isName,
  topic: isName,
  client: isName,
  messages: isAmount,
  bytes: isAmount,
  direction: (value: unknown) => value === 'publish' || value === 'dispatch',
  retry: (value: unknown) => typeof value === 'boolean',
});
