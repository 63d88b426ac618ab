import type { ReadRecord } from '../../base/ports/report-topic.js';

/** Beyond it the oldest tombstones are forgotten: no failover brings back a key that was buried so long ago. */
const TOMBSTONES_MAX = 1_000;

/** Keeps the newest record of each key that this node has read, to be put back if Redis forgets it. */
export class LogMemory {
  readonly #newest = new Map<string, ReadRecord>();
  readonly #buried = new Map<string, ReadRecord>();

  read(records: readonly ReadRecord[]): void {
    for (const record of records) {
      this.#newest.delete(record.key);
      this.#buried.delete(record.key);
      (record.value === null ? this.#buried : this.#newest).set(record.key, record);
    }
    for (const key of this.#buried.keys()) {
      if (this.#buried.size <= TOMBSTONES_MAX) break;
      this.#buried.delete(key);
    }
  }

  /** Whether a log holds everything that this node, which has read up to `readOffset`, has read in its own log. */
  lacks(found: ReadonlyMap<string, number>, readOffset: number): boolean {
    for (const [key, offset] of found) {
      const known = this.#newest.get(key) ?? this.#buried.get(key);
      if (offset <= readOffset && (known?.offset ?? -1) < offset) return true;
    }
    return false;
  }

  clear(): void {
    this.#newest.clear();
    this.#buried.clear();
  }

  /** What a log with these newest records (key → offset) lacks, tombstones last. */
  missing(found: ReadonlyMap<string, number>): ReadRecord[] {
    const lacks = ({ key, offset }: ReadRecord) => (found.get(key) ?? -1) < offset;
    const returned = [...this.#buried.values()].filter((record) => found.has(record.key) && lacks(record));
    return [...[...this.#newest.values()].filter(lacks), ...returned];
  }
}
