import type { GroupSettings } from '../base/settings.js';
import {
  BYTES,
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  type GroupId,
  type Incarnation,
  MESSAGES,
  type NodeKey,
  slotOf,
} from '../base/vocabulary.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { LaneTable } from '../lanes/lane-table.js';
import type { Limiter } from '../limiter/limiter.js';
import type { LogTime } from '../log/log-time.js';
import { chargeIn, type GroupStateRecord, partitionOf, type ReportRow } from '../protocol/record.js';
import type { LogReader } from '../reading/log-reader.js';
import type { CostMeter } from '../target/cost-meter.js';
import type { TargetBook } from '../target/target-book.js';
import { LaneTokens } from '../tokens/lane-tokens.js';
import type { SlotTokens } from '../tokens/slot-tokens.js';
import type { Membership } from '../usage-map/membership.js';
import type { ChargeReader, ChargeSource, UsageMap } from '../usage-map/usage-map.js';
import type { ShareBook } from './share-book.js';

export interface TokenBookParts {
  readonly nodeKey: NodeKey;
  /** Knows this node's life. */
  readonly publisher: { readonly incarnation: Incarnation };
  readonly limiter: Limiter;
  readonly table: LaneTable;
  readonly log: LogReader;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly shares: ShareBook;
  readonly targets: TargetBook;
  readonly costs: CostMeter;
}

/** Knows since when lanes have rows whose groups this node did not know: log time, or NaN. */
export interface RowsSince {
  sinceLogMs(groupId: GroupId, direction: number): number;
}

/** A lane whose bucket is followed, whether this node serves it or not. */
interface FollowedLane {
  readonly tokens: LaneTokens;
  readonly group: number;
  readonly direction: number;
  readonly mapLane: number;
  readonly partition: number;
  /** Messages/s: the ceiling of its ramp when it was viewed last; Infinity without one. */
  ceiling: number;
}

/**
 * Follows the cluster's buckets of all groups that share tokens, record by record, and says what this node may take of
 * those that it serves. A bucket that is full and not used here is forgotten, because it would be found full again.
 */
export class TokenBook implements ChargeReader {
  readonly #parts: TokenBookParts;
  /** By the usage map's number of the lane. */
  readonly #lanes = new Map<number, FollowedLane>();
  /** Those whose group has a ramp. */
  readonly #ramped = new Map<number, FollowedLane>();
  /** Per partition, log time: a bucket that was not followed was empty then, as far as this node knows. */
  readonly beganLogMs: Float64Array;
  /** Lanes whose rows, or the members among them, have changed since they were viewed. */
  readonly #outdated: FollowedLane[] = [];
  /** True after members have changed, until all lanes are viewed. */
  #areMembersNew = false;
  /** The span of the log's clock of that view, and the nodes at which each lane has looked in it. */
  #membersSpan = Number.NaN;
  #looks = 0;
  readonly #taken = new Float64Array(DIMENSION_COUNT);
  readonly #unrefused = new Float64Array(DIMENSION_COUNT);

  constructor(parts: TokenBookParts) {
    this.#parts = parts;
    this.beganLogMs = new Float64Array(parts.log.logTimes.length).fill(Number.NaN);
  }

  /** False until the node has begun to decide: what it reads before that is not charged to any bucket. */
  get hasBegun(): boolean {
    return !Number.isNaN(this.beganLogMs[0]);
  }

  /** The node begins to decide: all buckets are empty, as far as this node knows. */
  begin(nowMs: number): void {
    this.#parts.log.logTimes.forEach(({ ms }, partition) => {
      this.beganLogMs[partition] = ms;
    });
    this.#beginLanes(nowMs);
  }

  /** Another log begins. Its time and all charges begin at 0, before anything is written into it. */
  beginEpoch(nowMs: number): void {
    if (!this.hasBegun) return;
    this.beganLogMs.fill(0);
    this.#beginLanes(nowMs);
  }

  #beginLanes(nowMs: number): void {
    this.#lanes.clear();
    this.#ramped.clear();
    for (const lane of this.#parts.table.ordered) {
      this.serve(lane, nowMs);
      lane.tokens?.forget();
    }
    this.#parts.table.settings.groups.forEach((_, group) => {
      this.#followRamps(group);
    });
  }

  /** Follows the lanes of a group whose ramps have begun: others do, so that their buckets are settled at each step. */
  #followRamps(group: number): void {
    const { table, targets, usageMap } = this.#parts;
    if (!this.#hasRamp(group)) return;
    const groupId = table.groupIdOf(group);
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      const mapLane = usageMap.mapLaneOf(groupId, direction);
      if (targets.ramps.has(mapLane)) this.#follow(mapLane, groupId, direction);
    }
  }

  /** Called when a lane is served from now on, and when its group changes between rates and tokens. */
  serve(lane: LaneState, nowMs: number): void {
    lane.tokens = this.#follow(lane.mapLane, lane.groupId, lane.direction)?.tokens ?? null;
    if (lane.tokens === null) return;
    if (lane.hasEntry) lane.tokens.isEnding = false;
    this.#countTaken(lane);
    lane.tokens.begin(nowMs);
  }

  /** Tokens by all that has been read of the lane's partition; null where the bucket is full, or there is none. */
  tokensOf(mapLane: number, dimension: number): number | null {
    const lane = this.#lanes.get(mapLane);
    if (lane === undefined) return null;
    this.#view(lane);
    if (!lane.tokens.isShared) return null;
    const slot = lane.tokens.slots[dimension] as SlotTokens;
    return slot.tokensAfter(Math.max(0, this.#logMs(lane.partition) - lane.tokens.settledLogMs));
  }

  /** Whether the book refers to a lane of the usage map. */
  has(mapLane: number): boolean {
    return this.#lanes.has(mapLane);
  }

  /**
   * False for a record on a partition where the lane does not belong, as nodes write that know of fewer partitions: its
   * log time is another one, and a bucket that was settled by it stood still until its own partition had come as far.
   */
  settle(mapLane: number, { partition, logMs }: ChargeSource): boolean {
    if (!this.hasBegun) return false;
    const lane = this.#lanes.get(mapLane) ?? this.#followRead(mapLane);
    if (lane === null || lane.partition !== partition) return false;
    this.#view(lane);
    lane.tokens.settle(logMs);
    return true;
  }

  beginEntry(mapLane: number, source: ChargeSource, messages: number, bytes: number): void {
    const tokens = this.#lanes.get(mapLane)?.tokens;
    tokens?.beginEntry(source.slot);
    tokens?.charge(source.nodeKey, source.slot, Math.max(0, messages), Math.max(0, bytes));
  }

  charge(mapLane: number, source: ChargeSource, messages: number, bytes: number): number {
    return this.#lanes.get(mapLane)?.tokens.charge(source.nodeKey, source.slot, messages, bytes) ?? 0;
  }

  /** Rows of a lane have gone, or count again. What they said before is still in the lane's view. */
  rowsChanged(mapLane: number): void {
    const lane = this.#lanes.get(mapLane);
    if (lane !== undefined) this.#changesAt(lane, this.#logMs(lane.partition));
  }

  #changesAt(lane: FollowedLane, logMs: number): void {
    if (!lane.tokens.isCurrent) return;
    lane.tokens.settle(logMs);
    this.#outdate(lane);
  }

  /**
   * Called before a record says how far a ramp is. A group that is far from its quota has a ramp, and may have no rows:
   * if only those that use it followed its bucket, theirs alone would be settled wherever the target moves.
   */
  rampMoves({ groupId, direction }: GroupStateRecord): void {
    const { table, usageMap } = this.#parts;
    const group = table.groupOf(groupId);
    if (!this.hasBegun || group === -1 || !this.#hasRamp(group)) return;
    this.#follow(usageMap.mapLaneOf(groupId, direction), groupId, direction);
  }

  /**
   * The log time of ramps has gone on by a record. Until then the target was what it was after the record before, so
   * that it is a function of log time that everybody computes alike.
   */
  rampTimePassed(): void {
    for (const [mapLane, lane] of this.#ramped) if (this.#ceilingOf(lane) !== lane.ceiling) this.rowsChanged(mapLane);
  }

  /**
   * Views all lanes again where a record has changed the members. A span of the log's clock has LOOKS_PER_SPAN looks at
   * nodes; what is beyond them waits for the first record of a later span. Batches do not count, because others read
   * other batches.
   *
   * *Why:* a view looks at all nodes, so 9,900 ids that one writer makes up would cost 9,900 × 9,900 looks per lane.
   */
  readMembers(haveChanged: boolean, appendMs: number): void {
    if (haveChanged) this.#areMembersNew = true;
    const span = Math.floor(appendMs / MEMBERS_SPAN_MS);
    if (span !== this.#membersSpan) this.#looks = 0;
    this.#membersSpan = span;
    if (!this.#areMembersNew || this.#looks >= LOOKS_PER_SPAN) return;
    this.#areMembersNew = false;
    this.#looks += this.#parts.membership.aliveCount;
    this.#viewMembers();
  }

  /**
   * Leaves a lane without rows unsettled: perhaps no other node follows it, and rounding makes the sum of two parts of
   * a time another one than that of the whole.
   */
  #viewMembers(): void {
    for (const [mapLane, lane] of this.#lanes) {
      if (this.#parts.usageMap.firstRow(mapLane) === -1) this.#outdate(lane);
      else this.rowsChanged(mapLane);
    }
  }

  /**
   * Called after every record: views the lanes that it has changed. If a view waited until it is asked for, another
   * change might come before it, and the time between the two would be settled by the wrong one.
   */
  recordApplied(): void {
    for (const lane of this.#outdated) this.#view(lane);
    this.#outdated.length = 0;
  }

  /** Log time of a group's partition; NaN until this node has begun to decide. */
  logMsOf(groupId: GroupId): number {
    return this.hasBegun ? this.#logMs(partitionOf(groupId, this.#parts.table.settings.partitions)) : Number.NaN;
  }

  /**
   * A group is known from now on. If there are rows of it already, nobody here has followed what they charged: its
   * bucket is empty, as far as this node knows. Where it knows since when there are rows, it knows more: what was in
   * the bucket then, less all that they charge. What has come in since is left out, so mostly it holds more.
   */
  groupAdded(group: number, strangers: RowsSince | null): void {
    if (!this.hasBegun) return;
    const { table, usageMap } = this.#parts;
    const groupId = table.groupIdOf(group);
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      const mapLane = usageMap.findMapLane(groupId, direction);
      if (mapLane === -1 || usageMap.firstRow(mapLane) === -1) continue;
      const partition = partitionOf(groupId, table.settings.partitions);
      const lane = this.#follow(mapLane, groupId, direction, this.#logMs(partition));
      const unusedMs =
        (strangers?.sinceLogMs(groupId, direction) ?? Number.NaN) - (this.beganLogMs[partition] as number);
      if (lane !== null && unusedMs > 0) lane.tokens.beginLate(unusedMs, this.#chargesOf(mapLane));
    }
    this.#followRamps(group);
  }

  /** All that the rows of a lane charge. */
  #chargesOf(mapLane: number): [messages: number, bytes: number] {
    const { rows } = this.#parts.usageMap;
    const charged: [number, number] = [0, 0];
    for (let row = this.#parts.usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      charged[0] += rows.chargeOf(row, MESSAGES);
      charged[1] += rows.chargeOf(row, BYTES);
    }
    return charged;
  }

  /**
   * Settles the group's buckets at the present log time by the old settings. No record says when a node reads the
   * change, and until then its account has counted by the old settings.
   *
   * *Worked:* one node, 300/s, `maxShareRatio: 0.5` set and taken away every 60 ms. Settled at the last record, 120 ms
   * before, the bucket got 150/s for that time, which the node had taken: 370/s in all.
   */
  groupChanged(group: number, nowMs: number): void {
    for (const [mapLane, lane] of this.#lanes) {
      if (lane.group !== group) continue;
      this.#changesAt(lane, this.#parts.log.logNowMs(lane.partition, nowMs));
      if (!this.#sharesTokens(group)) this.#forget(mapLane);
      else if (this.#hasRamp(group)) this.#ramped.set(mapLane, lane);
      else this.#ramped.delete(mapLane);
    }
    if (this.hasBegun) this.#followRamps(group);
    for (const lane of this.#parts.table.lanesOf(group)) {
      if (this.#sharesTokens(group) !== (lane.tokens !== null)) this.serve(lane, nowMs);
    }
  }

  /** A record of this node has been read back. */
  readBack(rows: readonly ReportRow[]): void {
    for (const row of rows) {
      const mapLane = this.#parts.usageMap.mapLaneOf(row.groupId, row.direction);
      this.#lanes.get(mapLane)?.tokens.readBack(chargeIn(row));
    }
  }

  /**
   * Forgets buckets that are full, and that nobody is expected to take anything of: they would be found full again.
   * Only records settle a bucket; if it were settled here, its tokens would be rounded elsewhere than at other nodes.
   */
  forgetFull(): void {
    const { table, targets, usageMap } = this.#parts;
    for (const [mapLane, { tokens, partition }] of this.#lanes) {
      // While a ramp moves, the depth does: a bucket that was full need not be full now.
      if (table.servesMapLane(mapLane) || usageMap.firstRow(mapLane) !== -1 || targets.ramps.has(mapLane)) continue;
      if (tokens.isFullAt(this.#logMs(partition))) this.#forget(mapLane);
    }
  }

  #forget(mapLane: number): void {
    this.#lanes.delete(mapLane);
    this.#ramped.delete(mapLane);
  }

  /** Lets time pass for a served lane. Its limits follow from its tokens, but not while it is isolated. */
  flow(lane: LaneState, nowMs: number): void {
    const { tokens, isLimitedByTokens } = lane;
    lane.isLimitedByTokens = false;
    if (tokens === null) return;
    const { costs, log, membership, nodeKey, table } = this.#parts;
    this.#countTaken(lane);
    const news = costs.takeNews(lane.lane);
    if (tokens.isEnding && !lane.hasEntry && this.#ownRow(lane.mapLane) === -1) tokens.forget();
    if (!tokens.isShared) {
      tokens.begin(nowMs);
      return;
    }
    const logMs = log.logNowMs(lane.partition, nowMs);
    const roundTripMs = log.roundTripMs + table.settings.sampleIntervalMs;
    const ownSlot = membership.get(nodeKey)?.slot ?? -1;
    tokens.flow(this.#taken, this.#unrefused, {
      nowMs,
      logMs,
      readLogMs: this.#logMs(lane.partition),
      own: nodeKey,
      ownSlot,
      roundTripMs,
      isLimiting: isLimitedByTokens,
      costsBeyond: news === null ? 0 : tokens.messagesBeyond(news),
    });
    this.#countLetOff(lane, tokens);
    lane.isLimitedByTokens = lane.link === 'linked' && !log.epochs.isHolding;
  }

  #followRead(mapLane: number): FollowedLane | null {
    const { groupId, direction } = this.#parts.usageMap.groupOf(mapLane);
    return this.#follow(mapLane, groupId, direction);
  }

  #follow(mapLane: number, groupId: GroupId, direction: number, emptyLogMs?: number): FollowedLane | null {
    const known = this.#lanes.get(mapLane);
    if (known !== undefined) return known;
    const { table } = this.#parts;
    const group = table.groupOf(groupId);
    if (group === -1 || !this.#sharesTokens(group)) return null;
    const partition = partitionOf(groupId, table.settings.partitions);
    const tokens = new LaneTokens(emptyLogMs ?? (this.beganLogMs[partition] as number));
    const lane = { tokens, group, direction, mapLane, partition, ceiling: Number.POSITIVE_INFINITY };
    this.#lanes.set(mapLane, lane);
    if (this.#hasRamp(group)) this.#ramped.set(mapLane, lane);
    const ownRow = this.#ownRow(mapLane);
    if (ownRow !== -1) {
      tokens.resume(this.#parts.usageMap.rows.chargesOf(ownRow));
      // What others believe of this node may be less than what it would believe of them.
      tokens.beginEntry(this.#parts.usageMap.rows.memberOf(ownRow));
    }
    this.#view(lane);
    return lane;
  }

  /** This node's row of the lane, written in its present life; −1 = the log has none. */
  #ownRow(mapLane: number): number {
    const { membership, nodeKey, publisher, usageMap } = this.#parts;
    const own = membership.get(nodeKey);
    const row = own === undefined ? -1 : usageMap.rowOf(mapLane, own.slot);
    return row !== -1 && usageMap.rows.incarnationOf(row) === publisher.incarnation ? row : -1;
  }

  #outdate(lane: FollowedLane): void {
    lane.tokens.isCurrent = false;
    this.#outdated.push(lane);
  }

  #sharesTokens(group: number): boolean {
    const { sharing, limiter } = this.#parts.table.settings.groups[group] as GroupSettings;
    return sharing === 'tokens' && limiter === 'bucket';
  }

  #hasRamp(group: number): boolean {
    return (this.#parts.table.settings.groups[group] as GroupSettings).ramp !== null;
  }

  #ceilingOf({ group, direction, mapLane }: FollowedLane): number {
    const { table, targets } = this.#parts;
    return targets.ramps.ceilingOf(table.settings.groups[group] as GroupSettings, direction, mapLane);
  }

  /** Reads what the rows say, if they have changed since they were viewed. */
  #view(lane: FollowedLane): void {
    const { membership, nodeKey, shares } = this.#parts;
    const { tokens, group, direction, mapLane } = lane;
    if (tokens.isCurrent) return;
    const own = membership.indexOf(nodeKey);
    shares.viewTokens(tokens, shares.converge(group, direction, mapLane), { group, direction, own });
    lane.ceiling = this.#ceilingOf(lane);
  }

  #logMs(partition: number): number {
    return (this.#parts.log.logTimes[partition] as LogTime).ms;
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
      const since = now - (taken[dimension] as number);
      this.#taken[dimension] = since < FELL ? 0 : since;
      taken[dimension] = now;
      this.#unrefused[dimension] = this.#parts.limiter.takeUnrefused(slotOf(lane, dimension));
    }
  }
}

/** A larger span makes ids that come at once cost less, and count later. */
const MEMBERS_SPAN_MS = 100;
/**
 * Looks at nodes per lane in such a span, some 25 ns each; with more of them more nodes may start at once without being
 * late: now 140.
 */
const LOOKS_PER_SPAN = 20_000;

/** A fall by more than this is a reset of the limiter's counters (`keepExact`); refunds fall by less. */
const FELL = -(2 ** 50);
