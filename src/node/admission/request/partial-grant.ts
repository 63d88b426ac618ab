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

/** Cuts a request down to whole messages that have tokens. It stays whole if there are none. */
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

/** Returns the part that there are tokens for; null = none. */
export function partThere(
  request: TokenRequest,
  available: (dimension: number) => number,
  contains: (part: Required<Amounts>) => boolean,
): Required<Amounts> | null {
  const part = wholePart(request, available(MESSAGES) + SLACK, available(BYTES) + SLACK);
  if (part.messages > 0 || part.bytes > 0) return part;
  // A message larger than a bucket or window is granted once that is full: the part is this message.
  const least = leastOf(request);
  return contains(least) ? least : null;
}

/** Returns the least part: one message of average size, or one byte if only bytes are requested. */
export function leastOf({ messages, bytes }: Required<Amounts>): Required<Amounts> {
  const size = messages === 0 ? 1 : Math.ceil(bytes / messages);
  return { messages: Math.min(1, messages), bytes: bytes === 0 ? 0 : size };
}

/** Returns the whole messages of a part: all there are, at least one; one where messages are unlimited. */
export function wholeMessages(there: number): number {
  return Number.isFinite(there) ? Math.max(1, Math.floor(there + SLACK)) : 1;
}

/** Explains the answer to a divisible request: "above the window" then means no tokens now. */
export function ofPart({ buckets }: Limiter, { lane, messages, bytes }: TokenRequest, answer: number): number {
  return answer === ABOVE_WINDOW ? REFUSED + buckets.scarcest(lane, messages, bytes) : answer;
}

/** Rounding error of a millionth of a unit, as in buckets.ts. */
const SLACK = 1e-6;

/** Returns the part that fits: whole messages of the request's average size. */
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
