import { groupIdOf } from '../../src/core/base/ids.js';
import { laneOf, MESSAGES, slotOf } from '../../src/core/base/vocabulary.js';
import type { SimulatedNode } from '../cluster/simulated-node.js';
import { GroupLedger } from './group-ledger.js';
import { OwnBucket } from './own-bucket.js';

/** What one process holds of each group (direction publish, dimension messages), as the oracle saw it last. */
export class ProcessRecord {
  readonly node: SimulatedNode;
  /** Short name for reports: node id and the number of its process. */
  readonly name: string;
  isServing = false;
  readonly share: Float64Array;
  readonly limit: Float64Array;
  readonly depth: Float64Array;
  /** Per group: whether the process hears itself in a log that says everything, so that its share follows the log. */
  readonly isLinked: boolean[];
  readonly isServed: boolean[];
  /** Per group: what the process may admit by its own limits. */
  readonly ledgers: readonly GroupLedger[];
  /** Per group: what the process holds at least, of what its limits have brought since it was whole. */
  readonly buckets: readonly OwnBucket[];
  /** Log time of the membership partition when the process had caught up; null before. */
  caughtUpLogMs: number | null = null;
  /**
   * Whether it has not read the agreement on a pool by which the members are served now: it began with a compacted log,
   * or it has ignored the older life of a running process. It knows whom the pool serves from the next agreement on.
   */
  hasPoolOfItsOwn: boolean;

  constructor(node: SimulatedNode, name: string, groups: number) {
    this.node = node;
    this.name = name;
    this.hasPoolOfItsOwn = node.beganCompacted;
    this.share = new Float64Array(groups);
    this.limit = new Float64Array(groups);
    this.depth = new Float64Array(groups);
    this.isLinked = new Array<boolean>(groups).fill(true);
    this.ledgers = Array.from({ length: groups }, () => new GroupLedger());
    this.buckets = Array.from({ length: groups }, () => new OwnBucket());
    this.isServed = new Array<boolean>(groups).fill(false);
  }

  /** Is true while it reads itself as a member of all partitions. */
  get isMember(): boolean {
    const { membership, nodeKey, log } = this.node.coordinator;
    return log.logTimes.every((_, partition) => membership.indexOf(nodeKey, partition) !== -1);
  }

  /** The keys of the members that share a group, as far as it has read itself. */
  membersOf(group: number): number[] {
    const { coordinator } = this.node;
    const { cluster, groups } = coordinator.settings;
    return coordinator.aliveFor(groupIdOf(cluster, groups[group].name)).members.map(({ nodeKey }) => nodeKey);
  }

  /** Reads what the process holds of a group now. */
  look(group: number): void {
    const { coordinator } = this.node;
    const state = this.isServing ? coordinator.lanes.get(laneOf(group, 0)) : undefined;
    const slot = slotOf(laneOf(group, 0), MESSAGES);
    this.isServed[group] = state !== undefined;
    this.isLinked[group] = state === undefined || (state.link === 'linked' && !coordinator.log.epochs.isHolding);
    this.share[group] = state === undefined ? 0 : coordinator.shares.applied[slot];
    this.limit[group] = state === undefined ? 0 : coordinator.shares.limit[slot];
    this.depth[group] = state === undefined ? 0 : coordinator.shares.depth[slot];
  }
}
