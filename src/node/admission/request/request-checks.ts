import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { nearestNames } from '../../../base/input/nearest-name.js';
import type { Amounts, Origin } from '../../api/decision.js';

/** Longest name of a topic or client: kept while in use. */
export const NAME_MAX = 256;

/** Rejects amounts that are not whole, out of range, or nothing. */
export function rejectAmounts(amounts: Amounts, max: { messages: number; bytes: number; group: string }): void {
  rejectUnlessSomething(amounts);
  const { messages = 0, bytes = 0 } = amounts;
  if (messages > max.messages) throw aboveMax('messages', messages, max.messages, max.group);
  if (bytes > max.bytes) throw aboveMax('bytes', bytes, max.bytes, max.group);
}

/** Requires whole amounts, one unit at least. A misspelled field would make work free, without a word. */
export function rejectUnlessSomething(amounts: Amounts): void {
  rejectUnlessObject('amounts', amounts);
  const { messages = 0, bytes = 0 } = amounts;
  rejectUnlessAmounts(messages, bytes);
  if (messages === 0 && bytes === 0) throw nothingAsked(amounts);
}

export function rejectUnlessObject(field: string, amounts: unknown): void {
  if (typeof amounts === 'object' && amounts !== null && !Array.isArray(amounts)) return;
  const reason = `must be an object like { messages: 1, bytes: 512 }, got ${showSent(amounts)}`;
  throw new QuotameshError('AMOUNT_INVALID', { field, reason });
}

/** Requires options to be an object; names in it must be texts. */
export function rejectUnlessOptions(options: unknown): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null || Array.isArray(options)) throw notOptions(options);
  const { topic, client } = options as Origin;
  if (topic !== undefined && !isName(topic)) throw notAName('topic');
  if (client !== undefined && !isName(client)) throw notAName('client');
}

// Apart from the checks, which are compiled into every decision.
function notOptions(options: unknown): QuotameshError {
  const reason = `must be an object like { waitMs: 2000 }, got ${showSent(options)}`;
  return new QuotameshError('FIELD_INVALID', { field: 'options', reason });
}

export function rejectUnlessAmounts(messages: unknown, bytes: unknown): void {
  rejectUnlessAmount('messages', messages);
  rejectUnlessAmount('bytes', bytes);
}

export function rejectUnlessAmount(field: string, amount: unknown): void {
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
    throw new QuotameshError('AMOUNT_INVALID', {
      field,
      reason: `must be a finite number ≥ 0, got ${showSent(amount)}`,
    });
  }
  if (amount > Number.MAX_SAFE_INTEGER) {
    throw new QuotameshError('AMOUNT_INVALID', { field, reason: `must be at most 2^53 − 1, got ${amount}` });
  }
  if (!Number.isInteger(amount)) {
    throw new QuotameshError('AMOUNT_INVALID', { field, reason: `must be a whole number, got ${amount}` });
  }
}

/** Bounds work already done, beyond maxRequest: sums stay exact (`keepExact` of limiter.ts). */
export function rejectAboveConsume({ messages = 0, bytes = 0 }: Amounts): void {
  for (const [field, amount] of Object.entries({ messages, bytes })) {
    if (amount <= CONSUMED_MAX) continue;
    const reason = `must be at most 2^40 of what is charged at once, got ${amount}`;
    throw new QuotameshError('AMOUNT_INVALID', { field, reason });
  }
}

const CONSUMED_MAX = 2 ** 40;

export function rejectUnlessName(field: string, name: unknown): void {
  if (!isName(name)) throw notAName(field);
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= NAME_MAX;
}

function notAName(field: string): QuotameshError {
  const reason = `must be a string of at most ${NAME_MAX} characters`;
  return new QuotameshError('FIELD_INVALID', { field, reason });
}

/** Makes the error for an undefined group; it names similar ones. */
export function groupUnknown(group: unknown, names: Iterable<string>): QuotameshError {
  if (typeof group !== 'string') {
    return new QuotameshError('FIELD_INVALID', { field: 'group', reason: `must be a string, got ${typeof group}` });
  }
  const near = nearestNames(group, names);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  return new QuotameshError('GROUP_UNKNOWN', { group: group.slice(0, NAME_MAX), near: hint });
}

/** Returns 0 = publish, the default, or 1 = dispatch; anything else is an error. */
export function directionOf(origin: Origin | undefined): number {
  const direction: unknown = origin?.direction;
  if (direction === undefined || direction === 'publish') return 0;
  if (direction === 'dispatch') return 1;
  const reason = `must be "publish" or "dispatch", got ${showSent(direction)}`;
  throw new QuotameshError('FIELD_INVALID', { field: 'direction', reason });
}

export function rejectUnlessBetween(field: string, value: unknown, min: number, max: number): void {
  if (typeof value === 'number' && value >= min && value <= max) return;
  throw new QuotameshError('FIELD_INVALID', { field, reason: `must be a number from ${min} to ${max}` });
}

export function rejectUnlessSignal(signal: unknown): void {
  // Not `instanceof`: signals of another realm or library are as good.
  if (signal === undefined || typeof (signal as AbortSignal | null)?.throwIfAborted === 'function') return;
  throw new QuotameshError('FIELD_INVALID', { field: 'signal', reason: 'must be an AbortSignal' });
}

/** Makes the error for `all` messages where messages are unlimited. */
export function noEndOf(whose: string): QuotameshError {
  const reason = `must be a number: ${whose} has no limit in messages here, so there is no end to all`;
  return new QuotameshError('AMOUNT_INVALID', { field: 'messages', reason });
}

function aboveMax(field: string, amount: number, max: number, group: string): QuotameshError {
  return new QuotameshError('AMOUNT_ABOVE_MAX_REQUEST', { field, amount, max, group });
}

function nothingAsked(amounts: Amounts): QuotameshError {
  const named = Object.keys(amounts).filter((field) => field === 'messages' || field === 'bytes');
  const field = named.length > 0 ? named.join(' and ') : 'messages and bytes';
  const reason =
    named.length > 0 ? 'must not be 0 alone: ask for at least one unit' : 'are both absent: name at least one';
  return new QuotameshError('AMOUNT_INVALID', { field, reason });
}
