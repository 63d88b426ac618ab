import type { AuditRecord } from './registry-record.js';

/**
 * Who changed what: the newest accepted changes, of all groups together, in the order of the log. Each is a record with
 * a key of its own; what falls out at the old end is freed by tombstones, so that the topic stays bounded.
 *
 * A change is *missing* from the moment it was accepted until its record is known to be in the log.
 */
export class Trail {
  readonly #most: number;
  /** By revision, rising. */
  #kept: AuditRecord[] = [];
  /** Nothing up to here is kept: it has fallen out. */
  #floor = 0;
  readonly #missing = new Map<number, Missing>();
  /** Revisions whose records are in the log without being kept, until they are seen to be freed. */
  readonly #fallen = new Map<number, Fallen>();

  /** @param most changes that are kept; the nodes of a cluster should agree */
  constructor(most: number) {
    this.#most = most;
  }

  /** At most `most` kept changes with a higher revision, of one group or of all. */
  after(revision: number, most: number, group: string | null): AuditRecord[] {
    const found: AuditRecord[] = [];
    for (let at = this.#firstAbove(revision); at < this.#kept.length && found.length < most; at++) {
      const record = this.#kept[at] as AuditRecord;
      if (group === null || record.group === group) found.push(record);
    }
    return found;
  }

  get size(): number {
    return this.#kept.length;
  }

  /** Accepted, as this node has just read. */
  expect(record: AuditRecord, nowMs: number): void {
    if (!this.#has(record.revision)) this.#missing.set(record.revision, { record, sinceMs: nowMs });
  }

  /** What has to stand in the log before a state of these groups does. */
  missingOf(groups: ReadonlySet<string>): AuditRecord[] {
    return [...this.#missing.values()].flatMap(({ record }) => (groups.has(record.group) ? [record] : []));
  }

  /** Its record is in the log. */
  keep(record: AuditRecord, nowMs: number): void {
    const { revision } = record;
    this.#missing.delete(revision);
    if (revision <= this.#floor) this.#fallen.set(revision, { sinceMs: nowMs, isTaken: false });
    else if (!this.#has(revision)) this.#kept.splice(this.#firstAbove(revision), 0, record);
    if (this.#kept.length <= this.#most) return;
    for (const { revision: oldest } of this.#kept.splice(0, this.#kept.length - this.#most)) {
      this.#floor = oldest;
      this.#fallen.set(oldest, { sinceMs: nowMs, isTaken: false });
    }
  }

  /** Its record is no longer in the log. */
  freed(revision: number): void {
    this.#fallen.delete(revision);
    if (this.#has(revision)) this.#kept.splice(this.#firstAbove(revision) - 1, 1);
  }

  /** The oldest that have fallen out, for a node that has just put as many behind them. */
  takeFallen(count: number, nowMs: number): number[] {
    return this.#take(count, nowMs, ({ isTaken }) => !isTaken);
  }

  /** What should have been freed long ago. */
  takeStale(nowMs: number, patienceMs: number): number[] {
    return this.#take(STALE_AT_ONCE, nowMs, ({ sinceMs }) => nowMs - sinceMs > patienceMs);
  }

  /** What others should have written long ago. */
  takeOverdue(nowMs: number, patienceMs: number): AuditRecord[] {
    const overdue: AuditRecord[] = [];
    for (const missing of this.#missing.values()) {
      if (nowMs - missing.sinceMs <= patienceMs) continue;
      missing.sinceMs = nowMs;
      overdue.push(missing.record);
    }
    return overdue;
  }

  #take(most: number, nowMs: number, isMeant: (fallen: Fallen) => boolean): number[] {
    const taken: number[] = [];
    for (const [revision, fallen] of this.#fallen) {
      if (taken.length >= most) break;
      if (!isMeant(fallen)) continue;
      fallen.isTaken = true;
      fallen.sinceMs = nowMs;
      taken.push(revision);
    }
    return taken;
  }

  #has(revision: number): boolean {
    return this.#kept[this.#firstAbove(revision) - 1]?.revision === revision;
  }

  /** Where the first record with a higher revision stands. */
  #firstAbove(revision: number): number {
    let [low, high] = [0, this.#kept.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#kept[middle] as AuditRecord).revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

interface Fallen {
  sinceMs: number;
  /** This node has sent its tombstone. */
  isTaken: boolean;
}

/** Freed per second and node where a writer has died in the middle; some KB. */
const STALE_AT_ONCE = 1000;

interface Missing {
  readonly record: AuditRecord;
  sinceMs: number;
}
