import type { ReadRecord } from '../../base/ports/report-topic.js';

/** Tombstones remembered; no failover brings back keys buried earlier. */
const TOMBSTONES_MAX = 1_000;

/** Keeps each key's newest record, to put back what Redis forgets. */
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

  /** Tests if a log has records up to `readOffset` unknown here. */
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

  /** Lists what a log lacks, tombstones last. `found`: key → offset of its newest records. */
  missing(found: ReadonlyMap<string, number>): ReadRecord[] {
    const lacks = ({ key, offset }: ReadRecord) => (found.get(key) ?? -1) < offset;
    const returned = [...this.#buried.values()].filter((record) => found.has(record.key) && lacks(record));
    return [...[...this.#newest.values()].filter(lacks), ...returned];
  }
}
