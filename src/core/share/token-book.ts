import type { GroupSettings } from '../base/settings.js';
import { DIMENSION_COUNT, type GroupId, type NodeKey, slotOf } from '../base/vocabulary.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { LaneTable } from '../lanes/lane-table.js';
import type { Limiter } from '../limiter/limiter.js';
import type { LogTime } from '../log/log-time.js';
import { partitionOf, type ReportRow } from '../protocol/record.js';
import type { LogReader } from '../reading/log-reader.js';
import { LaneTokens } from '../tokens/lane-tokens.js';
import type { Membership } from '../usage-map/membership.js';
import type { ChargeReader, UsageMap } from '../usage-map/usage-map.js';
import type { ShareBook } from './share-book.js';

export interface TokenBookParts {
  readonly nodeKey: NodeKey;
  readonly limiter: Limiter;
  readonly table: LaneTable;
  readonly log: LogReader;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly shares: ShareBook;
}

/** A lane whose bucket is followed, whether this node serves it or not. */
interface FollowedLane {
  readonly tokens: LaneTokens;
  readonly group: number;
  readonly direction: number;
  readonly mapLane: number;
  readonly partition: number;
}

/**
 * Follows the cluster's buckets of all groups that share tokens, record by record, and says what this node may take of
 * those that it serves. A bucket that is full and not used here is forgotten, because it would be found full again.
 */
export class TokenBook implements ChargeReader {
  readonly #parts: TokenBookParts;
  /** By the usage map's number of the lane. */
  readonly #lanes = new Map<number, FollowedLane>();
  /** Per partition, log time: a bucket that was not followed was empty then, as far as this node knows. */
  readonly beganLogMs: Float64Array;
  readonly #taken = new Float64Array(DIMENSION_COUNT);

  constructor(parts: TokenBookParts) {
    this.#parts = parts;
    this.beganLogMs = new Float64Array(parts.log.logTimes.length).fill(Number.NaN);
  }

  /** False until the node has begun to decide: what it reads before that is not charged to any bucket. */
  get hasBegun(): boolean {
    return !Number.isNaN(this.beganLogMs[0]);
  }

  /** The node begins to decide, or another log begins: all buckets are empty, as far as this node knows. */
  begin(nowMs: number): void {
    this.#parts.log.logTimes.forEach(({ ms }, partition) => {
      this.beganLogMs[partition] = ms;
    });
    this.#lanes.clear();
    for (const lane of this.#parts.table.ordered) this.serve(lane, nowMs);
  }

  /** Called when a lane is served from now on, and when its group changes between rates and tokens. */
  serve(lane: LaneState, nowMs: number): void {
    lane.tokens = this.#follow(lane.mapLane, lane.groupId, lane.direction)?.tokens ?? null;
    if (lane.tokens === null) return;
    this.#countTaken(lane);
    lane.tokens.begin(nowMs);
  }

  /** Null where the bucket is full, or the group has none. */
  followed(mapLane: number): LaneTokens | null {
    return this.#lanes.get(mapLane)?.tokens ?? null;
  }

  /** Whether the book refers to a lane of the usage map. */
  has(mapLane: number): boolean {
    return this.#lanes.has(mapLane);
  }

  settle(mapLane: number, groupId: GroupId, direction: number, logMs: number): void {
    if (!this.hasBegun) return;
    const lane = this.#follow(mapLane, groupId, direction);
    if (lane === null) return;
    this.#view(lane);
    lane.tokens.settle(logMs);
    lane.tokens.isCurrent = false;
  }

  charge(mapLane: number, node: NodeKey, messages: number, bytes: number): void {
    this.#lanes.get(mapLane)?.tokens.charge(node, messages, bytes);
  }

  /** Rows of a lane have gone, or count again. What they said before is still in the lane's view. */
  rowsChanged(mapLane: number): void {
    const lane = this.#lanes.get(mapLane);
    if (lane === undefined || !lane.tokens.isCurrent) return;
    lane.tokens.settle(this.#logMs(lane.partition));
    lane.tokens.isCurrent = false;
  }

  /** Other nodes are alive than before. */
  membersChanged(): void {
    for (const mapLane of this.#lanes.keys()) this.rowsChanged(mapLane);
  }

  groupChanged(group: number, nowMs: number): void {
    for (const [mapLane, lane] of this.#lanes) {
      if (lane.group !== group) continue;
      this.rowsChanged(mapLane);
      if (!this.#sharesTokens(group)) this.#lanes.delete(mapLane);
    }
    for (const lane of this.#parts.table.lanesOf(group)) {
      if (this.#sharesTokens(group) !== (lane.tokens !== null)) this.serve(lane, nowMs);
    }
  }

  /** A record of this node has been read back. */
  readBack(rows: readonly ReportRow[]): void {
    for (const { groupId, direction, charge } of rows) {
      const mapLane = this.#parts.usageMap.mapLaneOf(groupId, direction);
      if (charge !== undefined) this.#lanes.get(mapLane)?.tokens.readBack(charge);
    }
  }

  /**
   * Forgets buckets that are full, and that nobody is expected to take anything of: they would be found full again. Only
   * records settle a bucket; if it were settled here, its tokens would be rounded elsewhere than at other nodes.
   */
  forgetFull(): void {
    const { table, usageMap } = this.#parts;
    for (const [mapLane, { tokens, partition }] of this.#lanes) {
      if (table.servesMapLane(mapLane) || usageMap.firstRow(mapLane) !== -1) continue;
      if (tokens.isFullAt(this.#logMs(partition))) this.#lanes.delete(mapLane);
    }
  }

  /** Lets time pass for a served lane. Its limits follow from its tokens, but not while it is isolated. */
  flow(lane: LaneState, nowMs: number): void {
    const { tokens } = lane;
    lane.isLimitedByTokens = false;
    if (tokens === null) return;
    const { log, nodeKey, table } = this.#parts;
    this.#countTaken(lane);
    const logMs = log.logNowMs(lane.partition, nowMs);
    const roundTripMs = log.roundTripMs + table.settings.sampleIntervalMs;
    tokens.flow(this.#taken, { nowMs, logMs, own: nodeKey, roundTripMs });
    lane.isLimitedByTokens = lane.link === 'linked' && !log.epochs.isHolding;
  }

  #follow(mapLane: number, groupId: GroupId, direction: number): FollowedLane | null {
    const known = this.#lanes.get(mapLane);
    if (known !== undefined) return known;
    const { table } = this.#parts;
    const group = table.groupOf(groupId);
    if (group === -1 || !this.#sharesTokens(group)) return null;
    const partition = partitionOf(groupId, table.settings.partitions);
    const tokens = new LaneTokens(this.beganLogMs[partition] as number);
    const lane = { tokens, group, direction, mapLane, partition };
    this.#lanes.set(mapLane, lane);
    this.#view(lane);
    return lane;
  }

  #sharesTokens(group: number): boolean {
    const { sharing, limiter } = this.#parts.table.settings.groups[group] as GroupSettings;
    return sharing === 'tokens' && limiter === 'bucket';
  }

  /** Reads what the rows say, if they have changed since they were viewed. */
  #view({ tokens, group, direction, mapLane }: FollowedLane): void {
    const { membership, nodeKey, shares } = this.#parts;
    if (!tokens.isCurrent) {
      const own = membership.get(nodeKey)?.index ?? -1;
      const { burst } = this.#parts.table.settings.groups[group] as GroupSettings;
      tokens.view(shares.converge(group, direction, mapLane), own, burst);
    }
  }

  #logMs(partition: number): number {
    return (this.#parts.log.logTimes[partition] as LogTime).ms;
  }

  #countTaken({ lane, taken }: LaneState): void {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const now = this.#parts.limiter.taken(slotOf(lane, dimension));
      const since = now - (taken[dimension] as number);
      this.#taken[dimension] = since < FELL ? 0 : since;
      taken[dimension] = now;
    }
  }
}

/** A fall by more than this is a reset of the limiter's counters (`keepExact`); refunds fall by less. */
const FELL = -(2 ** 50);
