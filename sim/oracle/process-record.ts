import { type GroupId, laneOf, MESSAGES, type NodeKey, slotOf } from '../../src/core/base/vocabulary.js';
import type { SimulatedNode } from '../cluster/simulated-node.js';
import { GroupLedger } from './group-ledger.js';
import { OwnBucket } from './own-bucket.js';

export class ProcessRecord {
  readonly node: SimulatedNode;
  /** Node id and number of its process, for reports. */
  readonly name: string;
  isServing = false;
  /** Messages per second of its share, which is its limit, per group. */
  readonly share: Float64Array;
  readonly depth: Float64Array;
  /** Per group: true = it reads itself in a complete log. */
  readonly isLinked: boolean[];
  readonly isServed: boolean[];
  /** Admissions by its own limits, per group. */
  readonly ledgers: readonly GroupLedger[];
  /** Least tokens since it was whole, per group. */
  readonly buckets: readonly OwnBucket[];
  /** Log time of catching up on the membership partition; null = not yet. */
  caughtUpLogMs: number | null = null;
  /** True = it has not read the agreed pool, until the next. Its log was compacted, or an older life ignored. */
  hasPoolOfItsOwn: boolean;
  /** True = it has had a view of its own. */
  stoodApart = false;
  /** Buckets in which it differs from who has read the same. It once stood apart. */
  readonly tokensOfItsOwn = new Set<GroupId>();

  constructor(node: SimulatedNode, name: string, groups: number) {
    this.node = node;
    this.name = name;
    this.hasPoolOfItsOwn = node.beganCompacted;
    this.share = new Float64Array(groups);
    this.depth = new Float64Array(groups);
    this.isLinked = new Array<boolean>(groups).fill(true);
    this.ledgers = Array.from({ length: groups }, () => new GroupLedger());
    this.buckets = Array.from({ length: groups }, () => new OwnBucket());
    this.isServed = new Array<boolean>(groups).fill(false);
  }

  /** True = it reads itself as a member of all partitions. */
  get isMember(): boolean {
    const { membership, nodeKey, log } = this.node.coordinator;
    for (let partition = 0; partition < log.logTimes.length; partition++) {
      if (membership.indexOf(nodeKey, partition) === -1) return false;
    }
    return true;
  }

  /** Lists members sharing a group, by its own reading. */
  membersOf(group: number): readonly { readonly nodeKey: NodeKey }[] {
    const { coordinator } = this.node;
    return coordinator.aliveFor(coordinator.groupIdOf(group)).members;
  }

  /** Reads a group's state now. */
  look(group: number): void {
    const { coordinator } = this.node;
    const state = this.isServing ? coordinator.lanes.get(laneOf(group, 0)) : undefined;
    const slot = slotOf(laneOf(group, 0), MESSAGES);
    this.isServed[group] = state !== undefined;
    this.isLinked[group] = state === undefined || (state.link === 'linked' && !coordinator.log.epochs.isHolding);
    this.share[group] = state === undefined ? 0 : coordinator.shares.applied[slot];
    this.depth[group] = state === undefined ? 0 : coordinator.shares.depth[slot];
  }
}
