import type { Clock } from '../../../base/ports/clock.js';
import { BYTES, MESSAGES } from '../../../core/base/vocabulary.js';
import type { JointLevels, JointRequest } from '../../../core/limiter/joint-levels.js';
import { ABOVE_WINDOW, type Limiter, REFUSED } from '../../../core/limiter/limiter.js';
import type { TokenRequest } from '../../../core/limiter/token-request.js';
import type { ServingLoop } from '../../../core/machine/coordinator-view.js';
import type { Amounts } from '../../api/decision.js';

export interface AvailableParts {
  readonly clock: Clock;
  readonly joint: JointLevels;
  readonly loop: ServingLoop;
}

/**
 * Cuts a request down to the whole messages that there are tokens for now. If there are none for even one, the request
 * stays whole.
 */
export function cutToPart({ clock, joint, loop }: AvailableParts, request: JointRequest): void {
  const nowMs = clock();
  request.whole = { messages: request.messages, bytes: request.bytes };
  for (const lane of [request.lane, ...request.further]) loop.serve(lane);
  const part = partThere(
    request,
    (dimension) => joint.available(request, dimension, nowMs),
    (least) => joint.containsTokens({ ...request, ...least }, nowMs),
  );
  if (part === null) return;
  request.messages = part.messages;
  request.bytes = part.bytes;
}

/** The part of a request that there are tokens for; null = none. */
export function partThere(
  request: TokenRequest,
  available: (dimension: number) => number,
  contains: (part: Required<Amounts>) => boolean,
): Required<Amounts> | null {
  const part = wholePart(request, available(MESSAGES) + SLACK, available(BYTES) + SLACK);
  if (part.messages > 0 || part.bytes > 0) return part;
  // A message larger than a whole bucket or window is granted once that is full: then the part is this message alone.
  const least = leastOf(request);
  return contains(least) ? least : null;
}

/** The least that a part may be: one message of the average size, or one byte if only bytes are requested. */
export function leastOf({ messages, bytes }: Required<Amounts>): Required<Amounts> {
  const size = messages === 0 ? 1 : Math.ceil(bytes / messages);
  return { messages: Math.min(1, messages), bytes: bytes === 0 ? 0 : size };
}

/**
 * Whole messages that a part may have: all that are there, but at least one; one, too, where messages have no limit.
 */
export function wholeMessages(there: number): number {
  return Number.isFinite(there) ? Math.max(1, Math.floor(there + SLACK)) : 1;
}

/**
 * Explains the answer to a request for which a part is enough. "Above the window" speaks of the whole request, and a
 * part would fit: so it means that there are no tokens now.
 */
export function ofPart({ buckets }: Limiter, { lane, messages, bytes }: TokenRequest, answer: number): number {
  return answer === ABOVE_WINDOW ? REFUSED + buckets.scarcest(lane, messages, bytes) : answer;
}

/** A millionth of a unit is a rounding error, as in buckets.ts. */
const SLACK = 1e-6;

/** The part of a request that fits into the tokens that are there: whole messages of its average size. */
export function wholePart(
  { messages, bytes }: TokenRequest,
  thereMessages: number,
  thereBytes: number,
): Required<Amounts> {
  if (messages === 0) return { messages, bytes: Math.min(bytes, Math.floor(thereBytes)) };
  const size = bytes / messages;
  const fitting = size === 0 ? messages : Math.floor(thereBytes / size);
  const whole = Math.min(messages, Math.floor(thereMessages), fitting);
  return { messages: whole, bytes: whole === messages ? bytes : Math.floor(whole * size) };
}
