/** Work on which a shadow and the limits in force disagree. */
export interface ShadowCount {
  requests: number;
  messages: number;
  bytes: number;
}

/** Differences of one lane since the start. */
export interface CountedDifferences {
  /** Granted, but refused by the shadow. */
  readonly wouldRefuse: Readonly<ShadowCount>;
  /** Refused at once, but granted by the shadow. */
  readonly wouldGrant: Readonly<ShadowCount>;
  /** Counted as refused by the limiter of a group with `mode: shadow`, and refused to nobody. */
  readonly notRefused: Readonly<ShadowCount>;
  /** Passed, and not counted as attempted: refused by a topic's or client's limit, or before a share was known. */
  readonly uncounted: Readonly<ShadowCount>;
  /** Done, and not counted as admitted by the limiter. */
  readonly letPass: Readonly<ShadowCount>;
}

/** Counts differences, of lanes that have any. */
export class ShadowCounts {
  readonly #lanes = new Map<number, Record<keyof CountedDifferences, ShadowCount>>();

  /** Counts work. @param requests where it is many pieces at once */
  count(lane: number, difference: keyof CountedDifferences, messages: number, bytes: number, requests = 1): void {
    let counts = this.#lanes.get(lane);
    if (counts === undefined) {
      counts = {
        wouldRefuse: { ...NONE },
        wouldGrant: { ...NONE },
        notRefused: { ...NONE },
        uncounted: { ...NONE },
        letPass: { ...NONE },
      };
      this.#lanes.set(lane, counts);
    }
    const counted = counts[difference];
    counted.requests += requests;
    counted.messages = added(counted.messages, messages);
    counted.bytes = added(counted.bytes, bytes);
  }

  of(lane: number): CountedDifferences {
    return this.#lanes.get(lane) ?? NO_DIFFERENCES;
  }

  forget(lane: number): void {
    this.#lanes.delete(lane);
  }
}

function added(sum: number, amount: number): number {
  return sum + amount > Number.MAX_SAFE_INTEGER ? amount : sum + amount;
}

const NONE: Readonly<ShadowCount> = Object.freeze({ requests: 0, messages: 0, bytes: 0 });
const NO_DIFFERENCES: CountedDifferences = Object.freeze({
  wouldRefuse: NONE,
  wouldGrant: NONE,
  notRefused: NONE,
  uncounted: NONE,
  letPass: NONE,
});
