import type { ReportRow } from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import { DIRECTION_COUNT } from '../base/vocabulary.js';
import { COST_WEIGHT_ROWS, MAP_PARTITIONS_MAX, RECORD_GROUPS_MAX } from './constants.js';

export type RowBoundsSettings = Pick<CoordinatorSettings, 'partitions' | 'maxRows' | 'maxGroupsPerNode'>;
export type RowVerdict = 'applied' | 'too-many-groups' | 'too-many-rows';

const ROWS_PER_RECORD_MAX = RECORD_GROUPS_MAX * DIRECTION_COUNT;
/** Groups that a node's partly filled bundles may lack: one such bundle per partition. */
const NOT_FULL_GROUPS = MAP_PARTITIONS_MAX * RECORD_GROUPS_MAX;

/**
 * Bounds the reports of nodes, so that no writer fills others' memory.
 *
 * The bound per node is a rule for each record by itself: a node opens bundle b when b others are full, so if its
 * records hold g groups each, it has at least b × g groups in use. All nodes refuse the same, whatever else they have
 * read.
 *
 * The bound for all nodes together holds for each partition, in the order of its log: readers that began with the same
 * record refuse the same. A newcomer to the compacted log may find room where others found none. They differ until the
 * refused record is written again, as its node does every five seconds.
 */
export class RowBounds {
  readonly #groupsPerNode: number;
  readonly #rowsPerPartition: number;
  readonly #used: Float64Array;

  constructor({ partitions, maxRows, maxGroupsPerNode }: RowBoundsSettings) {
    this.#groupsPerNode = (maxGroupsPerNode ?? Infinity) + NOT_FULL_GROUPS;
    this.#rowsPerPartition = Math.floor((maxRows ?? Infinity) / partitions);
    this.#used = new Float64Array(partitions);
  }

  /** Tests if a bundle with this number may hold a group. */
  hasBundle(bundle: number): boolean {
    return bundle < this.#groupsPerNode;
  }

  /** @param known weight of the replaced record; 0 = none */
  judge(partition: number, bundle: number, rows: readonly ReportRow[], known: number): RowVerdict {
    const groups = Math.ceil(rows.length / 2);
    if (rows.length > ROWS_PER_RECORD_MAX || bundle * groups >= this.#groupsPerNode) return 'too-many-groups';
    const weight = weightOf(rows);
    const after = this.#used[partition] - known + weight;
    return weight <= known || after <= this.#rowsPerPartition ? 'applied' : 'too-many-rows';
  }

  /** Adds the weight by which a record exceeds the replaced one. */
  add(partition: number, weight: number): void {
    this.#used[partition] = this.#used[partition] + weight;
  }
}

/** Computes the weight of a record in rows; the record itself counts as one. */
export function weightOf(rows: readonly ReportRow[]): number {
  let weight = 1 + rows.length;
  for (const { costs } of rows) {
    if (costs !== undefined) weight += COST_WEIGHT_ROWS * (1 + costs.backends.length);
  }
  return weight;
}
