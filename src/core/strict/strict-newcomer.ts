import { AGAIN_MS, DRIFT_PER, EXPIRY_MS } from './constants.js';
import { StrictFold } from './strict-fold.js';
import type { StrictQuota } from './strict-quota.js';
import {
  lifeKey,
  type StrictCheckpoint,
  type StrictLife,
  type StrictRead,
  type StrictRecord,
} from './strict-record.js';
import { abandonedState, emptyState, type StrictState } from './strict-state.js';

/** Milliseconds in which all older lives stop, by any clock. */
export const ALL_ENDED_MS = EXPIRY_MS + Math.ceil((4 * EXPIRY_MS) / DRIFT_PER);

/** Quota of a bucket that no log knows. */
interface FirstQuota {
  readonly quota: StrictQuota;
  readonly revision: number;
}

/** A bucket as far as it was read. */
interface Known {
  readonly fold: StrictFold | null;
  /** Offset of the last founding that counted; −1 = none. */
  readonly foundedAt: number;
}

/**
 * Learns a bucket from a compacted log. It reads from the start, writes a join, and reads on: a node that knows the
 * bucket answers with its state after a later record.
 *
 * If nobody has written for an expiry, all who held tokens have ended. Then the newcomer founds the bucket anew: with
 * the pool that the last checkpoint and the records after it give; at once where nobody can hold anything.
 * A log without a bucket gets an empty one. A founding before which anybody wrote is void, so nothing is lost by it.
 */
export class StrictNewcomer {
  readonly #life: StrictLife;
  /** Offset of the own join; null = not read back. */
  #since: number | null = null;
  #sinceMs = 0;
  #wroteMs = -Infinity;
  /** The last checkpoint, and what was read behind it. */
  #checkpoint: StrictCheckpoint | null = null;
  #records: StrictRead[] = [];
  #folded: Known | null = null;

  constructor(life: StrictLife) {
    this.#life = life;
  }

  /** Reads on; returns the bucket once it is known. */
  read(read: StrictRead, nowMs: number): StrictFold | null {
    const { record, offset } = read;
    this.#records.push(read);
    this.#folded = null;
    if (record.kind === 'state' && record.at > (this.#checkpoint?.at ?? -1)) this.#keepFrom(record);
    if (record.kind === 'join' && lifeKey(record) === lifeKey(this.#life) && this.#since === null) {
      this.#since = offset;
      this.#sinceMs = nowMs;
      this.#wroteMs = -Infinity;
    }
    if (this.#since === null) return null;
    if (record.kind === 'state' && record.at >= this.#since) return this.#known().fold;
    if (record.kind !== 'found' || record.since < this.#since) return null;
    const { fold, foundedAt } = this.#known();
    return foundedAt === offset ? fold : null;
  }

  /** Returns what to write now, if anything. */
  due(nowMs: number, first: FirstQuota): StrictRecord | null {
    if (nowMs - this.#wroteMs < AGAIN_MS) return null;
    if (this.#since === null) return this.#join(nowMs);
    const { fold } = this.#known();
    if (nowMs - this.#sinceMs < (fold?.isAtRest ? 0 : ALL_ENDED_MS)) return null;
    if (!this.#isQuiet(this.#since)) return this.#join(nowMs);
    this.#wroteMs = nowMs;
    return this.#founding(fold?.state ?? null, first);
  }

  #join(nowMs: number): StrictRecord {
    this.#since = null;
    this.#wroteMs = nowMs;
    return { kind: 'join', ...this.#life };
  }

  #founding(state: StrictState | null, { quota, revision }: FirstQuota): StrictRecord {
    const since = this.#records[this.#records.length - 1].offset;
    const begun = state === null ? emptyState(quota, revision) : abandonedState(state);
    return { kind: 'found', ...this.#life, since, state: begun };
  }

  /** True if none but newcomers and administrators wrote since the join. */
  #isQuiet(since: number): boolean {
    const isHarmless = ({ kind }: StrictRecord) =>
      kind === 'join' || kind === 'quota' || kind === 'period' || kind === 'found';
    return this.#records.every(({ offset, record }) => offset <= since || isHarmless(record));
  }

  #keepFrom(checkpoint: StrictCheckpoint): void {
    this.#checkpoint = checkpoint;
    this.#records = this.#records.filter(({ offset }) => offset > checkpoint.at);
  }

  #known(): Known {
    this.#folded ??= this.#fold();
    return this.#folded;
  }

  #fold(): Known {
    let fold = this.#checkpoint === null ? null : new StrictFold(this.#checkpoint.state);
    let lastOffset = -1;
    let foundedAt = -1;
    for (const read of this.#records) {
      const { record, offset } = read;
      if (record.kind === 'found' && (fold?.foundedBy(record) ?? lastOffset <= record.since)) {
        foundedAt = offset;
        fold ??= new StrictFold(record.state);
      }
      fold?.apply(read);
      if (record.kind !== 'join') lastOffset = offset;
    }
    return { fold, foundedAt };
  }
}
