import { grown } from '../../base/grown.js';
import { nodeKeyOf } from '../../base/ids.js';
import { invariant } from '../../base/invariant.js';
import type { CoordinatorSettings, GroupSettings } from '../../base/settings.js';
import {
  BYTES,
  DIMENSION_COUNT,
  DIRECTIONS,
  type LaneUnits,
  MEMBERSHIP_PARTITION,
  MESSAGES,
  type NodeKey,
  type Rates,
  slotOf,
} from '../../base/vocabulary.js';
import { strategyOf } from '../../convergence/compose.js';
import { type LaneView, nodesIn, participantOf, type Strategy, shareOfEach } from '../../convergence/strategy.js';
import { shareDepth } from '../../limiter/burst.js';
import type { LogReader } from '../../log/reading/log-reader.js';
import { rampTop } from '../../target/ramp/ramp-of.js';
import type { SharedLane, TargetBook } from '../../target/target-book.js';
import { OwnClaims } from '../../usage-map/pool/own-claims.js';
import { burstOnRamp } from '../cluster-depth.js';
import { AT_REST_MS } from '../constants.js';
import type { LaneTokens } from '../lane-tokens.js';
import { isolatedShare } from '../lanes/isolation.js';
import type { LaneState } from '../lanes/lane-state.js';
import { LEAST_SHARE_SPANS } from '../lanes/least-share.js';
import { LaneViews } from './lane-views.js';
import { unsettledShare } from './unsettled-share.js';

type ReadLog = Pick<LogReader, 'membership' | 'usageMap' | 'logTimes' | 'pools' | 'epochs'>;

/**
 * Computes limits from the usage map for the served lanes: target → convergence → share (the limit) and depth.
 *
 * `target` and `computed` are functions of the log alone: every node that has read as far computes the same for all.
 * `applied` is the limit in force at this node: the computed share, or the part of it that isolation leaves.
 */
export class ShareBook {
  /** Per slot, units per second. */
  target: Float64Array;
  computed: Float64Array;
  applied: Float64Array;
  depth: Float64Array;
  /** Participants read so far to divide lanes: the cost of records beyond their own rows. */
  looks = 0;
  /** By partition, this node's claims to the pool not read back. */
  readonly ownClaims: readonly OwnClaims[];
  readonly #nodeKey: NodeKey;
  readonly #settings: CoordinatorSettings;
  readonly #log: ReadLog;
  readonly #inputs: LaneViews;
  /** The span of local time of the present update (least-share.ts). */
  #span = 0;
  readonly #targets: TargetBook;
  readonly #strategies: { readonly settings: GroupSettings; readonly strategy: Strategy }[] = [];

  constructor(settings: CoordinatorSettings, laneCount: number, log: ReadLog, targets: TargetBook) {
    const slots = laneCount * DIMENSION_COUNT;
    this.target = new Float64Array(slots);
    this.computed = new Float64Array(slots);
    this.applied = new Float64Array(slots).fill(NOTHING_HELD);
    this.depth = new Float64Array(slots);
    this.#settings = settings;
    this.#log = log;
    this.#targets = targets;
    this.#nodeKey = nodeKeyOf(settings.cluster, settings.nodeId);
    this.ownClaims = log.pools.map(() => new OwnClaims());
    this.#inputs = new LaneViews(this.#nodeKey, log, this.ownClaims, targets);
  }

  /** Makes room for this many lanes. The columns are replaced, so callers must not keep them. */
  addLanes(laneCount: number): void {
    const slots = laneCount * DIMENSION_COUNT;
    const held = this.target.length;
    if (slots <= held) return;
    // Grows by a factor of two: 10,000 groups that come one by one would otherwise copy the columns 10,000 times.
    const roomy = Math.max(slots, 2 * held);
    for (const column of COLUMNS) this[column] = grown(this[column], roomy);
    this.applied.fill(NOTHING_HELD, held);
  }

  strategyOf(group: number): Strategy {
    const settings = this.#settings.groups[group];
    const known = this.#strategies[group];
    if (known?.settings === settings) return known.strategy;
    const strategy = strategyOf(settings);
    this.#strategies[group] = { settings, strategy };
    return strategy;
  }

  /**
   * Computes a lane anew. Returns true if a share or a depth moved.
   * @param own index of this node among the alive nodes; −1 when the log has given it up
   * @param nowMs local monotonic time
   */
  update(lane: LaneState, own: number, nowMs: number): boolean {
    this.#span = this.#spanOf(lane, nowMs);
    const view = this.#converge(this.#settings.groups[lane.group], this.strategyOf(lane.group), lane);
    const at = participantOf(view, own);
    // Most often they have been viewed by the same rows when the record was read.
    if (lane.tokens?.isCurrent === false) this.#readInto(lane.tokens, view, lane, at);
    this.#targets.noteInto(lane, lane.settings, lane.direction);
    const first = view.moving.indexOf(1);
    const isWrapperMoving = first !== -1 && first < view.count;
    lane.isOwnMoving = isWrapperMoving && view.moving[at] === 1;
    lane.isMoving =
      isWrapperMoving || this.#targets.ramps[lane.partition].isMoving(lane.settings, lane.direction, lane.mapLane);
    let isMoved = false;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      if (this.#apply(lane, view, dimension, at)) isMoved = true;
    }
    return isMoved;
  }

  /** Computes all alive nodes' shares of a lane, in order of NodeKey. The view is scratch space: read it at once. */
  converge(group: number, lane: SharedLane): LaneView {
    return this.#perNode(this.#settings.groups[group], this.strategyOf(group), lane);
  }

  /** Computes a preview by other settings; the strategy in force keeps its memory. */
  convergeAs(settings: GroupSettings, lane: SharedLane): LaneView {
    return this.#perNode(settings, strategyOf(settings), lane);
  }

  #perNode(settings: GroupSettings, strategy: Strategy, lane: SharedLane): LaneView {
    return this.#inputs.perNode(this.#converge(settings, strategy, lane), lane.partition);
  }

  /** Reads the inputs of the strategy into a lane's tokens. */
  viewTokens(tokens: LaneTokens, lane: LaneOfMap): void {
    const view = this.#converge(this.#settings.groups[lane.group], this.strategyOf(lane.group), lane);
    const own = this.#log.membership.indexOf(this.#nodeKey, lane.partition);
    this.#readInto(tokens, view, lane, participantOf(view, own));
  }

  /** @param own this node's participant; −1 = the log has given it up */
  #readInto(tokens: LaneTokens, view: LaneView, { group, direction, partition }: LaneOfMap, own: number): void {
    const settings = this.#settings.groups[group];
    const { burst, debtMs } = settings;
    const whole = { burst, debtMs, direction };
    const rule = burstOnRamp(whole, view.target[MESSAGES], rampTop(settings, direction));
    tokens.countCosts(this.#targets.costPerMessage(view.target[MESSAGES]));
    tokens.view(view, { alive: this.#log.membership.on(partition).members, own }, rule);
  }

  #converge(settings: GroupSettings, strategy: Strategy, lane: SharedLane): LaneView {
    const view = this.#inputs.gather(settings, strategy, lane);
    this.looks += view.count;
    if (view.count > 0) strategy.converge(view);
    return view;
  }

  /** Ends a lane's share: if used again during an outage, it holds the log's last one, not an old one. */
  release(lane: number): void {
    this.applied.fill(NOTHING_HELD, slotOf(lane, 0), slotOf(lane + 1, 0));
  }

  /** Tests if the applied share covers a demand. */
  isServed(lane: number, demand: Readonly<LaneUnits>): boolean {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      if (this.applied[slotOf(lane, dimension)] < demand[dimension] * 0.999) return false;
    }
    return true;
  }

  /**
   * Computes a node's use of a demand at the applied shares. Work that one dimension refuses uses nothing of the other.
   */
  takenInto(out: LaneUnits, lane: number, demand: Readonly<LaneUnits>): void {
    let part = 1;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const wanted = demand[dimension];
      if (wanted > 0) part = Math.min(part, this.applied[slotOf(lane, dimension)] / wanted);
    }
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) out[dimension] = part * demand[dimension];
  }

  targetOf(lane: number): Rates {
    return [this.target[slotOf(lane, MESSAGES)], this.target[slotOf(lane, BYTES)]];
  }

  /** The share that any node gets on demand: target/N. */
  dueOf({ lane, partition }: Pick<LaneState, 'lane' | 'partition'>, dimension: number): number {
    const { membership, epochs } = this.#log;
    return this.target[slotOf(lane, dimension)] / Math.max(1, membership.on(partition).count, epochs.nodesAtLeast);
  }

  /** Computes a lane's claim while its work is held back: its share, at least its due. */
  claimInto(claim: LaneUnits, lane: LaneState): void {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      claim[dimension] = Math.max(this.dueOf(lane, dimension), this.applied[slotOf(lane.lane, dimension)]);
    }
  }

  /** The applied share for reports; 0 for an unlimited dimension. */
  reportable(lane: number, dimension: number): number {
    const share = this.applied[slotOf(lane, dimension)];
    return share === Infinity ? 0 : share;
  }

  /**
   * Returns the number of the span of local time (least-share.ts). A node notices that the topic is gone after
   * `isolationAfterMs` without its echo. Another node that counted as linked may have been behind by as much when the
   * topic went. The three whole spans together cover both times, the slower heartbeat of other partitions, and some
   * rounds.
   */
  #spanOf({ partition }: LaneState, nowMs: number): number {
    const { isolationAfterMs, partitionHeartbeatMs } = this.#settings;
    const slowerBeatMs = partition === MEMBERSHIP_PARTITION ? 0 : partitionHeartbeatMs;
    return Math.floor((nowMs / (2 * isolationAfterMs + slowerBeatMs + AT_REST_MS)) * (LEAST_SHARE_SPANS - 1));
  }

  #apply(lane: LaneState, view: LaneView, dimension: number, own: number): boolean {
    const slot = slotOf(lane.lane, dimension);
    const target = view.target[dimension];
    // A node that the log has given up divides by the pool that it was part of, not by the pool without it.
    const alive = nodesIn(view);
    const nodes = Math.max(own === -1 ? alive + 1 : alive, this.#log.epochs.nodesAtLeast);
    const equalShare = target / nodes;
    const share = own === -1 ? 0 : shareOfEach(view, own, dimension);
    if (!(share >= 0)) invariant(false, 'a share must not be negative', { lane: lane.lane, dimension, share });
    this.target[slot] = target;
    this.computed[slot] = share;
    const before = this.applied[slot];
    let applied = share;
    if (this.#log.epochs.isHolding && lane.link !== 'fallback') {
      applied = this.#unsettled(lane, slot, equalShare, nodes, own);
    } else if (lane.link !== 'linked' && target !== Infinity && target !== 0) {
      applied = this.#isolated(lane, slot, equalShare, own);
    }
    this.applied[slot] = applied;
    lane.least.note(dimension, before, applied, this.#span);
    const depth = this.#depthOf(lane, dimension, applied, equalShare);
    const isMoved = applied !== before || depth !== this.depth[slot];
    this.depth[slot] = depth;
    return isMoved;
  }

  /** Computes the share while the new log is incomplete. */
  #unsettled(lane: LaneState, slot: number, equalShare: number, nodes: number, own: number): number {
    const { epochs, pools } = this.#log;
    // A log that went away before it had this node has no share for it; that does not mean a share of 0.
    const isAway = own === -1 && lane.link !== 'linked';
    const [target, computed] = [this.target[slot], this.computed[slot]];
    return unsettledShare({
      held: this.applied[slot],
      floor: equalShare * lane.settings.floorRatio,
      computed,
      target,
      quota: lane.settings.quota[DIRECTIONS[lane.direction]][slot % DIMENSION_COUNT],
      pool: this.strategyOf(lane.group).agreesOnPool ? Math.max(pools[lane.partition].divisor, nodes) : null,
      keepsShares: epochs.keepsShares,
      isOwnRead: epochs.isOwnRead && !isAway,
    });
  }

  /** Computes a depth; that of a window is all its tokens. It needs no minimum: a whole window may be used at once. */
  #depthOf(lane: LaneState, dimension: number, limit: number, equalShare: number): number {
    if (limit === Infinity) return limit;
    const { limiter, windowMs } = lane.settings;
    if (limiter === 'window') return (limit * windowMs) / 1000;
    const known = { pieceSize: pieceSize(lane, dimension), equalShare, hasDemand: lane.entry.isOpen };
    return shareDepth(limit, known);
  }

  /** Computes the share while the echo is missing: records may only lower it. */
  #isolated(lane: LaneState, slot: number, equalShare: number, own: number): number {
    const { policy } = lane.settings.isolation;
    const floor = equalShare * lane.settings.floorRatio;
    const before = lane.least.of(slot % DIMENSION_COUNT, this.applied[slot], this.#span);
    const held = own === -1 ? before : Math.min(before, this.computed[slot]);
    return isolatedShare({ link: own === -1 ? 'fallback' : lane.link, policy, held, equalShare, floor });
  }
}

/** A lane by its group and by the usage map's number. */
type LaneOfMap = SharedLane & Pick<LaneState, 'group'>;

const COLUMNS = ['target', 'computed', 'applied', 'depth'] as const;

/** The applied share of an unserved lane: isolation takes the least of it and the log's. */
const NOTHING_HELD = Infinity;

/** Bytes per message as reported last; 1 without a report, so that only the time of the limit counts. */
function pieceSize(lane: LaneState, dimension: number): number {
  if (dimension === MESSAGES) return 1;
  const messages = lane.reported.demand[MESSAGES];
  return messages > 0 ? Math.max(1, lane.reported.demand[BYTES] / messages) : 1;
}
