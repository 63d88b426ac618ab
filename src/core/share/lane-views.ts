import type { GroupSettings } from '../base/settings.js';
import { DIMENSION_COUNT, type NodeKey } from '../base/vocabulary.js';
import { createLaneView, type LaneView, type Strategy } from '../convergence/strategy.js';
import type { LogTime } from '../log/log-time.js';
import type { AgreedPool } from '../pool/agreed-pool.js';
import type { OwnClaims } from '../pool/own-claims.js';
import type { LogReader } from '../reading/log-reader.js';
import type { TargetBook } from '../target/target-book.js';
import type { Membership } from '../usage-map/membership.js';
import type { UsageMap } from '../usage-map/usage-map.js';

/** Gathers what a strategy is given: the rows, weights and divisors of the alive nodes, and the rates in force. */
export class LaneViews {
  readonly #nodeKey: NodeKey;
  readonly #pool: AgreedPool;
  readonly #ownClaims: OwnClaims;
  readonly #membership: Membership;
  readonly #usageMap: UsageMap;
  readonly #logTimes: readonly LogTime[];
  readonly #targets: TargetBook;
  #view: LaneView = createLaneView(16);

  constructor(nodeKey: NodeKey, log: LaneLog, ownClaims: OwnClaims, targets: TargetBook) {
    this.#nodeKey = nodeKey;
    this.#pool = log.pool;
    this.#ownClaims = ownClaims;
    this.#membership = log.membership;
    this.#usageMap = log.usageMap;
    this.#logTimes = log.logTimes;
    this.#targets = targets;
  }

  /** Fills the view with what a strategy divides, and among which nodes. The view is reused: read it at once. */
  gather(settings: GroupSettings, strategy: Strategy, direction: number, mapLane: number): LaneView {
    const { remembers } = strategy;
    const alive = this.#membership.alive;
    if ((this.#view.weight.length as number) < alive.length) this.#view = createLaneView(alive.length * 2);
    const view = this.#view;
    view.count = alive.length;
    view.floorRatio = settings.floorRatio;
    this.#targets.ratesInto(view.target, settings, direction, mapLane);
    view.headroom = settings.headroom;
    view.minShareRatio = settings.minShareRatio;
    view.maxShareRatio = settings.maxShareRatio;
    view.isLent = strategy.agreesOnPool !== true;
    view.moving.fill(0, 0, view.count);
    if (remembers) view.ageMs.fill(Number.POSITIVE_INFINITY, 0, view.count);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      (view.usage[dimension] as Float64Array).fill(0, 0, view.count);
      (view.demand[dimension] as Float64Array).fill(0, 0, view.count);
      if (remembers) (view.applied[dimension] as Float64Array).fill(0, 0, view.count);
    }
    view.weight.fill(1, 0, view.count);
    if (hasAny(settings.weights)) {
      for (let at = 0; at < view.count; at++) {
        view.weight[at] = settings.weights[(alive[at] as { nodeId: string }).nodeId] ?? 1;
      }
    }
    const allTell = this.#fillRows(view, mapLane, remembers);
    view.sharesTokens = settings.sharing === 'tokens' && allTell;
    if (settings.nodeCount > 0) view.divisor.fill(settings.nodeCount, 0, view.count);
    else if (strategy.agreesOnPool) this.#fillDivisors(view, view.sharesTokens ? 0 : this.#ownClaims.largest);
    return view;
  }

  /** Returns whether all rows tell what they charge. */
  #fillRows(view: LaneView, mapLane: number, remembers: boolean): boolean {
    const rows = this.#usageMap.rows;
    let allTell = true;
    const { member } = rows.records;
    for (let row = this.#usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      const page = rows.pageOf(row);
      const start = rows.startOf(row);
      const { index } = this.#membership.inSlot(member[page.recordOf(start)] as number);
      if (index === -1) continue;
      if (!page.tellsChargeAt(start)) allTell = false;
      for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
        // A node reports a lane in one bundle. Just after it moved a group to another bundle, both may be known.
        keepLarger(view.usage[dimension] as Float64Array, index, page.usageOf(start, dimension));
        keepLarger(view.demand[dimension] as Float64Array, index, page.demandOf(start, dimension));
      }
      if (remembers) this.#fillMemory(view, row, index);
    }
    return allTell;
  }

  #fillMemory(view: LaneView, row: number, index: number): void {
    const rows = this.#usageMap.rows;
    const logTime = this.#logTimes[rows.partitionOf(row)] as LogTime;
    view.ageMs[index] = Math.min(view.ageMs[index] as number, rows.ageMs(row, logTime.ms));
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      keepLarger(view.applied[dimension] as Float64Array, index, rows.shareOf(row, dimension));
    }
  }

  /**
   * @param ownClaim what this node has claimed and not read back. It is no part of the log's prefix, and so no part of
   * what is expected of a node where tokens are shared: there the cluster's bucket bounds what all take together.
   */
  #fillDivisors(view: LaneView, ownClaim: number): void {
    const { divisor } = this.#pool;
    this.#membership.alive.forEach(({ nodeKey }, at) => {
      const own = nodeKey === this.#nodeKey ? ownClaim : 0;
      view.divisor[at] = this.#pool.isServed(nodeKey) ? Math.max(divisor, own) : Number.POSITIVE_INFINITY;
    });
  }
}

type LaneLog = Pick<LogReader, 'membership' | 'usageMap' | 'logTimes' | 'pool'>;

function keepLarger(column: Float64Array, at: number, value: number): void {
  if (value > (column[at] as number)) column[at] = value;
}

/** Most groups have no weights, and looking one up per node takes a fifth of a lane's time. */
function hasAny(weights: Readonly<Record<string, number>>): boolean {
  for (const _ in weights) return true;
  return false;
}
