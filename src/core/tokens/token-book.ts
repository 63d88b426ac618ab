import type { GroupSettings } from '../base/settings.js';
import { DIMENSION_COUNT, type GroupId, slotOf } from '../base/vocabulary.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { LaneTable } from '../lanes/lane-table.js';
import type { Limiter } from '../limiter/limiter.js';
import type { LogTime } from '../log/log-time.js';
import type { LogReader } from '../reading/log-reader.js';
import type { ShareBook } from '../share/share-book.js';
import type { Membership } from '../usage-map/membership.js';
import { partitionOf, type ReportRow } from '../protocol/record.js';
import type { NodeKey } from '../base/vocabulary.js';
import type { ChargeReader, UsageMap } from '../usage-map/usage-map.js';
import { LaneTokens } from './lane-tokens.js';

/** A rate of 0 would block a lane; this is a token in thirty years. */
const LEAST_RATE = 1e-9;
const RESET = -(2 ** 50);

export interface TokenBookParts {
  readonly nodeKey: NodeKey;
  readonly limiter: Limiter;
  readonly table: LaneTable;
  readonly log: LogReader;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly shares: ShareBook;
}

interface FollowedLane {
  readonly tokens: LaneTokens;
  readonly mapLane: number;
  readonly group: number;
  readonly direction: number;
  readonly partition: number;
}

/** Follows the cluster's buckets of the lanes that this node serves, and turns them into limits. */
export class TokenBook implements ChargeReader {
  readonly #parts: TokenBookParts;
  /** By the usage map's number: lanes whose buckets are not known to be full, and those that this node serves. */
  readonly #lanes = new Map<number, FollowedLane>();
  /** Per partition, log time: buckets that were not followed were empty then, as far as this node knows. */
  readonly #beganLogMs: Float64Array;
  readonly #taken = new Float64Array(DIMENSION_COUNT);

  constructor(parts: TokenBookParts) {
    this.#parts = parts;
    this.#beganLogMs = new Float64Array(parts.log.logTimes.length).fill(Number.NaN);
  }

  get isDeciding(): boolean {
    return !Number.isNaN(this.#beganLogMs[0]);
  }

  /** Called when the node begins to decide, or another log begins: what was not read begins empty. */
  beginAll(nowMs: number): void {
    this.#parts.log.logTimes.forEach(({ ms }, partition) => {
      this.#beganLogMs[partition] = ms;
    });
    this.#lanes.clear();
    for (const lane of this.#parts.table.ordered) this.begin(lane, nowMs);
  }

  has(mapLane: number): boolean {
    return this.#lanes.has(mapLane);
  }

  /** Called when a lane is served from now on, or has other settings. */
  begin(lane: LaneState, nowMs: number): void {
    const followed = this.#follow(lane.mapLane, lane.groupId, lane.direction);
    lane.tokens = followed?.tokens ?? null;
    if (lane.tokens === null) return;
    this.#countTaken(lane);
    lane.tokens.begin(nowMs);
  }

  settle(mapLane: number, groupId: GroupId, direction: number, logMs: number): void {
    const lane = this.#lanes.get(mapLane) ?? (this.isDeciding ? this.#follow(mapLane, groupId, direction) : null);
    if (lane === null) return;
    this.#settle(lane, logMs);
    lane.tokens.isCurrent = false;
  }

  /** Rows of the lane have gone, or count again. */
  rowsChanged(mapLane: number): void {
    const lane = this.#lanes.get(mapLane);
    if (lane === undefined || !lane.tokens.isCurrent) return;
    lane.tokens.settle(this.#logMs(lane.partition));
    lane.tokens.isCurrent = false;
  }

  groupChanged(group: number, nowMs: number): void {
    for (const [mapLane, lane] of this.#lanes) {
      if (lane.group !== group) continue;
      this.rowsChanged(mapLane);
      if (!this.#sharesTokens(group)) this.#lanes.delete(mapLane);
    }
    for (const lane of this.#parts.table.lanesOf(group)) {
      if (lane.tokens === null || !this.#sharesTokens(group)) this.begin(lane, nowMs);
    }
  }

  #sharesTokens(group: number): boolean {
    const { sharing, limiter } = this.#parts.table.settings.groups[group] as GroupSettings;
    return sharing === 'tokens' && limiter !== 'window';
  }

  charge(mapLane: number, node: NodeKey, messages: number, bytes: number): void {
    this.#lanes.get(mapLane)?.tokens.charge(node, messages, bytes);
  }

  /** The nodes that are alive change: until now the others were expected to take their parts. */
  settleAll(): void {
    for (const lane of this.#lanes.values()) {
      this.#settle(lane, this.#logMs(lane.partition));
      lane.tokens.isCurrent = false;
    }
  }

  /** Forgets buckets that are full and that nobody uses here: they would be found full again. */
  forgetFull(): void {
    for (const [mapLane, lane] of this.#lanes) {
      if (this.#parts.table.ofMapLane(mapLane)?.tokens === lane.tokens) continue;
      this.#settle(lane, this.#logMs(lane.partition));
      if (lane.tokens.isFull) this.#lanes.delete(mapLane);
    }
  }

  #follow(mapLane: number, groupId: GroupId, direction: number): FollowedLane | null {
    const known = this.#lanes.get(mapLane);
    if (known !== undefined) return known;
    const { table } = this.#parts;
    const group = table.groupOf(groupId);
    if (group === -1 || !this.#sharesTokens(group)) return null;
    const partition = partitionOf(groupId, table.settings.partitions);
    const tokens = new LaneTokens(this.#beganLogMs[partition] as number);
    const followed = { tokens, mapLane, group, direction, partition };
    this.#lanes.set(mapLane, followed);
    this.#settle(followed, this.#logMs(partition));
    return followed;
  }

  #settle(lane: FollowedLane, logMs: number): void {
    const { membership, nodeKey, shares } = this.#parts;
    if (!lane.tokens.isCurrent) {
      const own = membership.get(nodeKey)?.index ?? -1;
      lane.tokens.view(shares.converge(lane.group, lane.direction, lane.mapLane), own);
    }
    lane.tokens.settle(logMs);
  }

  #logMs(partition: number): number {
    return (this.#parts.log.logTimes[partition] as LogTime).ms;
  }

  /** A record of this node has been read back. */
  readBack(rows: readonly ReportRow[]): void {
    const { usageMap } = this.#parts;
    for (const { groupId, direction, charge } of rows) {
      const tokens = this.#lanes.get(usageMap.mapLaneOf(groupId, direction))?.tokens;
      tokens?.dimensions.forEach((slot, dimension) => {
        slot.account.knownCharge = charge?.[dimension] ?? 0;
      });
    }
  }

  /** Lets time pass for a lane and sets its limits; nothing where its share is enforced as a rate. */
  flow(lane: LaneState, nowMs: number): boolean {
    const { tokens } = lane;
    if (tokens === null) return false;
    const { log, shares } = this.#parts;
    this.#countTaken(lane);
    tokens.flow(this.#taken, log.logNowMs(lane.partition, nowMs), nowMs, this.#parts.nodeKey, 2 * log.deliveryMs + this.#parts.table.settings.sampleIntervalMs);
    if (lane.link !== 'linked' || log.epochs.isHolding) return false;
    tokens.dimensions.forEach((slot, dimension) => {
      if (slot.bucket === null) return;
      const at = slotOf(lane.lane, dimension);
      shares.limit[at] = Math.max(LEAST_RATE, slot.perSecond);
      shares.depth[at] = slot.depth;
    });
    return true;
  }

  #countTaken({ lane, taken }: LaneState): void {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const now = this.#parts.limiter.taken(slotOf(lane, dimension));
      const since = now - (taken[dimension] as number);
      // The limiter's counters begin at 0 again now and then (`keepExact`).
      this.#taken[dimension] = since < RESET ? 0 : since;
      taken[dimension] = now;
    }
  }
}
