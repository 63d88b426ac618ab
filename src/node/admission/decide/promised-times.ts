import { RETRY_AFTER_MS_MAX } from '../../api/decision.js';

interface Promised {
  /** Units promised and not due yet; the next refused client comes after them. */
  units: number;
  /** Units/s that are promised. */
  perSecond: number;
  lookedMs: number;
  /** Units admitted until then, since creation. */
  admitted: number;
  /** Fading sums: seconds, units admitted, units promised that were due. */
  seconds: number;
  taken: number;
  due: number;
}

export interface RefusedNow {
  readonly slot: number;
  readonly amount: number;
  /** Milliseconds until its tokens are there, if nobody else takes any. */
  readonly waitMs: number;
  /** Units/s that may be promised to this node's clients. */
  readonly perSecond: number;
  readonly admitted: number;
}

/**
 * Gives each refused client a later time to come back:
 *
 *     told = max(wait, units / promised);   units = told · promised + amount
 *     promised = MARGIN · (rate − newcomers)
 *
 * Units fall by `promised` per second; `newcomers` is the fading rate of units admitted without a promise.
 *
 * *Worked:* 10/s, newcomers take 5/s, 30 clients are refused at once: the first gets 100 ms, each further one 333 ms
 * more, the last 9.8 s.
 *
 * *Why:* clients given the time of one token all came back at once. No token is kept for a promise; one not taken up
 * costs nothing. No time is earlier than its tokens, or later than RETRY_AFTER_MS_MAX.
 */
export class PromisedTimes {
  readonly #slots = new Map<number, Promised>();

  /** Returns milliseconds until this client may come back. */
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

/** Units/s from which on nothing is promised; more spreads herds of faster quotas, and leaves more of them unused. */
const FAST_PER_SECOND = 30;
/** Seconds; more follows newcomers later, and is misled less by a few. */
const FADING_SECONDS = 10;
/** Units that lengthen the fading of slow quotas: one admission of 5/min says nothing of a rate. */
const FADING_UNITS = 10;
/** Part of the rate; more lets clients come back sooner, and be refused again. */
const MARGIN = 0.6;
/** Part of the rate promised even where newcomers take all; less keeps more promises, and leaves more unused. */
const LEAST_PART = 0.25;
/** Most units promised; more serves larger herds, and lets impatient clients send the others further away. */
const UNITS_MOST = 100;
