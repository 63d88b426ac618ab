import { OwnEcho } from '../../log/own-echo.js';
import type { Claim, KeeperRecord, SignOfLife } from './keeper-record.js';

export interface ElectionSettings {
  readonly id: string;
  readonly life: string;
  /** Milliseconds of silence after which a keeper counts as dead. */
  readonly aliveMs: number;
  /** Milliseconds for which an own record permits to write; < aliveMs. */
  readonly permitMs: number;
}

export interface HeardKeeper {
  readonly life: string;
  readonly stamp: string;
  /** On the clock of this process. */
  readonly heardMs: number;
}

/**
 * Elects the writer: the lowest id alive, by its claim in the log. All keepers read the same order, and of a term's
 * claims the first counts: they agree at every offset. The log cannot stop a former writer, because Kafka's quotas are
 * written without a condition. So permission is a lease: it ends `permitMs` after the append of the newest own record
 * that was read. A keeper that reads its own record behind a claim has read the claim. A new writer waits `permitMs`
 * after reading its claim; by then the former one, frozen or cut off, has stopped. Only durations of one clock count;
 * speeds must not differ by more than a fraction of `permitMs`. A process frozen between its look at the lease and the
 * socket sends late. Its value stands in the log, so the writer recognises and replaces it.
 */
export class WriterElection {
  readonly #settings: ElectionSettings;
  readonly #keepers = new Map<string, HeardKeeper>();
  #writer: Claim | null = null;
  #mayWriteFromMs = Infinity;
  #claimedTerm = 0;
  /** Own records, on the one partition of the keepers' log. */
  readonly #echo = new OwnEcho(1);

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

  /** Tests if this keeper may send to Kafka now. */
  mayWrite(nowMs: number): boolean {
    return this.isWriter && nowMs >= this.#mayWriteFromMs && this.#isLinked(nowMs);
  }

  /** Lists keepers alive, this one included, lowest id first. */
  alive(nowMs: number): readonly string[] {
    const { id, aliveMs } = this.#settings;
    const heard = [...this.#keepers].filter(([, { heardMs }]) => nowMs - heardMs < aliveMs).map(([other]) => other);
    return [...new Set([id, ...heard])].sort(byCodeUnit);
  }

  /** Lists other keepers that were silent for this time. */
  silentFor(ms: number, nowMs: number): readonly string[] {
    const silent = [...this.#keepers].filter(([id, { heardMs }]) => id !== this.#settings.id && nowMs - heardMs >= ms);
    return silent.map(([id]) => id);
  }

  /** Forgets an id without records, unless it is alive. An old process may leave after its successor came. */
  forget(id: string, nowMs: number): void {
    const heard = this.#keepers.get(id);
    if (heard !== undefined && nowMs - heard.heardMs >= this.#settings.aliveMs) this.#keepers.delete(id);
  }

  noteAppended(sequence: number, nowMs: number): void {
    this.#echo.sent(0, sequence, nowMs);
  }

  /** Returns a claim to append; null = none. */
  claim(nowMs: number): Claim | null {
    const { id, life } = this.#settings;
    if (!this.#isLinked(nowMs) || this.alive(nowMs)[0] !== id || this.isWriter) return null;
    const term = (this.#writer?.term ?? 0) + 1;
    // A claim under way may still come back.
    if (this.#claimedTerm >= term) return null;
    this.#claimedTerm = term;
    return { kind: 'writer', term, id, life };
  }

  /** Allows a failed claim to be repeated. */
  claimFailed(): void {
    this.#claimedTerm = 0;
  }

  /** Takes a claim. Returns one to append where an invalid claim hides this writer's. */
  takeClaim(claim: Claim, nowMs: number): Claim | null {
    const before = this.#writer;
    if (before !== null && claim.term <= before.term) {
      if (!this.isWriter || this.counts(claim)) return null;
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
    const { id, life } = this.#settings;
    if (sign.isLeaving) {
      // A process that had the id before may leave after its successor came.
      if (this.#keepers.get(sign.id)?.life === sign.life) this.#keepers.delete(sign.id);
      return;
    }
    if (sign.id !== id || sign.life === life) {
      this.#keepers.set(sign.id, { life: sign.life, stamp: sign.stamp, heardMs: nowMs });
    }
    if (sign.id === id && sign.life === life) this.#echo.readBack(0, sign.sequence, nowMs);
  }

  /** Forgets all records, because another log begins. */
  reset(): void {
    this.#keepers.clear();
    this.#writer = null;
    this.#claimedTerm = 0;
    this.#mayWriteFromMs = Infinity;
    this.#echo.freshMs[0] = -Infinity;
  }

  /** Counts records before this keeper as just come. */
  caughtUp(nowMs: number): void {
    for (const [id, keeper] of this.#keepers) this.#keepers.set(id, { ...keeper, heardMs: nowMs });
  }

  /** Tests if a record is of the present writer and term. */
  counts({ term, id, life }: Extract<KeeperRecord, { readonly term: number }>): boolean {
    const writer = this.#writer;
    return writer !== null && writer.term === term && writer.id === id && writer.life === life;
  }

  /** Tests if own records come back in time. */
  #isLinked(nowMs: number): boolean {
    return nowMs < this.#echo.freshMs[0] + this.#settings.permitMs;
  }

  /** Returns the end of the former writer's permission: now, if it left in order. */
  #leaseEndOf(former: Claim | null, nowMs: number): number {
    const { id, permitMs } = this.#settings;
    // Another log had another writer, and an older process with this id may stand still.
    if (former === null || former.id === id) return nowMs + permitMs;
    const heard = this.#keepers.get(former.id);
    if (heard === undefined) return nowMs;
    return heard.life === former.life ? Math.max(nowMs, heard.heardMs + permitMs) : nowMs + permitMs;
  }

  #isOwn(claim: Claim | null): boolean {
    return claim !== null && claim.id === this.#settings.id && claim.life === this.#settings.life;
  }
}

function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
