import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { nearestNames } from '../../../base/input/nearest-name.js';
import type { Amounts } from '../../api/decision.js';
import { rejectUnlessAmount } from '../request/request-checks.js';

/**
 * Reads a refund. A misspelled field would end the batch as used, so unknown ones are mistakes. Throws FIELD_INVALID,
 * FIELD_UNKNOWN, AMOUNT_INVALID.
 */
export function readRefund(left: unknown): { readonly unused: Required<Amounts>; readonly dropped: Required<Amounts> } {
  const { dropped = {}, ...unused } = knownFields(left, 'refund', '', ['messages', 'bytes', 'dropped']);
  return {
    unused: amountsOf(unused, ''),
    dropped: amountsOf(knownFields(dropped, 'dropped', 'dropped.', ['messages', 'bytes']), 'dropped.'),
  };
}

function knownFields(given: unknown, name: string, prefix: string, known: readonly string[]): Mapping {
  if (!isMapping(given)) {
    const reason = `must be an object like { messages: 20 }, got ${showSent(given)}`;
    throw new QuotameshError('FIELD_INVALID', { field: name, reason });
  }
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return given;
  const near = nearestNames(unknown, known);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : `; known are ${known.join(', ')}`;
  throw new QuotameshError('FIELD_UNKNOWN', { field: prefix + unknown.slice(0, 80), near: hint });
}

function amountsOf({ messages = 0, bytes = 0 }: Mapping, prefix: string): Required<Amounts> {
  rejectUnlessAmount(`${prefix}messages`, messages);
  rejectUnlessAmount(`${prefix}bytes`, bytes);
  return { messages: messages as number, bytes: bytes as number };
}
