/** Work about which a shadow and what is in force have said different things. */
export interface ShadowCount {
  requests: number;
  messages: number;
  bytes: number;
}

/** Differences of one lane since the process began. */
export interface CountedDifferences {
  /** Granted, and the shadow would have refused it. */
  readonly wouldRefuse: Readonly<ShadowCount>;
  /** Refused at once, and the shadow would have granted it. */
  readonly wouldGrant: Readonly<ShadowCount>;
  /** What the limiter counts as refused in the lane of a group with `mode: shadow`, and was refused to nobody. */
  readonly notRefused: Readonly<ShadowCount>;
  /**
   * What was let pass in such a lane, and the limiter does not count as attempted: a topic's or client's limit refused
   * it, or the node knew no share yet.
   */
  readonly uncounted: Readonly<ShadowCount>;
  /** What was done in such a lane, and the limiter does not count as admitted. */
  readonly letPass: Readonly<ShadowCount>;
}

/** Only lanes in which a shadow has said something else have counts. */
export class ShadowCounts {
  readonly #lanes = new Map<number, Record<keyof CountedDifferences, ShadowCount>>();

  /** @param requests where it is many pieces of work at once */
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

/** A counter goes back to 0, as after a restart, before it is too large to count single units. */
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
