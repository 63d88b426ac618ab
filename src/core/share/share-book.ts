import { strategyOf } from '../convergence/compose.js';
import { createRound, type Round, type Strategy } from '../convergence/strategy.js';
import { nodeKeyOf } from '../ids.js';
import { invariant } from '../invariant.js';
import type { LaneState } from '../lane-state.js';
import type { AgreedPool } from '../pool/agreed-pool.js';
import { OwnClaims } from '../pool/own-claims.js';
import type { CoordinatorSettings, GroupSettings } from '../settings.js';
import type { TargetBook } from '../target/target-book.js';
import type { LogTime } from '../topic/log-time.js';
import type { LogReader } from '../usage-map/log-reader.js';
import type { Membership } from '../usage-map/membership.js';
import type { UsageMap } from '../usage-map/usage-map.js';
import { BYTES, DIMENSION_COUNT, MESSAGES, type NodeKey, type Rates, slotOf } from '../vocabulary.js';
import { allowanceOf } from './allowance.js';
import { shareDepth } from './burst.js';
import { isolatedShare } from './isolation.js';

/** What an update moved, as flags: an allowance may grow by what its share loses, and the limit stays. */
export const NOTHING_MOVED = 0;
export const SHARE_MOVED = 1;
export const LIMIT_MOVED = 2;

type ReadLog = Pick<LogReader, 'membership' | 'usageMap' | 'logTimes' | 'pool'>;

/**
 * From the usage map to limits: target → convergence → share → limit (share + allowance) and depth, for the lanes this
 * node serves.
 *
 * `target` and `computed` are functions of the log alone: every node that has read as far computes the same for all.
 * `applied` is what this node's limiter enforces: the computed share, or what isolation leaves of it.
 */
export class ShareBook {
  /** Per slot, units per second. */
  target: Float64Array;
  computed: Float64Array;
  applied: Float64Array;
  limit: Float64Array;
  depth: Float64Array;
  /** What this node has told of the pool and not read back. */
  readonly ownClaims = new OwnClaims();
  readonly #settings: CoordinatorSettings;
  readonly #nodeKey: NodeKey;
  readonly #pool: AgreedPool;
  readonly #membership: Membership;
  readonly #usageMap: UsageMap;
  readonly #logTimes: readonly LogTime[];
  readonly #targets: TargetBook;
  /** Per group: the settings that its strategy was put together from, and the strategy. */
  readonly #strategies: { readonly settings: GroupSettings; readonly strategy: Strategy }[] = [];
  #round: Round = createRound(16);

  constructor(settings: CoordinatorSettings, laneCount: number, log: ReadLog, targets: TargetBook) {
    const { membership, usageMap, logTimes, pool } = log;
    const slots = laneCount * DIMENSION_COUNT;
    this.target = new Float64Array(slots);
    this.computed = new Float64Array(slots);
    this.applied = new Float64Array(slots).fill(NOTHING_HELD);
    this.limit = new Float64Array(slots);
    this.depth = new Float64Array(slots);
    this.#settings = settings;
    this.#nodeKey = nodeKeyOf(settings.cluster, settings.nodeId);
    this.#pool = pool;
    this.#membership = membership;
    this.#usageMap = usageMap;
    this.#logTimes = logTimes;
    this.#targets = targets;
  }

  /** Makes room for at least as many lanes; what is there stays. Whoever keeps a column must fetch it again. */
  addLanes(laneCount: number): void {
    const slots = laneCount * DIMENSION_COUNT;
    const held = this.target.length;
    if (slots <= held) return;
    // Twice as many at once: 10,000 groups one by one would copy the columns 10,000 times.
    const roomy = Math.max(slots, 2 * held);
    for (const column of COLUMNS) {
      const larger = new Float64Array(roomy);
      larger.set(this[column]);
      this[column] = larger;
    }
    this.applied.fill(NOTHING_HELD, held);
  }

  strategyOf(group: number): Strategy {
    const settings = this.#settings.groups[group] as GroupSettings;
    const known = this.#strategies[group];
    if (known?.settings === settings) return known.strategy;
    const strategy = strategyOf(settings);
    this.#strategies[group] = { settings, strategy };
    return strategy;
  }

  /**
   * Computes a lane anew. Returns what moved.
   * @param own index of this node among the alive nodes; −1 when the log has given it up
   */
  update(lane: LaneState, own: number): number {
    const round = this.converge(lane.group, lane.direction, lane.mapLane);
    this.#targets.noteInto(lane, lane.settings, lane.direction);
    const first = round.moving.indexOf(1);
    const isWrapperMoving = first !== -1 && first < round.count;
    lane.isOwnMoving = isWrapperMoving && round.moving[own] === 1;
    lane.isMoving = isWrapperMoving || this.#targets.ramps.isMoving(lane.settings, lane.direction, lane.mapLane);
    let moved = NOTHING_MOVED;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) moved |= this.#apply(lane, round, dimension, own);
    return moved;
  }

  /** Shares of all alive nodes for a lane, in order of NodeKey. The round is scratch space: read it at once. */
  converge(group: number, direction: number, mapLane: number): Round {
    return this.#converge(this.#settings.groups[group] as GroupSettings, this.strategyOf(group), direction, mapLane);
  }

  /** The same for a group that is not like this, or not at all; what it has remembered stays untouched. */
  convergeAs(settings: GroupSettings, direction: number, mapLane: number): Round {
    return this.#converge(settings, strategyOf(settings), direction, mapLane);
  }

  #converge(settings: GroupSettings, strategy: Strategy, direction: number, mapLane: number): Round {
    const round = this.#gather(settings, strategy, direction, mapLane);
    if (settings.nodeCount > 0) round.divisor.fill(settings.nodeCount, 0, round.count);
    else if (strategy.agreesOnPool) this.#fillDivisors(round);
    if (round.count > 0) strategy.converge(round);
    return round;
  }

  #fillDivisors(round: Round): void {
    const { divisor } = this.#pool;
    this.#membership.alive.forEach(({ nodeKey }, at) => {
      const own = nodeKey === this.#nodeKey ? this.ownClaims.largest : 0;
      round.divisor[at] = this.#pool.isServed(nodeKey) ? Math.max(divisor, own) : Number.POSITIVE_INFINITY;
    });
  }

  /**
   * A lane is not served any more: used again during an outage it holds what the log says last, not what it was long
   * ago.
   */
  release(lane: number): void {
    this.applied.fill(NOTHING_HELD, slotOf(lane, 0), slotOf(lane + 1, 0));
  }

  /** Whether the applied share covers a demand. */
  isServed(lane: number, demand: Float64Array): boolean {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      if ((this.applied[slotOf(lane, dimension)] as number) < (demand[dimension] as number) * 0.999) return false;
    }
    return true;
  }

  /** Whether a usage is above the applied share in some dimension. */
  isExceededBy(lane: number, usage: Float64Array): boolean {
    return usage.some((rate, dimension) => rate > (this.applied[slotOf(lane, dimension)] as number));
  }

  /** The cluster's rates in force. */
  targetOf(lane: number): Rates {
    return [this.target[slotOf(lane, MESSAGES)] as number, this.target[slotOf(lane, BYTES)] as number];
  }

  /** What every node gets that wants it: target/N. */
  dueOf(lane: number, dimension: number): number {
    return (this.target[slotOf(lane, dimension)] as number) / Math.max(1, this.#membership.alive.length);
  }

  /** What a lane claims while its work is held back: its share, and at least its due. */
  claimInto(claim: Float64Array, { lane }: LaneState): void {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      claim[dimension] = Math.max(this.dueOf(lane, dimension), this.applied[slotOf(lane, dimension)] as number);
    }
  }

  /** The applied share as reports carry it: an unlimited dimension has none. */
  reportable(lane: number, dimension: number): number {
    const share = this.applied[slotOf(lane, dimension)] as number;
    return share === Number.POSITIVE_INFINITY ? 0 : share;
  }

  #gather(settings: GroupSettings, { remembers }: Strategy, direction: number, mapLane: number): Round {
    const alive = this.#membership.alive;
    if ((this.#round.weight.length as number) < alive.length) this.#round = createRound(alive.length * 2);
    const round = this.#round;
    round.count = alive.length;
    round.floorRatio = settings.floorRatio;
    this.#targets.ratesInto(round.target, settings, direction, mapLane);
    round.headroom = settings.headroom;
    round.moving.fill(0, 0, round.count);
    if (remembers) round.ageMs.fill(Number.POSITIVE_INFINITY, 0, round.count);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      (round.usage[dimension] as Float64Array).fill(0, 0, round.count);
      (round.demand[dimension] as Float64Array).fill(0, 0, round.count);
      if (remembers) (round.applied[dimension] as Float64Array).fill(0, 0, round.count);
    }
    round.weight.fill(1, 0, round.count);
    if (hasAny(settings.weights)) {
      for (let at = 0; at < round.count; at++) {
        round.weight[at] = settings.weights[(alive[at] as { nodeId: string }).nodeId] ?? 1;
      }
    }
    this.#fillRows(round, mapLane, remembers);
    return round;
  }

  #fillRows(round: Round, mapLane: number, remembers: boolean): void {
    const rows = this.#usageMap.rows;
    for (let row = this.#usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      const position = this.#membership.inSlot(rows.memberOf(row)).position;
      if (position === -1) continue;
      for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
        // One node reports a lane in one bucket; after it moved a group to another bucket both may be known for a
        // moment.
        keepLarger(round.usage[dimension] as Float64Array, position, rows.usageOf(row, dimension));
        keepLarger(round.demand[dimension] as Float64Array, position, rows.demandOf(row, dimension));
      }
      if (remembers) this.#fillMemory(round, row, position);
    }
  }

  #fillMemory(round: Round, row: number, position: number): void {
    const rows = this.#usageMap.rows;
    const logTime = this.#logTimes[rows.partitionOf(row)] as LogTime;
    round.ageMs[position] = Math.min(round.ageMs[position] as number, rows.ageMs(row, logTime.ms));
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      keepLarger(round.applied[dimension] as Float64Array, position, rows.shareOf(row, dimension));
    }
  }

  #apply(lane: LaneState, round: Round, dimension: number, own: number): number {
    const slot = slotOf(lane.lane, dimension);
    const target = round.target[dimension] as number;
    // A node that the log has given up divides by the pool that it was part of, not by what is left without it.
    const equalShare = target / (own === -1 ? round.count + 1 : round.count);
    const share = own === -1 ? 0 : ((round.share[dimension] as Float64Array)[own] as number);
    if (!(share >= 0)) invariant(false, 'a share must not be negative', { lane: lane.lane, dimension, share });
    this.target[slot] = target;
    this.computed[slot] = share;
    const before = this.applied[slot] as number;
    let applied = share;
    let allowance = 0;
    if (lane.link === 'linked') {
      // An agreed part follows no demand, so it has its headroom (0027); a window is all that a node may have.
      const isAll = lane.settings.limiter === 'window' || this.strategyOf(lane.group).agreesOnPool === true;
      if (own !== -1 && !isAll) allowance = allowanceOf(round, own, dimension, lane.settings.allowanceRatio);
    } else if (target !== Number.POSITIVE_INFINITY && target !== 0) {
      applied = this.#isolated(lane, slot, equalShare, own);
    }
    this.applied[slot] = applied;
    const isLimitMoved = this.#setLimit(lane, slot, dimension, applied + allowance, equalShare);
    return (applied === before ? NOTHING_MOVED : SHARE_MOVED) | (isLimitMoved ? LIMIT_MOVED : NOTHING_MOVED);
  }

  #setLimit(lane: LaneState, slot: number, dimension: number, limit: number, equalShare: number): boolean {
    const depth = this.#depthOf(lane, dimension, limit, equalShare);
    if (limit === this.limit[slot] && depth === this.depth[slot]) return false;
    this.limit[slot] = limit;
    this.depth[slot] = depth;
    return true;
  }

  /** A window's depth is all that it holds, and needs no minimum: it is burst enough. */
  #depthOf(lane: LaneState, dimension: number, limit: number, equalShare: number): number {
    if (limit === Number.POSITIVE_INFINITY) return limit;
    const { limiter, windowMs } = lane.settings;
    if (limiter === 'window') return (limit * windowMs) / 1000;
    const known = { pieceSize: pieceSize(lane, dimension), equalShare, hasDemand: lane.hasEntry };
    return shareDepth(limit, lane.settings, known);
  }

  /** What the log still says may lower a share while the echo is missing, never raise it. */
  #isolated(lane: LaneState, slot: number, equalShare: number, own: number): number {
    const { policy } = lane.settings.isolation;
    const floor = equalShare * lane.settings.floorRatio;
    const before = this.applied[slot] as number;
    const held = own === -1 ? before : Math.min(before, this.computed[slot] as number);
    return isolatedShare({ link: own === -1 ? 'fallback' : lane.link, policy, held, equalShare, floor });
  }
}

const COLUMNS = ['target', 'computed', 'applied', 'limit', 'depth'] as const;

/** The applied share of a lane that is not served: isolation takes the least of what was held and what the log says. */
const NOTHING_HELD = Number.POSITIVE_INFINITY;

/** Bytes per message as reported last; without a report one byte, so that only `burstMs` counts. */
function pieceSize(lane: LaneState, dimension: number): number {
  if (dimension === MESSAGES) return 1;
  const messages = lane.reported.demand[MESSAGES] as number;
  return messages > 0 ? Math.max(1, (lane.reported.demand[BYTES] as number) / messages) : 1;
}

function keepLarger(column: Float64Array, at: number, value: number): void {
  if (value > (column[at] as number)) column[at] = value;
}

/** Mostly there is none, and a look-up per node and lane is a fifth of a lane's time. */
function hasAny(weights: Readonly<Record<string, number>>): boolean {
  for (const _ in weights) return true;
  return false;
}
