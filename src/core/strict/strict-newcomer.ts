import { DRIFT_PER, EXPIRY_MS, NEWCOMER_RECORDS_MAX } from './constants.js';
import { StrictFold } from './strict-fold.js';
import { lifeKey, type StrictFound, type StrictLife, type StrictRead, type StrictRecord } from './strict-record.js';

/** Milliseconds in which all older lives stop, by any clock. */
const ALL_ENDED_MS = EXPIRY_MS + Math.ceil((4 * EXPIRY_MS) / DRIFT_PER);

/**
 * Learns a bucket whose older records compaction may have removed. It writes a join and reads on: a node that knows the
 * bucket answers with its state after a later record. If nobody has written for an expiry, all who held tokens have
 * ended, and the newcomer founds the bucket anew, empty.
 */
export class StrictNewcomer {
  readonly #life: StrictLife;
  /** Offset of the own join; null = not read back. */
  #since: number | null = null;
  #sinceMs = 0;
  #wroteMs = -Infinity;
  #records: StrictRead[] = [];

  constructor(life: StrictLife) {
    this.#life = life;
  }

  /** Reads on; returns the bucket once it is known. */
  read(read: StrictRead, nowMs: number): StrictFold | null {
    const { record, offset } = read;
    if (record.kind === 'join' && this.#isOwn(record) && this.#since === null) {
      this.#since = offset;
      this.#sinceMs = nowMs;
    }
    if (this.#since === null) return null;
    this.#records.push(read);
    if (this.#records.length > NEWCOMER_RECORDS_MAX) this.#begin();
    else if (record.kind === 'state' && record.at >= this.#since)
      return this.#follow(new StrictFold(record.state), record.at);
    else if (record.kind === 'found' && record.since >= this.#since && this.#isFirst(record, offset))
      return StrictFold.empty(record, read);
    return null;
  }

  /** Returns what to write now, if anything. */
  due(nowMs: number, found: Pick<StrictFound, 'quota' | 'revision'>): StrictRecord | null {
    if (nowMs - this.#wroteMs < ALL_ENDED_MS) return null;
    if (this.#since !== null && nowMs - this.#sinceMs < ALL_ENDED_MS) return null;
    this.#wroteMs = nowMs;
    const since = this.#since;
    if (since !== null && this.#records.every(({ record }) => record.kind === 'join' || record.kind === 'quota')) {
      return { kind: 'found', ...this.#life, since, ...this.#newest(found) };
    }
    this.#begin();
    return { kind: 'join', ...this.#life };
  }

  /** Finds the newest quota that was read, else the given one. */
  #newest({ quota, revision }: Pick<StrictFound, 'quota' | 'revision'>): Pick<StrictFound, 'quota' | 'revision'> {
    let newest = { quota, revision };
    for (const { record } of this.#records) {
      if (record.kind !== 'quota' || record.revision <= newest.revision) continue;
      const { amount, depth } = record;
      newest = { quota: { amount, depth, perMs: quota.perMs }, revision: record.revision };
    }
    return newest;
  }

  #begin(): void {
    this.#since = null;
    this.#records = [];
  }

  #isOwn(life: StrictLife): boolean {
    return lifeKey(life) === lifeKey(this.#life);
  }

  #follow(fold: StrictFold, at: number): StrictFold {
    for (const read of this.#records) if (read.offset > at) fold.apply(read);
    return fold;
  }

  /** True if nobody but newcomers has written since the founder joined. */
  #isFirst(found: StrictFound, offset: number): boolean {
    return this.#records.every(({ offset: at, record }) => {
      if (at <= found.since || at >= offset || record.kind === 'join' || record.kind === 'quota') return true;
      return record.kind === 'found' && lifeKey(record) === lifeKey(found);
    });
  }
}
