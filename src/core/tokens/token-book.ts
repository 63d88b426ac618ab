import { DIMENSION_COUNT, slotOf } from '../base/vocabulary.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { LaneTable } from '../lanes/lane-table.js';
import type { Limiter } from '../limiter/limiter.js';
import type { LogReader } from '../reading/log-reader.js';
import type { ShareBook } from '../share/share-book.js';
import type { Membership } from '../usage-map/membership.js';
import type { ReportRow } from '../protocol/record.js';
import type { NodeKey } from '../base/vocabulary.js';
import type { ChargeReader, UsageMap } from '../usage-map/usage-map.js';
import { LaneTokens } from './lane-tokens.js';

/** A rate of 0 would block a lane; this is a token in thirty years. */
const LEAST_RATE = 1e-9;

export interface TokenBookParts {
  readonly nodeKey: NodeKey;
  readonly limiter: Limiter;
  readonly table: LaneTable;
  readonly log: LogReader;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly shares: ShareBook;
}

/** Follows the cluster's buckets of the lanes that this node serves, and turns them into limits. */
export class TokenBook implements ChargeReader {
  readonly #parts: TokenBookParts;
  readonly #taken = new Float64Array(DIMENSION_COUNT);

  constructor(parts: TokenBookParts) {
    this.#parts = parts;
  }

  /** Called when a lane is served from now on. */
  begin(lane: LaneState, readyMs: number, nowMs: number): void {
    const { settings } = lane;
    if (settings.sharing !== 'tokens' || settings.limiter === 'window') return;
    const { usageMap, log } = this.#parts;
    const isUnused = usageMap.firstRow(lane.mapLane) === -1;
    const { ms } = log.logTimes[lane.partition] as { ms: number };
    lane.tokens = new LaneTokens(isUnused ? nowMs - readyMs : 0, ms, nowMs);
    this.#countTaken(lane);
  }

  settle(mapLane: number, logMs: number): void {
    const lane = this.#parts.table.ofMapLane(mapLane);
    if (lane === undefined || lane.tokens === null) return;
    this.#view(lane);
    lane.tokens.settle(logMs);
    lane.tokens.isCurrent = false;
  }

  charge(mapLane: number, messages: number, bytes: number): void {
    this.#parts.table.ofMapLane(mapLane)?.tokens?.charge(messages, bytes);
  }

  /** The nodes that are alive change: until now the others were expected to take their parts. */
  settleAll(): void {
    for (const lane of this.#parts.table.ordered) {
      if (lane.tokens !== null) this.settle(lane.mapLane, (this.#parts.log.logTimes[lane.partition] as { ms: number }).ms);
    }
  }

  /** A record of this node has been read back. */
  readBack(rows: readonly ReportRow[]): void {
    const { table, usageMap } = this.#parts;
    for (const { groupId, direction, charge } of rows) {
      const tokens = table.ofMapLane(usageMap.mapLaneOf(groupId, direction))?.tokens;
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
    tokens.flow(this.#taken, log.logNowMs(lane.partition, nowMs), nowMs);
    if (lane.link !== 'linked' || log.epochs.isHolding) return false;
    tokens.dimensions.forEach((slot, dimension) => {
      if (slot.bucket === null) return;
      const at = slotOf(lane.lane, dimension);
      shares.limit[at] = Math.max(LEAST_RATE, slot.perSecond);
      shares.depth[at] = slot.depth;
    });
    return true;
  }

  #view(lane: LaneState): void {
    const { membership, nodeKey, shares } = this.#parts;
    if (lane.tokens === null || lane.tokens.isCurrent) return;
    lane.tokens.view(shares.converge(lane.group, lane.direction, lane.mapLane), membership.get(nodeKey)?.index ?? -1);
  }

  #countTaken({ lane, taken }: LaneState): void {
    const { admitted } = this.#parts.limiter;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const now = admitted.at(slotOf(lane, dimension));
      this.#taken[dimension] = Math.max(0, now - (taken[dimension] as number));
      taken[dimension] = now;
    }
  }
}
