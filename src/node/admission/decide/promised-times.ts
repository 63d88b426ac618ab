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
  /** Units of a full bucket that the client refused last may find; 0 = it was told by the line. */
  spare: number;
}

interface RefusedNow {
  readonly slot: number;
  readonly amount: number;
  /** Milliseconds until its tokens are there, if nobody else takes any. */
  readonly waitMs: number;
  /** Units/s that may be promised to this node's clients. */
  readonly perSecond: number;
  readonly admitted: number;
  /** This node's part of the units left in a full bucket; 0 = it is not full. */
  readonly spare: number;
  /** Seconds in which the bucket fills. */
  readonly fillSeconds: number;
  /** Place of this node among all, above 0 and at most 1. */
  readonly turn: number;
}

/**
 * Gives each refused client a later time to come back:
 *
 *     told     = max(wait, (units + turn · amount) / promised);   units = told · promised + (1 − turn) · amount
 *     promised = MARGIN · (rate − newcomers)
 *
 * Units fall by `promised` per second; `newcomers` is the fading rate of units admitted without a promise, and not of a
 * bucket that had filled when no promise was due. Where `spare` holds the units and the amount, told = wait.
 *
 * *Worked:* of 10/s a node has 5/s, newcomers take 2/s, 15 clients are refused at once: the first of two nodes gives
 * 333 ms, and 667 ms more each time, the second one 667 ms, and as much more.
 *
 * *Why:* clients given the time of one token all came back at once, and so did those of ten nodes without turns. One
 * alone at one of ten nodes, which may take 2.2 of a full bucket of 10 at once, was put off until it was full again. No
 * token is kept for a promise; one not taken up costs nothing. No time is earlier than its tokens, or put off beyond
 * PUT_OFF_MS_MAX.
 */
export class PromisedTimes {
  readonly #slots = new Map<number, Promised>();

  /** Returns milliseconds until this client may come back. */
  waitMs(refused: RefusedNow, nowMs: number): number {
    const { slot, amount, waitMs, perSecond, spare, turn } = refused;
    const isSlow = perSecond > 0 && perSecond < FAST_PER_SECOND;
    if (!isSlow || !(waitMs < PUT_OFF_MS_MAX)) return waitMs;
    const promised = this.#slots.get(slot) ?? this.#begin(refused, nowMs);
    const readSeconds = Math.max(FADING_SECONDS, FADING_UNITS / perSecond);
    pass(promised, refused, nowMs, readSeconds);
    promised.spare = spare >= promised.units + amount ? spare : 0;
    if (promised.spare > 0) return waitMs;
    const newcomers = Math.max(0, promised.taken - promised.due) / Math.max(readSeconds / 2, promised.seconds);
    promised.perSecond = Math.max(LEAST_PART * perSecond, MARGIN * (perSecond - newcomers));
    const lineMs = (1000 * (promised.units + turn * amount)) / promised.perSecond;
    const toldMs = Math.min(Math.max(waitMs, lineMs), PUT_OFF_MS_MAX);
    const units = (promised.perSecond * toldMs) / 1000 + (1 - turn) * amount;
    promised.units = Math.min(Math.max(amount, UNITS_MOST), units);
    return toldMs;
  }

  forget(slot: number): void {
    this.#slots.delete(slot);
  }

  #begin({ slot, admitted, perSecond }: RefusedNow, nowMs: number): Promised {
    const promised = { units: 0, perSecond, lookedMs: nowMs, admitted, seconds: 0, taken: 0, due: 0, spare: 0 };
    this.#slots.set(slot, promised);
    return promised;
  }
}

function pass(promised: Promised, refused: RefusedNow, nowMs: number, fadingSeconds: number): void {
  const seconds = (nowMs - promised.lookedMs) / 1000;
  if (seconds <= 0) return;
  const { admitted, perSecond, fillSeconds } = refused;
  const rest = Math.exp(-seconds / fadingSeconds);
  const due = Math.min(promised.units, promised.perSecond * seconds);
  const filled = perSecond * Math.min(fillSeconds, seconds - due / promised.perSecond);
  promised.units -= due;
  promised.seconds = promised.seconds * rest + seconds;
  promised.due = promised.due * rest + due;
  // The limiter begins its sums anew now and then.
  promised.taken = promised.taken * rest + Math.max(0, admitted - promised.admitted - filled - promised.spare);
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
const MARGIN = 0.5;
/** Part of the rate promised even where newcomers take all; less keeps more promises, and leaves more unused. */
const LEAST_PART = 0.25;
/** Milliseconds; more puts the last of a herd off for longer, and with them whoever asks again and again. */
const PUT_OFF_MS_MAX = 60_000;
/** Most units promised; more serves larger herds, and lets impatient clients send the others further away. */
const UNITS_MOST = 100;
