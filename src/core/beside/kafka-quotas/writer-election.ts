import type { Claim, KeeperRecord, SignOfLife } from './keeper-record.js';

export interface ElectionSettings {
  readonly id: string;
  readonly life: string;
  /** A keeper that was not heard for so long is taken for dead. */
  readonly aliveMs: number;
  /** A keeper writes only while it has read a record of its own that it appended at most so long ago; < aliveMs. */
  readonly permitMs: number;
}

export interface HeardKeeper {
  readonly life: string;
  readonly stamp: string;
  /** On the clock of this process. */
  readonly heardMs: number;
}

/**
 * Which keeper writes: the lowest id alive, by its claim in the log.
 *
 * All keepers read the same records in the same order, and of two claims of one term the first counts, so they agree
 * on the writer at every offset. What the log cannot do is to stop the former writer's hand: Kafka's quotas know no
 * condition. So a writer's permission is a lease: it ends `permitMs` after it appended the newest record of its own
 * that it has read. Records are read in order: who has read a record of its own behind the claim has read the claim.
 * Hence a new writer waits `permitMs` after it has read its claim, and the former one has stopped by then, be it frozen
 * or cut off. Only durations on one machine's clock count, so that no clock needs to be right; they must not differ in
 * speed by more than a fraction of `permitMs`.
 *
 * What is left: a process that freezes between looking at its lease and the socket, or a request that is under way,
 * arrives late. The value stands in the log before it is sent, so that the writer knows it again and puts its own in
 * its stead.
 */
export class WriterElection {
  readonly #settings: ElectionSettings;
  readonly #keepers = new Map<string, HeardKeeper>();
  #writer: Claim | null = null;
  #mayWriteFromMs = Infinity;
  #permitUntilMs = -Infinity;
  #claimedTerm = 0;
  /** When the newest own records were appended, by their sequence. */
  readonly #appended = new Map<number, number>();

  constructor(settings: ElectionSettings) {
    this.#settings = settings;
  }

  get writer(): Claim | null {
    return this.#writer;
  }

  get keepers(): ReadonlyMap<string, HeardKeeper> {
    return this.#keepers;
  }

  get isWriter(): boolean {
    return this.#isOwn(this.#writer);
  }

  /** Whether this keeper may send a change to Kafka at this moment. */
  mayWrite(nowMs: number): boolean {
    return this.isWriter && nowMs >= this.#mayWriteFromMs && this.#isLinked(nowMs);
  }

  /** Those that were heard lately, this one included, from the lowest id on. */
  alive(nowMs: number): readonly string[] {
    const { id, aliveMs } = this.#settings;
    const heard = [...this.#keepers].filter(([, { heardMs }]) => nowMs - heardMs < aliveMs).map(([other]) => other);
    return [...new Set([id, ...heard])].sort(byCodeUnit);
  }

  /** Others that have said nothing for so long. */
  silentFor(ms: number, nowMs: number): readonly string[] {
    const silent = [...this.#keepers].filter(([id, { heardMs }]) => id !== this.#settings.id && nowMs - heardMs >= ms);
    return silent.map(([id]) => id);
  }

  /** The log has forgotten it. Not one that speaks: a process of that id may leave after the next one has come. */
  forget(id: string, nowMs: number): void {
    const heard = this.#keepers.get(id);
    if (heard !== undefined && nowMs - heard.heardMs >= this.#settings.aliveMs) this.#keepers.delete(id);
  }

  noteAppended(sequence: number, nowMs: number): void {
    this.#appended.set(sequence, nowMs);
    for (const old of this.#appended.keys()) if (old < sequence - APPENDS_KEPT) this.#appended.delete(old);
  }

  /** The claim to append, or null where there is nothing to claim. */
  claim(nowMs: number): Claim | null {
    const { id, life } = this.#settings;
    if (!this.#isLinked(nowMs) || this.alive(nowMs)[0] !== id || this.isWriter) return null;
    const term = (this.#writer?.term ?? 0) + 1;
    // The one under way may still come back.
    if (this.#claimedTerm >= term) return null;
    this.#claimedTerm = term;
    return { kind: 'writer', term, id, life };
  }

  /** The append has failed; what it said may be said again. */
  claimFailed(): void {
    this.#claimedTerm = 0;
  }

  /** Returns a claim to append anew where one that does not count stands under the key now, and hides this writer's. */
  takeClaim(claim: Claim, nowMs: number): Claim | null {
    const before = this.#writer;
    if (before !== null && claim.term <= before.term) {
      if (!this.isWriter || this.#isSame(claim, before)) return null;
      const { id, life } = this.#settings;
      this.#claimedTerm = before.term + 1;
      return { kind: 'writer', term: before.term + 1, id, life };
    }
    this.#writer = claim;
    if (!this.isWriter) this.#mayWriteFromMs = Infinity;
    else if (!this.#isOwn(before)) this.#mayWriteFromMs = this.#leaseEndOf(before, nowMs);
    return null;
  }

  takeSign(sign: SignOfLife, nowMs: number): void {
    const { id, life, permitMs } = this.#settings;
    if (sign.isLeaving) {
      // A process that had the id before may leave after the next one has come.
      if (this.#keepers.get(sign.id)?.life === sign.life) this.#keepers.delete(sign.id);
      return;
    }
    if (sign.id !== id || sign.life === life) {
      this.#keepers.set(sign.id, { life: sign.life, stamp: sign.stamp, heardMs: nowMs });
    }
    const appendedMs = sign.id === id && sign.life === life ? this.#appended.get(sign.sequence) : undefined;
    if (appendedMs !== undefined) this.#permitUntilMs = Math.max(this.#permitUntilMs, appendedMs + permitMs);
  }

  /** The log is another one: what was read does not count, and who spoke there speaks again here. */
  reset(): void {
    this.#keepers.clear();
    this.#writer = null;
    this.#claimedTerm = 0;
    this.#mayWriteFromMs = Infinity;
    this.#permitUntilMs = -Infinity;
  }

  /** Records that were there before this keeper count from now on, as if they had come just now. */
  caughtUp(nowMs: number): void {
    for (const [id, keeper] of this.#keepers) this.#keepers.set(id, { ...keeper, heardMs: nowMs });
  }

  /** Whether a record of the writer counts: it is of the term in force, and of whoever has it. */
  counts({ term, id, life }: Extract<KeeperRecord, { readonly term: number }>): boolean {
    const writer = this.#writer;
    return writer !== null && writer.term === term && writer.id === id && writer.life === life;
  }

  /** Whether own records come back in time. */
  #isLinked(nowMs: number): boolean {
    return nowMs < this.#permitUntilMs;
  }

  /** From when on the former writer has no permission any more; at once where it has left in order. */
  #leaseEndOf(former: Claim | null, nowMs: number): number {
    const { id, permitMs } = this.#settings;
    // Another log had another writer, and an older process with this id may stand still.
    if (former === null || former.id === id) return nowMs + permitMs;
    const heard = this.#keepers.get(former.id);
    if (heard === undefined) return nowMs;
    return heard.life === former.life ? Math.max(nowMs, heard.heardMs + permitMs) : nowMs + permitMs;
  }

  #isSame(one: Claim, other: Claim): boolean {
    return one.term === other.term && one.id === other.id && one.life === other.life;
  }

  #isOwn(claim: Claim | null): boolean {
    return claim !== null && claim.id === this.#settings.id && claim.life === this.#settings.life;
  }
}

const APPENDS_KEPT = 100;

/** Ids are compared as every keeper compares them, whatever its language. */
function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
