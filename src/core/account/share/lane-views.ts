import { hasClusterBucket } from '../../base/local-gate.js';
import type { GroupSettings } from '../../base/settings.js';
import { DIMENSION_COUNT, type NodeKey } from '../../base/vocabulary.js';
import {
  createLaneView,
  type LaneView,
  participantOf,
  type Strategy,
  shareOfEach,
} from '../../convergence/strategy.js';
import type { LogReader } from '../../log/reading/log-reader.js';
import type { SharedLane, TargetBook } from '../../target/target-book.js';
import type { AliveMembers } from '../../usage-map/alive-members.js';
import type { OwnClaims } from '../../usage-map/pool/own-claims.js';
import { LaneMembers } from './lane-members.js';

/** Gathers a strategy's inputs: rows, weights and divisors of the alive nodes, and the rates in force. */
export class LaneViews {
  readonly #nodeKey: NodeKey;
  readonly #log: LaneLog;
  /** By partition. */
  readonly #ownClaims: readonly OwnClaims[];
  readonly #targets: TargetBook;
  readonly #members = new LaneMembers();
  #view: LaneView = createLaneView(16);
  #perNode: LaneView = createLaneView(16);

  constructor(nodeKey: NodeKey, log: LaneLog, ownClaims: readonly OwnClaims[], targets: TargetBook) {
    this.#nodeKey = nodeKey;
    this.#log = log;
    this.#ownClaims = ownClaims;
    this.#targets = targets;
  }

  /**
   * Fills the view for a strategy. The view is reused: read it at once.
   *
   * *Why:* a lane has rows of few nodes. If each of the others took part by itself, the cost of a record would grow
   * with the cluster.
   */
  gather(settings: GroupSettings, strategy: Strategy, lane: SharedLane): LaneView {
    const { mapLane, partition } = lane;
    const remembers = strategy.remembers === true;
    const alive = this.#log.membership.on(partition);
    const members = this.#members;
    members.begin(alive.count);
    this.#listRows(mapLane, alive);
    // Claims to the pool and weights belong to single nodes.
    if (strategy.agreesOnPool) members.listAll();
    else if (hasAny(settings.weights)) this.#listWeights(settings.weights, alive);
    members.order();
    if (this.#view.weight.length <= members.count) this.#view = createLaneView(2 * (members.count + 1));
    const view = this.#view;
    const { count } = members;
    const rest = alive.count - count;
    view.count = rest > 0 ? count + 1 : count;
    view.floorRatio = settings.floorRatio;
    this.#targets.ratesInto(view.target, settings, lane);
    view.headroom = settings.headroom;
    view.minShareRatio = settings.minShareRatio;
    view.maxShareRatio = settings.maxShareRatio;
    view.isLent = strategy.agreesOnPool !== true;
    const isBounded = remembers || settings.minShareRatio > 0 || settings.maxShareRatio < 1;
    view.meetsAll = strategy.meetsAll === true && !isBounded;
    view.moving.fill(0, 0, view.count);
    this.#fillNodes(view, rest, remembers);
    if (hasAny(settings.weights)) this.#fillWeights(view, settings.weights, alive);
    this.#fillRows(view, remembers);
    if (settings.nodeCount > 0) view.divisor.fill(settings.nodeCount, 0, view.count);
    else if (strategy.agreesOnPool) this.#fillDivisors(view, partition, hasClusterBucket(settings));
    return view;
  }

  /** Copies the view to one participant per alive node, in their order. */
  perNode(view: LaneView, partition: number): LaneView {
    const length = this.#log.membership.on(partition).count;
    if (this.#perNode.weight.length < length) this.#perNode = createLaneView(length * 2);
    const all = this.#perNode;
    all.count = length;
    all.target.set(view.target);
    const { floorRatio, headroom, minShareRatio, maxShareRatio, isLent } = view;
    Object.assign(all, { floorRatio, headroom, minShareRatio, maxShareRatio, isLent });
    for (let index = 0; index < length; index++) {
      const at = participantOf(view, index);
      all.weight[index] = view.weight[at] / view.nodes[at];
      all.divisor[index] = view.divisor[at]!;
      all.ageMs[index] = view.ageMs[at]!;
      all.moving[index] = view.moving[at]!;
      for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
        all.usage[dimension][index] = view.usage[dimension][at]!;
        all.demand[dimension][index] = view.demand[dimension][at]!;
        all.applied[dimension][index] = view.applied[dimension][at]!;
        all.share[dimension][index] = shareOfEach(view, at, dimension);
      }
    }
    return all;
  }

  /** @param rest nodes that the last participant stands for; 0 = there is none */
  #fillNodes(view: LaneView, rest: number, remembers: boolean): void {
    const { count } = this.#members;
    view.nodes.fill(1, 0, count);
    view.weight.fill(1, 0, count);
    for (let at = 0; at < count; at++) view.node[at] = this.#members.at(at);
    if (rest === 0) return;
    view.nodes[count] = rest;
    view.weight[count] = rest;
    view.node[count] = NOT_LISTED;
    clearParticipant(view, count, remembers);
  }

  #fillWeights(view: LaneView, weights: Readonly<Record<string, number>>, { members }: AliveMembers): void {
    for (let at = 0; at < this.#members.count; at++) view.weight[at] = weights[members[view.node[at]].nodeId] ?? 1;
  }

  #listRows(mapLane: number, alive: AliveMembers): void {
    const { usageMap } = this.#log;
    const { rows } = usageMap;
    const { member } = rows.records;
    for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      const record = rows.pageOf(row).recordOf(rows.startOf(row));
      const index = alive.indexOf(member[record]);
      if (index !== -1) this.#members.list(index, row);
    }
  }

  /** Lists nodes with weights by reading all: few groups have any. */
  #listWeights(weights: Readonly<Record<string, number>>, { members }: AliveMembers): void {
    members.forEach(({ nodeId }, index) => {
      if (weights[nodeId] !== undefined) this.#members.list(index, NO_ROW);
    });
  }

  #fillRows(view: LaneView, remembers: boolean): void {
    const members = this.#members;
    view.leastStock.fill(Infinity);
    for (let at = 0; at < members.count; at++) {
      clearParticipant(view, at, remembers);
      // A node reports a lane in one bundle. Just after it moved a group to another bundle, both may have been read.
      for (let listed = members.firstOf(at); listed !== -1; listed = members.nextOf(listed)) {
        this.#fillRow(view, at, members.rowOf(listed), remembers);
      }
    }
  }

  #fillRow(view: LaneView, at: number, row: number, remembers: boolean): void {
    if (row === NO_ROW) return;
    const rows = this.#log.usageMap.rows;
    const page = rows.pageOf(row);
    const start = rows.startOf(row);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      keepLarger(view.usage[dimension], at, page.usageOf(start, dimension));
      keepLarger(view.demand[dimension], at, page.demandOf(start, dimension));
      const stock = page.stockOf(start, dimension);
      if (stock < view.leastStock[dimension]) view.leastStock[dimension] = stock;
    }
    if (remembers) this.#fillMemory(view, row, at);
  }

  #fillMemory(view: LaneView, row: number, at: number): void {
    const rows = this.#log.usageMap.rows;
    const logTime = this.#log.logTimes[rows.partitionOf(row)];
    view.ageMs[at] = Math.min(view.ageMs[at], rows.ageMs(row, logTime.ms));
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      keepLarger(view.applied[dimension], at, rows.shareOf(row, dimension));
    }
  }

  /**
   * Fills in each node's divisor. A claim of this node that it has not read back is no part of the log's prefix, and so
   * no part of the expected use of a cluster's bucket, which bounds all nodes together.
   */
  #fillDivisors(view: LaneView, partition: number, hasBucket: boolean): void {
    const pool = this.#log.pools[partition];
    const ownClaim = hasBucket ? 0 : this.#ownClaims[partition].largest;
    this.#log.membership.on(partition).members.forEach(({ nodeKey }, at) => {
      const own = nodeKey === this.#nodeKey ? ownClaim : 0;
      view.divisor[at] = pool.isServed(nodeKey) ? Math.max(pool.divisor, own) : Infinity;
    });
  }
}

type LaneLog = Pick<LogReader, 'membership' | 'usageMap' | 'logTimes' | 'pools'>;

const NOT_LISTED = -1;
const NO_ROW = -1;

/** Sets a participant to no demand and no usage. */
function clearParticipant(view: LaneView, at: number, remembers: boolean): void {
  if (remembers) view.ageMs[at] = Infinity;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    view.usage[dimension][at] = 0;
    view.demand[dimension][at] = 0;
    if (remembers) view.applied[dimension][at] = 0;
  }
}

function keepLarger(column: Float64Array, at: number, value: number): void {
  if (value > column[at]) column[at] = value;
}

/** Tests for weights: most groups have none, and a lookup per node takes a fifth of a lane's time. */
function hasAny(weights: Readonly<Record<string, number>>): boolean {
  for (const _ in weights) return true;
  return false;
}
