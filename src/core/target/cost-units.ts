/** Turns bytes into cost units, for the whole cluster (FoundationDB: page 4096, write fungibility 4; 5 before 7.3). */
export interface CostFactors {
  readonly readPageBytes: number;
  readonly writePageBytes: number;
  /** Read pages that a written page costs. */
  readonly writeFactor: number;
}

/** Cost of one piece of work. */
export interface Cost {
  /** The caller's own units, taken unchanged. */
  readonly units?: number;
  readonly readBytes?: number;
  readonly writtenBytes?: number;
  /** Estimated where the size of a range is unknown; counts as written. */
  readonly clearedBytes?: number;
}

/**
 * Computes the cost units of one piece of work:
 *
 *     read  = max(1, ⌈bytes / readPageBytes⌉)      write = writeFactor · max(1, ⌈(written + cleared) / writePageBytes⌉)
 *
 * An absent part costs nothing. A present part costs at least a page: 0 bytes read are a lookup.
 * *Worked:* pages of 4096 and factor 4: 6 pages read → 6, 6 pages written → 24, 1 byte read and 1 written → 5, a lookup
 * without a row → 1. *Why:* docs/background/foundationdb-tag-throttling.md, stat collection.
 */
export function costUnits({ units = 0, readBytes, writtenBytes, clearedBytes }: Cost, factors: CostFactors): number {
  const read = readBytes === undefined ? 0 : pages(readBytes, factors.readPageBytes);
  const writes = writtenBytes !== undefined || clearedBytes !== undefined;
  const changed = (writtenBytes ?? 0) + (clearedBytes ?? 0);
  return units + read + (writes ? factors.writeFactor * pages(changed, factors.writePageBytes) : 0);
}

function pages(bytes: number, pageBytes: number): number {
  return Math.max(1, Math.ceil(bytes / pageBytes));
}
