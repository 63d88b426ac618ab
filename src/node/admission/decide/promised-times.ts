import { RETRY_AFTER_MS_MAX } from '../../api/decision.js';

/** Keeps what refusals of a lane were told in one dimension. */
interface Promised {
  /** Units that are promised and not due yet: the next refused client is told when they have come in. */
  units: number;
  /** Units per second that are promised. */
  perSecond: number;
  lookedMs: number;
  /** Units admitted until then, since creation. */
  admitted: number;
  /** Fading sums: seconds, units admitted, and units promised that were due. */
  seconds: number;
  taken: number;
  due: number;
}

export interface RefusedNow {
  readonly slot: number;
  readonly amount: number;
  /** Until the tokens for it are there, if nobody else takes any. */
  readonly waitMs: number;
  /** Units per second of which this node's clients may be promised. */
  readonly perSecond: number;
  /** Units that this node has admitted in the slot, since creation. */
  readonly admitted: number;
}

/**
 * Tells each refused client a later time to come back:
 *
 *     told = max(wait, units / promised);   units = told · promised + amount;   promised = MARGIN · (rate − newcomers)
 *
 * Units fall by `promised` per second. `newcomers` is the fading rate of units that were admitted without a promise.
 *
 * *Worked:* 10/s, newcomers take 5/s, and 30 clients are refused at once: the first is told 100 ms, and each further
 * one 333 ms more, the last 9.8 s.
 *
 * *Why:* told the time until one token is there, all 30 came back at once, and 29 were refused again. No token is kept
 * for a promise, so newcomers take some that were promised. A promise that is not taken up costs nothing. No time is
 * earlier than its tokens, or later than RETRY_AFTER_MS_MAX.
 */
export class PromisedTimes {
  readonly #slots = new Map<number, Promised>();

  /** Milliseconds until this client may come back. */
  waitMs({ slot, amount, waitMs, perSecond, admitted }: RefusedNow, nowMs: number): number {
    const isSlow = perSecond > 0 && perSecond < FAST_PER_SECOND;
    if (!isSlow || !(waitMs < RETRY_AFTER_MS_MAX)) return waitMs;
    const promised = this.#slots.get(slot) ?? this.#begin(slot, admitted, nowMs);
    const readSeconds = Math.max(FADING_SECONDS, FADING_UNITS / perSecond);
    pass(promised, admitted, nowMs, readSeconds);
    const newcomers = Math.max(0, promised.taken - promised.due) / Math.max(readSeconds / 2, promised.seconds);
    promised.perSecond = Math.max(LEAST_PART * perSecond, MARGIN * (perSecond - newcomers));
    const toldMs = Math.min(Math.max(waitMs, (1000 * promised.units) / promised.perSecond), RETRY_AFTER_MS_MAX);
    const units = (promised.perSecond * toldMs) / 1000 + amount;
    promised.units = Math.min(Math.max(amount, UNITS_MOST), units);
    return toldMs;
  }

  forget(slot: number): void {
    this.#slots.delete(slot);
  }

  #begin(slot: number, admitted: number, nowMs: number): Promised {
    const promised = { units: 0, perSecond: 0, lookedMs: nowMs, admitted, seconds: 0, taken: 0, due: 0 };
    this.#slots.set(slot, promised);
    return promised;
  }
}

function pass(promised: Promised, admitted: number, nowMs: number, fadingSeconds: number): void {
  const ms = nowMs - promised.lookedMs;
  if (ms <= 0) return;
  const rest = Math.exp(-ms / 1000 / fadingSeconds);
  const due = Math.min(promised.units, (promised.perSecond * ms) / 1000);
  promised.units -= due;
  promised.seconds = promised.seconds * rest + ms / 1000;
  promised.due = promised.due * rest + due;
  // The limiter begins its sums anew now and then.
  promised.taken = promised.taken * rest + Math.max(0, admitted - promised.admitted);
  promised.admitted = admitted;
  promised.lookedMs = nowMs;
}

/**
 * Units per second from which on nothing is promised. More spreads herds of faster quotas too, and leaves more of them
 * unused when the herd is over: at 100/s a node, the demonstration used 96 % of what it could.
 */
const FAST_PER_SECOND = 30;
/** A larger one follows newcomers later, and is misled less by the noise of a few. */
const FADING_SECONDS = 10;
/** Lengthens the fading of slow quotas: one admission of 5/min says nothing of a rate. */
const FADING_UNITS = 10;
/** More lets clients come back sooner, and more of them be refused again. */
const MARGIN = 0.6;
/**
 * Promises this part of the rate even where newcomers take all of it. Less keeps more promises, and leaves more of a
 * quota unused while its clients wait.
 */
const LEAST_PART = 0.25;
/**
 * Units that are promised at most: more keeps promises to larger herds, and lets a client that asks on without waiting
 * send the others further away.
 */
const UNITS_MOST = 100;
