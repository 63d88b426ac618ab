import { hasClusterBucket } from '../../base/local-gate.js';
import type { ReadEvent, UnpublishedUse } from '../../base/protocol/events-and-effects.js';
import {
  chargeIn,
  type GroupStateRecord,
  NO_STOCK,
  NOTHING_REPORTED,
  partitionOf,
  type ReportRow,
} from '../../base/protocol/record.js';
import { depthGiven, type GroupSettings } from '../../base/settings.js';
import {
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  DIRECTIONS,
  type Incarnation,
  laneOf,
  type NodeKey,
  slotOf,
} from '../../base/vocabulary.js';
import type { Limiter } from '../../limiter/limiter.js';
import type { LogTime } from '../../log/log-time.js';
import type { LogReader } from '../../log/reading/log-reader.js';
import type { CostMeter } from '../../target/cost-meter.js';
import type { TargetBook } from '../../target/target-book.js';
import type { Member, Membership } from '../../usage-map/membership.js';
import type { ChargeReader, ChargeSource, UsageMap } from '../../usage-map/usage-map.js';
import { stockNow } from '../checkpoint.js';
import { AT_ONCE_MS, ROWS_AT_ONCE_MAX } from '../constants.js';
import { LaneTokens } from '../lane-tokens.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { LaneTable } from '../lanes/lane-table.js';
import type { LinkWatch } from '../lanes/link-watch.js';
import { checkpointsOf, isPublishedFurther } from './lane-checkpoints.js';
import type { ShareBook } from './share-book.js';

export interface TokenBookParts {
  readonly nodeKey: NodeKey;
  /** Holds this node's life. */
  readonly life: { readonly incarnation: Incarnation };
  readonly limiter: Limiter;
  readonly table: LaneTable;
  readonly log: LogReader;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly shares: ShareBook;
  readonly targets: TargetBook;
  readonly costs: CostMeter;
  /** Lists own records that are on their way. */
  readonly link: Pick<LinkWatch, 'echo'>;
}

/** A lane whose bucket is followed. */
interface FollowedLane {
  readonly tokens: LaneTokens;
  readonly group: number;
  readonly direction: number;
  readonly mapLane: number;
  readonly partition: number;
  /** Messages/s: the ceiling of its ramp at the last view; Infinity without one. */
  ceiling: number;
  /** The offset from which on it was followed; NaN = its stock was carried over from another log. */
  beganOffset: number;
  /** True from its settlement until its rows are viewed. */
  awaitsView: boolean;
  /** True = followed until full, because perhaps no row has its stock. */
  isKept: boolean;
}

/**
 * Follows the cluster's buckets of served lanes, record by record. All others stand in rows of the log alone:
 *
 *     a lane is used       serve, #follow, #restore: the stock by the rows (core/account/checkpoint.ts)
 *     records are read     settle, charge, recordApplied: time and use, alike at all who follow the bucket
 *     a node stops         Publisher.sayFarewell writes stocks that no row has, and silent keys (KeyBook.lastWords)
 *     another log begins   beginEpoch keeps the stocks, and Coordinator.#writeKept writes them into it
 *
 * Followed without being served are lanes with a ramp, and those whose stock is perhaps in no row (`isKept`). What may
 * be granted twice at each step: docs/guide/tokens.md#what-a-restart-does.
 */
export class TokenBook implements ChargeReader {
  readonly #parts: TokenBookParts;
  /** By the usage map's number of the lane. */
  readonly #lanes = new Map<number, FollowedLane>();
  /** Lanes whose group has a ramp. */
  readonly #ramped = new Map<number, FollowedLane>();
  /** Lanes that are not served, or not any more. */
  readonly #unserved = new Set<FollowedLane>();
  #hasBegun = false;
  /** Per partition, span time at which the node began to decide: with `burst.start: empty` buckets were empty then. */
  readonly #beganMs: Float64Array;
  /** Lanes whose rows, or their members, have changed since they were viewed. */
  readonly #outdated: FollowedLane[] = [];
  /** By partition, the views that changes of members need. */
  readonly #members: readonly MembersViewed[];
  /** Views of lanes so far: the cost of records and changes of members. */
  views = 0;
  readonly #taken = new Float64Array(DIMENSION_COUNT);
  readonly #unrefused = new Float64Array(DIMENSION_COUNT);

  constructor(parts: TokenBookParts) {
    this.#parts = parts;
    this.#beganMs = new Float64Array(parts.log.logTimes.length);
    this.#members = parts.log.logTimes.map(() => ({ areNew: false, alive: [], span: Number.NaN, looks: 0 }));
  }

  /** Called when the node begins to decide. */
  begin(): void {
    this.#hasBegun = true;
    this.#parts.log.logTimes.forEach(({ spanMs }, partition) => {
      this.#beganMs[partition] = spanMs;
    });
    this.#parts.table.settings.groups.forEach((_, group) => {
      this.#followRamps(group);
    });
  }

  /**
   * Begins another log at time 0, before its first record. Stocks in rows of the old one are remembered until the
   * buckets are full: their authors may be gone.
   */
  beginEpoch(nowMs: number): void {
    this.#beganMs.fill(0);
    this.#parts.table.settings.groups.forEach((_, group) => {
      if (this.#hasBegun) this.#keepAll(group, true);
    });
    for (const lane of this.#lanes.values()) {
      lane.tokens.beginLog(this.#parts.log.spanNowMs(lane.partition, nowMs));
      lane.beganOffset = Number.NaN;
    }
  }

  /** Follows a group's lanes with ramps, to settle them at each step. */
  #followRamps(group: number): void {
    const { table, targets, usageMap } = this.#parts;
    if (!this.#hasRamp(group)) return;
    const groupId = table.groupIdOf(group);
    const ramps = targets.ramps[partitionOf(groupId, targets.ramps.length)];
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      const mapLane = usageMap.mapLaneOf(groupId, direction);
      if (ramps.has(mapLane)) this.#followUnserved(mapLane);
    }
  }

  /** Follows a served lane's bucket, and restores its stock; also when its group gets or loses one. */
  serve(lane: LaneState, nowMs: number): void {
    const followed = this.#follow(lane.mapLane);
    lane.tokens = followed?.tokens ?? null;
    if (followed === null) {
      if (!lane.entry.isOpen) lane.entry.life = 'none';
      return;
    }
    this.#unserved.delete(followed);
    if (lane.entry.isOpen) followed.tokens.entry = lane.entry;
    else lane.entry = followed.tokens.entry;
    this.#countTaken(lane);
    followed.tokens.startClock(nowMs);
  }

  /** Makes the row of a key spent unpublished. It has to be remembered for `fullInMs`. */
  rowOfUnpublished({ groupId, direction, units, buckets }: UnpublishedUse): { row: ReportRow; fullInMs: number } {
    const { table, usageMap } = this.#parts;
    const mapLane = usageMap.mapLaneOf(groupId, direction);
    const time = this.#logTime(partitionOf(groupId, table.settings.partitions));
    let fullInMs = 0;
    const stock = buckets.map((bucket, dimension) => {
      if (bucket === null) return NO_STOCK;
      const tokens = stockNow(checkpointsOf(this.#parts, mapLane, dimension, time), bucket, 0);
      const lacking = bucket.depth - tokens + units[dimension];
      fullInMs = Math.max(fullInMs, (1000 * lacking) / bucket.perSecond);
      return tokens;
    }) as [messages: number, bytes: number];
    return { row: { groupId, direction, ...NOTHING_REPORTED, charge: units, stock, unread: units }, fullInMs };
  }

  unserve({ mapLane }: LaneState): void {
    const followed = this.#lanes.get(mapLane);
    if (followed !== undefined) this.#unserved.add(followed);
  }

  /** Lists at most `most` unserved lanes whose stock may be unwritten. */
  keptLanes(most: number): number[] {
    const kept: number[] = [];
    for (const { isKept, group, direction } of this.#unserved) {
      if (kept.length === most) break;
      if (isKept) kept.push(laneOf(group, direction));
    }
    return kept;
  }

  /** Tokens by all records read of the lane's partition; null where the bucket is full, or there is none. */
  tokensOf(mapLane: number, dimension: number): number | null {
    const lane = this.#lanes.get(mapLane);
    if (lane === undefined) return null;
    this.#view(lane);
    const { spanMs } = this.#logTime(lane.partition);
    return lane.tokens.tokensAt(dimension, Math.max(spanMs, lane.tokens.settledLogMs));
  }

  /** The offset from which on a lane's bucket was followed; NaN = never in this log. */
  beganOffsetOf(mapLane: number): number {
    return this.#lanes.get(mapLane)?.beganOffset ?? Number.NaN;
  }

  has(mapLane: number): boolean {
    return this.#lanes.has(mapLane);
  }

  settle(mapLane: number, { spanMs, pauseMs }: ChargeSource): boolean {
    const lane = this.#lanes.get(mapLane);
    if (lane === undefined) return false;
    this.#view(lane);
    lane.tokens.settle(spanMs, pauseMs);
    return true;
  }

  beginEntry(mapLane: number, source: ChargeSource, messages: number, bytes: number, wants: boolean): void {
    const tokens = this.#lanes.get(mapLane)?.tokens;
    tokens?.beginEntry(source.slot);
    tokens?.charge(source.nodeKey, source.slot, Math.max(0, messages), Math.max(0, bytes), wants);
  }

  charge(mapLane: number, source: ChargeSource, messages: number, bytes: number, wants: boolean): number {
    return this.#lanes.get(mapLane)?.tokens.charge(source.nodeKey, source.slot, messages, bytes, wants) ?? 0;
  }

  /** Called when rows of a lane have gone, or count again. The lane's view still has their earlier figures. */
  rowsChanged(mapLane: number): void {
    const lane = this.#lanes.get(mapLane);
    if (lane === undefined) return;
    const { spanMs, pauseMs } = this.#logTime(lane.partition);
    this.#changesAt(lane, spanMs, pauseMs);
  }

  #changesAt(lane: FollowedLane, spanMs: number, pauseMs: number): void {
    if (isSettled(lane)) return;
    lane.tokens.settle(spanMs, pauseMs);
    this.#outdate(lane);
  }

  /**
   * Called before a record moves a ramp. A group that is far from its quota has a ramp, and may have no rows: if only
   * its users followed its bucket, only theirs would be settled wherever the target moves.
   */
  rampMoves({ groupId, direction }: GroupStateRecord): void {
    const { table, usageMap } = this.#parts;
    const group = table.groupOf(groupId);
    if (this.#hasBegun && group !== -1 && this.#hasRamp(group))
      this.#followUnserved(usageMap.mapLaneOf(groupId, direction));
  }

  /**
   * Settles ramps once a partition's log time moved, before members are viewed. Until then the target was that of the
   * record before, so that it is a function of log time that all nodes compute alike.
   */
  rampTimePassed(partition: number): void {
    for (const [mapLane, lane] of this.#ramped) {
      if (lane.partition === partition && this.#ceilingOf(lane) !== lane.ceiling) this.rowsChanged(mapLane);
    }
  }

  /**
   * Views the lanes of a partition again after a change of members. Each such pass counts the alive nodes; beyond
   * ROWS_AT_ONCE_MAX of them in a span of the log's clock the next pass waits for a later span. Batches do not count,
   * because others read other batches.
   *
   * *Why:* 9,900 ids that one writer makes up would have each lane viewed 9,900 times.
   */
  readMembers(haveChanged: boolean, { partition, appendMs }: Pick<ReadEvent, 'partition' | 'appendMs'>): void {
    const viewed = this.#members[partition];
    if (haveChanged) viewed.areNew = true;
    const span = Math.floor(appendMs / AT_ONCE_MS);
    if (span !== viewed.span) viewed.looks = 0;
    viewed.span = span;
    if (!viewed.areNew || viewed.looks >= ROWS_AT_ONCE_MAX) return;
    viewed.areNew = false;
    viewed.looks += this.#parts.membership.on(partition).count;
    this.#viewMembers(partition, viewed);
  }

  /**
   * Views the lanes that a change of members concerns. Those have rows of a node that came or went, or another expected
   * use. All others are viewed at the next look: their expected use is the same, to the bit, so their time of viewing
   * does not matter. Except on a ramp, where a later look would count the time before it at a higher target.
   *
   * A node that the log gives up or takes back views them at once: its own part has changed. It does not settle them,
   * because the others do not.
   *
   * A lane without rows is not settled: perhaps no other node follows it, and rounding makes the sum of two parts of a
   * time another one than that of the whole.
   */
  #viewMembers(partition: number, viewed: MembersViewed): void {
    const { membership, usageMap, nodeKey } = this.#parts;
    const alive = membership.on(partition);
    const { members } = alive;
    const before = new Set(viewed.alive);
    const gone = viewed.alive.filter((member) => !alive.has(member));
    const changed = [...members.filter((member) => !before.has(member)), ...gone];
    viewed.alive = [...members];
    for (const member of changed) {
      usageMap.forEachLaneOf(member, partition, (mapLane) => this.rowsChanged(mapLane));
    }
    const isOwn = changed.some((member) => member.nodeKey === nodeKey);
    for (const [mapLane, lane] of this.#lanes) {
      if (lane.partition !== partition || isSettled(lane)) continue;
      const isSame = !this.#ramped.has(mapLane) && lane.tokens.isSameFor(members.length);
      if (isSame && !isOwn) lane.tokens.isCurrent = false;
      else if (isSame || usageMap.firstRow(mapLane) === -1) this.#outdate(lane);
      else this.rowsChanged(mapLane);
    }
  }

  /**
   * Views the lanes that a record has changed, after every record. If a view waited, another change might come before
   * it, and the time between the two would be settled by the wrong one.
   */
  recordApplied(): void {
    for (const lane of this.#outdated) this.#view(lane);
    this.#outdated.length = 0;
  }

  /** Called when a group is added. */
  groupAdded(group: number): void {
    if (this.#hasBegun) this.#followRamps(group);
  }

  /**
   * Called before a group changes. Where its depth grows, all nodes follow its buckets until they are full: no row of
   * an unused bucket shows that it was as full as a smaller one.
   */
  groupChanges(group: number, to: GroupSettings): void {
    const before = this.#parts.table.settings.groups[group];
    if (!this.#hasBegun || before === undefined || !this.#hasBucket(group) || !mayGrow(before, to)) return;
    this.#keepAll(group, false);
  }

  #keepAll(group: number, onlyWithRows: boolean): void {
    const { table, usageMap } = this.#parts;
    const groupId = table.groupIdOf(group);
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      if (onlyWithRows && usageMap.firstRow(usageMap.findMapLane(groupId, direction)) === -1) continue;
      const lane = this.#followUnserved(usageMap.mapLaneOf(groupId, direction));
      if (lane !== null) lane.isKept = true;
    }
  }

  /**
   * Settles the group's buckets at the present time by the old settings. No record shows when a node reads the change,
   * and until then its account has counted by the old settings.
   *
   * *Worked:* one node, 300/s, `maxShareRatio: 0.5` set and taken away every 60 ms. Settled at the last record, 120 ms
   * before, the bucket would get 150/s for that time, in which the node has taken more.
   */
  groupChanged(group: number, nowMs: number): void {
    for (const [mapLane, lane] of this.#lanes) {
      if (lane.group !== group) continue;
      const { pauseMs } = this.#logTime(lane.partition);
      this.#changesAt(lane, this.#parts.log.spanNowMs(lane.partition, nowMs), pauseMs);
      if (!this.#hasBucket(group)) this.#forget(mapLane);
      else if (this.#hasRamp(group)) this.#ramped.set(mapLane, lane);
      else this.#ramped.delete(mapLane);
    }
    if (this.#hasBegun) this.#followRamps(group);
    const hasBucket = this.#hasBucket(group);
    for (const lane of this.#parts.table.lanesOf(group)) {
      if (hasBucket === (lane.tokens !== null)) continue;
      this.serve(lane, nowMs);
      // No row has the use that a gate let pass at a node that began alone among others.
      lane.tokens?.slots.forEach((slot) => {
        slot.beginEmpty(0);
      });
    }
  }

  readBack(rows: readonly ReportRow[]): void {
    for (const row of rows) {
      const mapLane = this.#parts.usageMap.mapLaneOf(row.groupId, row.direction);
      this.#lanes.get(mapLane)?.tokens.readBack(chargeIn(row));
    }
  }

  /** Forgets unserved buckets, but those with a row of this life: the log counts their charges from there. */
  forgetUnserved(): void {
    const { targets } = this.#parts;
    for (const { mapLane, tokens, partition, isKept, awaitsView } of this.#unserved) {
      // While a ramp moves, the depth does, and at a view: a bucket that was full need not be full then.
      if (awaitsView || targets.ramps[partition].has(mapLane) || this.#ownRow(mapLane) !== -1) continue;
      if (!isKept || tokens.fullInMs(this.#logTime(partition).spanMs) === 0) this.#forget(mapLane);
    }
  }

  #forget(mapLane: number): void {
    const lane = this.#lanes.get(mapLane);
    if (lane !== undefined) this.#unserved.delete(lane);
    this.#lanes.delete(mapLane);
    this.#ramped.delete(mapLane);
  }

  /**
   * Tests if this node's row has to stay: it has charges to give back, or its bucket is not full, and nobody who had
   * read further has published it.
   */
  hasToRemember({ mapLane, partition, tokens }: LaneState, nowMs: number): boolean {
    if (tokens === null) return false;
    if (tokens.isOvercharged) return true;
    if (tokens.fullInMs(this.#parts.log.spanNowMs(partition, nowMs)) === 0) return false;
    const { usageMap, membership, nodeKey } = this.#parts;
    const slot = membership.get(nodeKey)?.slot ?? -1;
    return !isPublishedFurther({ usageMap, membership }, mapLane, this.#ownRow(mapLane), slot);
  }

  /** Returns a record's stocks of a lane, and their time until full. */
  checkpointOf({ partition, tokens }: LaneState, nowMs: number): LaneCheckpoint {
    if (tokens === null) return NO_CHECKPOINT;
    const { log } = this.#parts;
    // The time at which the record will be appended: newcomers count from there.
    const logMs = log.spanNowMs(partition, nowMs) + log.roundTripMs / 2;
    return { columns: { stock: tokens.stocks(logMs), unread: tokens.unread() }, fullInMs: tokens.fullInMs(logMs) };
  }

  /** Counts a lane's use since its service began as silent use. */
  unpublishedCharged({ lane, taken, tokens }: LaneState): void {
    if (tokens === null) return;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++)
      this.#taken[dimension] = this.#parts.limiter.taken(slotOf(lane, dimension)) - taken[dimension];
    tokens.takeSilent(this.#taken);
  }

  /** Lets time pass for a served lane. Its limits follow from its tokens, except in isolation. */
  flow(lane: LaneState, nowMs: number): void {
    const { tokens, isLimitedByTokens } = lane;
    lane.isLimitedByTokens = false;
    if (tokens === null) return;
    const { costs, link, log, membership, nodeKey, table } = this.#parts;
    this.#countTaken(lane);
    const news = costs.takeNews(lane.lane);
    if (lane.entry.life === 'ending' && this.#ownRow(lane.mapLane) === -1) tokens.forget();
    const logMs = log.spanNowMs(lane.partition, nowMs);
    const roundTripMs = log.roundTripMs + table.settings.sampleIntervalMs;
    const ownSlot = membership.get(nodeKey)?.slot ?? -1;
    tokens.flow(this.#taken, this.#unrefused, {
      nowMs,
      logMs,
      readLogMs: this.#logTime(lane.partition).spanMs,
      // `logMs` counts half of a round trip since the last record was appended; it may have come at once.
      awaitedMs: Math.max(0, nowMs - link.echo.awaitedSinceMs(lane.partition) + log.roundTripMs / 2),
      own: nodeKey,
      ownSlot,
      roundTripMs,
      isReadLate: log.roundTripMs > AT_ONCE_MS,
      isLimiting: isLimitedByTokens,
      costsBeyond: news === null ? 0 : tokens.messagesBeyond(news),
      sample: lane.sample,
    });
    this.#countLetOff(lane, tokens);
    lane.isLimitedByTokens = lane.link === 'linked' && !log.epochs.isHolding;
  }

  #followUnserved(mapLane: number): FollowedLane | null {
    const lane = this.#follow(mapLane);
    if (lane !== null && !this.#parts.table.servesMapLane(mapLane)) this.#unserved.add(lane);
    return lane;
  }

  #follow(mapLane: number): FollowedLane | null {
    const known = this.#lanes.get(mapLane);
    if (known !== undefined) return known;
    const { table, usageMap } = this.#parts;
    const { groupId, direction } = usageMap.groupOf(mapLane);
    const group = table.groupOf(groupId);
    if (group === -1 || !this.#hasBucket(group)) return null;
    const partition = partitionOf(groupId, table.settings.partitions);
    const { spanMs, pauseMs } = this.#logTime(partition);
    const tokens = new LaneTokens(spanMs, pauseMs, table.settings.significantChangeRatio);
    const beganOffset = this.#parts.log.nextOffset(partition);
    const lane = {
      tokens,
      group,
      direction,
      mapLane,
      partition,
      ceiling: Infinity,
      awaitsView: false,
      isKept: false,
      beganOffset,
    };
    this.#lanes.set(mapLane, lane);
    if (this.#hasRamp(group)) this.#ramped.set(mapLane, lane);
    this.#view(lane);
    const ownRow = this.#ownRow(mapLane);
    if (ownRow !== -1) {
      tokens.resume(usageMap.rows.chargesOf(ownRow));
      // Others may accept less of this node than this node of them.
      tokens.beginEntry(usageMap.rows.memberOf(ownRow));
    }
    this.#restore(lane);
    return lane;
  }

  /** Restores the stocks of the lane's buckets from the log. */
  #restore({ tokens, group, mapLane, partition }: FollowedLane): void {
    const { burst } = this.#parts.table.settings.groups[group];
    const time = this.#logTime(partition);
    const sinceMs = time.spanMs - this.#beganMs[partition];
    tokens.slots.forEach((slot, dimension) => {
      slot.restore(checkpointsOf(this.#parts, mapLane, dimension, time), time.spanMs);
      if (burst.start === 'empty') slot.beginEmpty(sinceMs);
    });
  }

  /** Returns the lane's row of this node's present life, or −1. */
  #ownRow(mapLane: number): number {
    const { life, membership, nodeKey, usageMap } = this.#parts;
    const own = membership.get(nodeKey);
    const row = own === undefined ? -1 : usageMap.rowOf(mapLane, own.slot);
    return row !== -1 && usageMap.rows.incarnationOf(row) === life.incarnation ? row : -1;
  }

  #outdate(lane: FollowedLane): void {
    lane.awaitsView = true;
    lane.tokens.isCurrent = false;
    this.#outdated.push(lane);
  }

  #hasBucket(group: number): boolean {
    return hasClusterBucket(this.#parts.table.settings.groups[group]);
  }

  #hasRamp(group: number): boolean {
    return this.#parts.table.settings.groups[group].ramp !== null;
  }

  #ceilingOf({ group, direction, mapLane, partition }: FollowedLane): number {
    const { table, targets } = this.#parts;
    return targets.ramps[partition].ceilingOf(table.settings.groups[group], direction, mapLane);
  }

  /** Views a lane's rows if they have changed since. */
  #view(lane: FollowedLane): void {
    if (lane.tokens.isCurrent) return;
    this.views++;
    lane.awaitsView = false;
    this.#parts.shares.viewTokens(lane.tokens, lane);
    lane.ceiling = this.#ceilingOf(lane);
  }

  #logTime(partition: number): LogTime {
    return this.#parts.log.logTimes[partition];
  }

  #countLetOff({ lane }: LaneState, { slots }: LaneTokens): void {
    slots.forEach((slot, dimension) => {
      if (slot.letOff > 0) this.#parts.limiter.buckets.countLetOff(slotOf(lane, dimension), slot.letOff);
      slot.letOff = 0;
    });
  }

  #countTaken({ lane, taken }: LaneState): void {
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const now = this.#parts.limiter.taken(slotOf(lane, dimension));
      const since = now - taken[dimension];
      this.#taken[dimension] = since < FELL ? 0 : since;
      taken[dimension] = now;
      this.#unrefused[dimension] = this.#parts.limiter.takeUnrefused(slotOf(lane, dimension));
    }
  }
}

interface MembersViewed {
  /** True after members have changed, until lanes are viewed again. */
  areNew: boolean;
  alive: readonly Member[];
  /** The span of the log's clock in the last pass; below, the alive nodes summed over its passes. */
  span: number;
  looks: number;
}

export interface LaneCheckpoint {
  readonly columns: Pick<ReportRow, 'stock' | 'unread'>;
  readonly fullInMs: number;
}

const NO_CHECKPOINT: LaneCheckpoint = { columns: {}, fullInMs: 0 };

/** Tests if a lane has been settled since its last change; a view in between ends that. */
function isSettled({ tokens, awaitsView }: FollowedLane): boolean {
  return awaitsView && !tokens.isCurrent;
}

/** Tests if a bucket of a group may be deeper than before. */
function mayGrow(before: GroupSettings, to: GroupSettings): boolean {
  return DIRECTIONS.some((side, direction) =>
    before.quota[side].some((rate, dimension) => {
      const depths = [before, to].map(({ burst }) => depthGiven(burst, direction, dimension) ?? 0) as [number, number];
      return to.quota[side][dimension] > rate || depths[1] > depths[0];
    }),
  );
}

/** Units. A larger fall is a reset of the limiter's counters (`keepExact`); refunds fall by less. */
const FELL = -(2 ** 50);
