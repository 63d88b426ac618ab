import type { ReportRow } from '../report/record.js';
import type { CoordinatorSettings } from '../settings.js';

export type RowBoundsSettings = Pick<CoordinatorSettings, 'partitions' | 'maxRows' | 'maxGroupsPerNode'>;
export type RowVerdict = 'applied' | 'too-many-groups' | 'too-many-rows';

/** `groupsPerRecord` is at most 64, and a group has two directions. */
const ROWS_PER_RECORD_MAX = 128;
/** Buckets of a node that are not full: one per partition, of up to 64 groups each. */
const NOT_FULL_GROUPS = 16 * 64;
/** In rows of the usage map, about 100 bytes each at most: what costs of a row take, and each backend of them. */
const COSTS_WEIGHT = 2;
const BACKEND_WEIGHT = 2;

/**
 * What the nodes of a cluster may report, so that nobody who may write to the topic can fill the memory of the others.
 *
 * Per node it is a rule for each record by itself: bucket b is opened when b others are full, so a node whose records
 * hold g groups each has at least b × g of them in use. All nodes refuse the same, whatever else they have read.
 *
 * In all it is a bound per partition, on what the newest record of every key says, in the order of the log: who has
 * read a partition from the same record on refuses the same. A newcomer to the compacted log may find room where the
 * others found none; they differ until the refused record is written again, which its node does every few seconds.
 */
export class RowBounds {
  readonly #groupsPerNode: number;
  readonly #rowsPerPartition: number;
  readonly #used: Float64Array;

  constructor({ partitions, maxRows, maxGroupsPerNode }: RowBoundsSettings) {
    this.#groupsPerNode = (maxGroupsPerNode ?? Number.POSITIVE_INFINITY) + NOT_FULL_GROUPS;
    this.#rowsPerPartition = Math.floor((maxRows ?? Number.POSITIVE_INFINITY) / partitions);
    this.#used = new Float64Array(partitions);
  }

  /** Whether a bucket of this number can have any groups. */
  hasBucket(bucket: number): boolean {
    return bucket < this.#groupsPerNode;
  }

  /** @param known what the record before it of the same key weighs, 0 without one */
  judge(partition: number, bucket: number, rows: readonly ReportRow[], known: number): RowVerdict {
    const groups = Math.ceil(rows.length / 2);
    if (rows.length > ROWS_PER_RECORD_MAX || bucket * groups >= this.#groupsPerNode) return 'too-many-groups';
    const weight = weightOf(rows);
    const after = (this.#used[partition] as number) - known + weight;
    return weight <= known || after <= this.#rowsPerPartition ? 'applied' : 'too-many-rows';
  }

  /** What a key says weighs so much more than before. */
  add(partition: number, weight: number): void {
    this.#used[partition] = (this.#used[partition] as number) + weight;
  }
}

/** In rows: the record itself counts as one. */
export function weightOf(rows: readonly ReportRow[]): number {
  let weight = 1 + rows.length;
  for (const { costs } of rows) {
    if (costs !== undefined) weight += COSTS_WEIGHT + BACKEND_WEIGHT * costs.backends.length;
  }
  return weight;
}
