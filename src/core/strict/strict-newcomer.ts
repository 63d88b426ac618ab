import { adopted, type BudgetState, NEW_BUDGET } from './budget-account.js';
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

/**
 * Learns a bucket from a compacted log. It reads from the start, writes a join, and reads on: a node that knows the
 * bucket answers with its state after a later record.
 *
 * If nobody has written for an expiry, all who held tokens have ended. Then the newcomer founds the bucket anew: with
 * the pool that the last checkpoint and the records after it give; at once where nobody can hold anything.
 * A log without a bucket gets an empty one, of a budget as those say who knew it. A founding before which anybody wrote
 * is void, so nothing is lost by it.
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
  /** True = none but newcomers and administrators wrote since the join. */
  #isQuiet = true;
  /** The bucket after the first `#folded` of the records. */
  #fold: StrictFold | null = null;
  #folded = 0;
  #lastOffset = -1;
  /** Offset of the last founding that counted; −1 = none. */
  #foundedAt = -1;

  constructor(life: StrictLife) {
    this.#life = life;
  }

  /** Reads on; returns the bucket once it is known. */
  read(read: StrictRead, nowMs: number): StrictFold | null {
    const { record, offset } = read;
    this.#records.push(read);
    this.#isQuiet &&= HARMLESS.has(record.kind);
    if (record.kind === 'state' && record.at > (this.#checkpoint?.at ?? -1)) this.#keepFrom(record);
    if (record.kind === 'join' && lifeKey(record) === lifeKey(this.#life) && this.#since === null) {
      this.#since = offset;
      this.#sinceMs = nowMs;
      this.#wroteMs = -Infinity;
      this.#isQuiet = true;
    }
    if (this.#since === null) return null;
    if (record.kind === 'state' && record.at >= this.#since) return this.#known;
    if (record.kind !== 'found' || record.since < this.#since) return null;
    const fold = this.#known;
    return this.#foundedAt === offset ? fold : null;
  }

  /** Budget as far as it was read; null = nothing of it, or none. */
  get budget(): BudgetState | null {
    return this.#known?.budget ?? null;
  }

  /** Returns the own time from which `due` has something to write. */
  get dueMs(): number {
    const againMs = this.#wroteMs + AGAIN_MS;
    if (this.#since === null) return againMs;
    return Math.max(againMs, this.#sinceMs + (this.#known?.isAtRest ? 0 : ALL_ENDED_MS));
  }

  /** Returns what to write now, if anything. */
  due(nowMs: number, first: FirstQuota): StrictRecord | null {
    if (nowMs < this.dueMs) return null;
    if (this.#since === null || !this.#isQuiet) return this.#join(nowMs);
    this.#wroteMs = nowMs;
    return this.#founding(this.#known?.state ?? null, first);
  }

  #join(nowMs: number): StrictRecord {
    this.#since = null;
    this.#wroteMs = nowMs;
    return { kind: 'join', ...this.#life };
  }

  #founding(state: StrictState | null, { quota, revision }: FirstQuota): StrictRecord {
    const since = this.#records[this.#records.length - 1].offset;
    if (state !== null) return { kind: 'found', ...this.#life, since, state: abandonedState(state) };
    const empty = emptyState(quota, revision);
    return { kind: 'found', ...this.#life, since, state: { ...empty, budget: this.#budgetOf(empty) } };
  }

  /** Takes over a budget; where its beginning is missing, and not what was granted, nothing is left of the period. */
  #budgetOf({ budget, quota }: StrictState): BudgetState | null {
    if (budget === null) return null;
    let knew: BudgetState = budget;
    const isTorn = this.#records.some(({ record }) => record.kind === 'claim');
    for (const { record } of this.#records) {
      if (record.kind === 'knew') knew = adopted(knew, record.budget);
      else if (record.kind === 'period' && isTorn) {
        const { fromMs, untilMs } = record;
        knew = adopted(knew, { ...NEW_BUDGET, period: { fromMs, untilMs }, gone: quota.depth });
      }
    }
    return knew;
  }

  #keepFrom(checkpoint: StrictCheckpoint): void {
    this.#checkpoint = checkpoint;
    this.#records = this.#records.filter(({ offset }) => offset > checkpoint.at);
    this.#fold = new StrictFold(checkpoint.state);
    this.#folded = 0;
    this.#lastOffset = -1;
    this.#foundedAt = -1;
  }

  /** The bucket after all that was read. Each record is folded once. */
  get #known(): StrictFold | null {
    for (; this.#folded < this.#records.length; this.#folded++) {
      const read = this.#records[this.#folded];
      const { record, offset } = read;
      if (record.kind === 'found' && (this.#fold?.foundedBy(record) ?? this.#lastOffset <= record.since)) {
        this.#foundedAt = offset;
        this.#fold ??= new StrictFold(record.state);
      }
      this.#fold?.apply(read);
      if (record.kind !== 'join') this.#lastOffset = offset;
    }
    return this.#fold;
  }
}

/** Records by which nobody is granted anything. */
const HARMLESS: ReadonlySet<StrictRecord['kind']> = new Set([
  'join',
  'quota',
  'period',
  'credit',
  'knew',
  'found',
  'end',
]);
