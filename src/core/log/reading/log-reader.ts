import type { IgnoredCause, Notice, ReadEvent, RowsRefused } from '../../base/protocol/events-and-effects.js';
import {
  type Author,
  type BackendRecord,
  backendOfRecordKey,
  backendRecordKey,
  bundleOfRecordKey,
  type GroupStateRecord,
  groupStateRecordKey,
  isNodeRecordKey,
  laneOfGroupStateKey,
  nodeKeyOfRecordKey,
  partitionOf,
  type ReportRecord,
  type ReportRow,
  type TopicRecord,
} from '../../base/protocol/record.js';
import { type CoordinatorSettings, heartbeatOf } from '../../base/settings.js';
import { type Incarnation, MEMBERSHIP_PARTITION, type NodeKey } from '../../base/vocabulary.js';
import type { BackendBook } from '../../target/backend-book.js';
import type { RampBook } from '../../target/ramp/ramp-book.js';
import { buryKey } from '../../usage-map/lives.js';
import { type Member, type Membership, newestLife } from '../../usage-map/membership.js';
import { AgreedPool } from '../../usage-map/pool/agreed-pool.js';
import { SilentRatesBook } from '../../usage-map/silent-rates.js';
import type { UsageMap } from '../../usage-map/usage-map.js';
import { ROUND_TRIP_WEIGHT } from '../constants.js';
import { LogTime } from '../log-time.js';
import { EpochWatch } from './epoch-watch.js';
import { MemberChanges, type MemberRecord } from './member-changes.js';
import { PartitionCount } from './partition-count.js';
import { Refusals } from './refusals.js';

type LogSettings = Pick<CoordinatorSettings, 'partitions' | 'heartbeatMs' | 'partitionHeartbeatMs' | 'stalenessMs'>;

/** Further books that the log fills: health of backends, ceilings of ramps, notices. */
interface LogOutlets {
  readonly backends: BackendBook;
  /** By partition. */
  readonly ramps: readonly RampBook[];
  readonly notices: Notice[];
}

/** Writes this node's records. It ignores records of other nodes except ceilings, which all nodes write. */
export interface Writer {
  /** Writes a record again that an older one hides from newcomers. */
  sayAgain(read: ReadEvent): void;
  /** Writes a known ceiling again that newcomers would not find. */
  ceilingHidden(mapLane: number, read: ReadEvent, nowMs: number): void;
  /** Writes a record later again that was refused for lack of room. */
  sayLater(read: ReadEvent, nowMs: number): void;
  /** Publishes that a newer life is over where an older one beats. */
  sayGone(member: Member, read: ReadEvent): void;
}

/**
 * Applies records to membership and usage map, in log order. Repeats, past incarnations and tombstones change no share
 * (PIP-82, "Avoidance of old messages"; here by incarnation and sequence, never by comparing a sender's clock with a
 * receiver's).
 *
 * A record goes through these steps:
 *
 *   1. A record whose offset was read before is ignored.
 *   2. Log time goes on to the record, and whatever ends by then ends (`#age`).
 *   3. A record under a key that does not belong to its content is ignored.
 *   4. Its content about a backend, a ramp or its author is applied, unless something newer is known.
 */
export class LogReader {
  readonly logTimes: readonly LogTime[];
  readonly refusals: Refusals;
  /** Writes this node's records again when the log hides them; null = read-only. */
  writer: Writer | null = null;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  /** By partition. */
  readonly pools: readonly AgreedPool[];
  readonly epochs: EpochWatch;
  readonly partitionCount: PartitionCount;
  readonly keys: SilentRatesBook;
  readonly #backends: BackendBook;
  readonly #ramps: readonly RampBook[];
  readonly #members: MemberChanges;
  readonly #nextOffset: Float64Array;
  readonly #readMs: Float64Array;
  /** Smoothed milliseconds from writing a record to reading it back. */
  roundTripMs = 0;
  /** False until the log's content at the start is read: compaction may hide records in it. */
  isCaughtUp = false;

  constructor(settings: LogSettings, membership: Membership, usageMap: UsageMap, outlets: LogOutlets) {
    const { partitions } = settings;
    const { backends, ramps, notices } = outlets;
    this.epochs = new EpochWatch(settings);
    this.partitionCount = new PartitionCount(settings);
    this.logTimes = Array.from({ length: partitions }, (_, partition) => new LogTime(heartbeatOf(settings, partition)));
    this.#backends = backends;
    this.#ramps = ramps;
    this.membership = membership;
    this.usageMap = usageMap;
    this.keys = new SilentRatesBook(membership, usageMap);
    this.refusals = new Refusals(notices);
    this.pools = Array.from({ length: partitions }, () => new AgreedPool());
    const { pools, epochs, partitionCount, refusals } = this;
    this.#members = new MemberChanges({ membership, usageMap, pools, epochs, partitionCount, refusals, notices });
    this.#nextOffset = new Float64Array(partitions);
    this.#readMs = new Float64Array(partitions);
  }

  get membershipLogMs(): number {
    return this.logTimes[MEMBERSHIP_PARTITION].ms;
  }

  /** Counts the records that changed nothing, by cause. */
  get ignored(): Readonly<Record<IgnoredCause, number>> {
    return this.refusals.counts;
  }

  /** Adds an own record's round trip to the smoothed one. */
  tookRoundTrip(tookMs: number): void {
    this.roundTripMs += (tookMs - this.roundTripMs) * (this.roundTripMs === 0 ? 1 : ROUND_TRIP_WEIGHT);
  }

  /** Extrapolates span time: that of the last record, and the time since, up to one step of log time. */
  spanNowMs(partition: number, nowMs: number): number {
    // The last record was appended half a round trip before it was read.
    const sinceMs = nowMs - this.#readMs[partition] + this.roundTripMs / 2;
    const { spanMs, stepLimitMs } = this.logTimes[partition];
    return spanMs + Math.min(sinceMs, stepLimitMs);
  }

  /** Returns the offset after the last record read of a partition. */
  nextOffset(partition: number): number {
    return this.#nextOffset[partition];
  }

  /** Forgets everything, because another log begins: offsets, lives, log time and reports mean nothing in it. */
  forgetAll(): void {
    this.#nextOffset.fill(0);
    for (const logTime of this.logTimes) logTime.startAgain();
    this.usageMap.forgetAll(this.membership.all());
    this.membership.forgetAll();
    this.keys.forgetAll();
    for (const pool of this.pools) pool.forgetAll();
    this.#backends.forgetAll();
    for (const ramps of this.#ramps) ramps.forgetAll();
    this.partitionCount.forgetAll();
    this.refusals.forgetAll();
  }

  /** Finds a node's newest life among all its records. Ceilings and backends outlive the node's other records. */
  newestLifeOf(nodeKey: NodeKey): Incarnation {
    const member = this.membership.get(nodeKey);
    let newest = Math.max(newestLife(member), this.#backends.newestLifeOf(nodeKey));
    for (const ramps of this.#ramps) newest = Math.max(newest, ramps.newestLifeOf(nodeKey));
    return newest;
  }

  /** Applies a record. Returns true if the partition's alive members, or their agreed pool, changed. */
  apply(read: ReadEvent, nowMs: number): boolean {
    const alive = this.membership.on(read.partition);
    const pool = this.pools[read.partition];
    const before = alive.changes + pool.changes;
    this.#apply(read, nowMs);
    return alive.changes + pool.changes !== before;
  }

  #apply(read: ReadEvent, nowMs: number): void {
    const { partition, offset, record } = read;
    if (offset < this.nextOffset(partition)) {
      this.#ignore('repeated-offset');
      return;
    }
    this.#nextOffset[partition] = offset + 1;
    this.#readMs[partition] = nowMs;
    this.#age(read, nowMs);
    if (record === null) this.#applyTombstone(read, nowMs);
    else if (!belongsTo(read, record, this.logTimes.length)) {
      this.#ignore('foreign-key');
      this.#noteOverwritten(read, nowMs);
    } else if (record.kind === 'backend' || record.kind === 'group-state') this.#applyFinding(read, record, nowMs);
    else this.#applyMember(read, record, nowMs);
  }

  /**
   * Advances log time to a record, and ends everything due by then. This comes before the record is judged: it may show
   * that a node has been silent for too long.
   */
  #age(read: ReadEvent, nowMs: number): void {
    const { partition, appendMs } = read;
    const logTime = this.logTimes[partition];
    if (!logTime.advanceTo(appendMs)) this.refusals.time(partition);
    if (partition === MEMBERSHIP_PARTITION) this.#members.expire(read.record, logTime.ms);
    if (!this.isCaughtUp || this.#beginsLife(read)) logTime.countWholeStep(this.isCaughtUp);
    if (partition === MEMBERSHIP_PARTITION) this.#backends.expire(logTime.ms);
    const hidden = this.#ramps[partition].advanceTo(logTime, this.nextOffset(partition));
    for (const mapLane of hidden) this.writer?.ceilingHidden(mapLane, read, nowMs);
  }

  /**
   * Applies a finding of a node: a backend's health or a ramp's ceiling. It stays when its author leaves, and its
   * author need not be a member.
   */
  #applyFinding(read: ReadEvent, record: BackendRecord | GroupStateRecord, nowMs: number): void {
    const { nodeKey, incarnation } = record.author;
    const isPast = incarnation < (this.membership.get(nodeKey)?.lives[read.partition] ?? 0);
    const verdict = isPast ? 'old-incarnation' : this.#find(record, read.partition);
    if (verdict === 'applied') return;
    this.#ignore(verdict);
    if (record.kind === 'group-state') this.#noteHidden(read, record, nowMs);
  }

  #find(record: BackendRecord | GroupStateRecord, partition: number): 'applied' | IgnoredCause {
    if (record.kind === 'backend') return this.#backends.apply(record, this.membershipLogMs);
    return this.#ramps[partition].apply(this.usageMap.mapLaneOf(record.groupId, record.direction), record);
  }

  /** Reports a known ceiling that the record hides from newcomers. */
  #noteHidden(read: ReadEvent, lane: Pick<GroupStateRecord, 'groupId' | 'direction'> | null, nowMs: number): void {
    const mapLane = lane === null ? -1 : this.usageMap.findMapLane(lane.groupId, lane.direction);
    const known = mapLane === -1 ? undefined : this.#ramps[read.partition].newestOf(mapLane);
    if (known === undefined) return;
    const { record } = read;
    // Two nodes wrote the same step, so a newcomer reads the same ceiling.
    if (record?.kind === 'group-state' && record.ceiling === known.ceiling) return;
    this.writer?.ceilingHidden(mapLane, read, nowMs);
  }

  /** Applies a record about its own author. */
  #applyMember(read: ReadEvent, record: MemberRecord, nowMs: number): void {
    const { partition } = read;
    const { author } = record;
    const bundle = record.kind === 'report' ? bundleOfRecordKey(read.key) : null;
    if (bundle !== null && !this.usageMap.bounds.hasBundle(bundle)) {
      this.#refuseRows(read, 'too-many-groups', author, nowMs);
      return;
    }
    if (!this.membership.hasRoomFor(author.nodeKey, partition)) {
      this.refusals.node(record.kind === 'report' ? null : record.nodeId, nowMs);
      return;
    }
    const member = this.membership.memberOf(author, this.membershipLogMs);
    if (author.incarnation > member.lives[partition]) this.#beginLife(member, partition, author);
    const isNews = partition === MEMBERSHIP_PARTITION && this.membership.noteIfNews(member, author);
    if (record.kind === 'node' && (isNews || partition !== MEMBERSHIP_PARTITION)) {
      this.epochs.heard(member.nodeKey, partition, record.epoch ?? 0, nowMs);
    }
    if (record.kind === 'node' && isNews && record.keys !== undefined) {
      this.keys.note(author, record.keys, nowMs);
    }
    if (record.kind === 'report') this.#applyReport(read, member, record, bundle as number, nowMs);
    else this.#applySignature(read, member, record, isNews);
    if (isNews) this.#members.heard(member, record, { nowMs, logMs: this.membershipLogMs });
    else if (partition !== MEMBERSHIP_PARTITION) this.#members.heardOn(partition, member, record);
  }

  /** Tests if a record is its life's first one on the partition. */
  #beginsLife({ partition, record }: ReadEvent): boolean {
    if (record === null) return false;
    const { nodeKey, incarnation } = record.author;
    return incarnation > (this.membership.get(nodeKey)?.lives[partition] ?? 0);
  }

  #beginLife(member: Member, partition: number, { incarnation }: Author): void {
    this.membership.beginLife(member, partition, incarnation, this.membershipLogMs);
    this.pools[partition].restarted(member.nodeKey);
    this.usageMap.countLives(member, partition);
  }

  #applyReport(read: ReadEvent, member: Member, record: ReportRecord, bundle: number, nowMs: number): void {
    const { incarnation } = record.author;
    const { partition } = read;
    const isPast = incarnation < member.lives[partition];
    const { ms: logMs, spanMs, pauseMs } = this.logTimes[partition];
    const key = { partition, bundle, isPast };
    const placed = this.#placedOn(partition, record);
    const verdict = this.usageMap.apply(key, member, placed, { nowMs, logMs, spanMs, pauseMs, offset: read.offset });
    if (verdict === 'older') this.writer?.sayAgain(read);
    if (isPast) this.#ignore('old-incarnation');
    else if (verdict === 'repeated' || verdict === 'older') this.#ignore('repeated');
    else if (verdict === 'charge-in-doubt') this.#ignore(verdict);
    else if (verdict === 'charge-too-low') this.refusals.charge(member.nodeId, nowMs);
    else if (verdict !== 'applied') this.#refuseRows(read, verdict, record.author, nowMs);
  }

  /**
   * Leaves out rows whose group belongs to another partition. Nodes with a smaller partition count write such rows, and
   * offsets and times of one partition mean nothing on another.
   */
  #placedOn(partition: number, record: ReportRecord): ReportRecord {
    const partitions = this.logTimes.length;
    const isPlaced = ({ groupId }: ReportRow) => partitionOf(groupId, partitions) === partition;
    if (partitions === 1 || record.rows.every(isPlaced)) return record;
    this.#ignore('foreign-key');
    return { ...record, rows: record.rows.filter(isPlaced) };
  }

  /**
   * Applies the life that a NODE or FAREWELL record names. The writer is called for an older record that hides a newer
   * one from newcomers, and for a beat of an older life whose member is gone.
   */
  #applySignature(read: ReadEvent, member: Member, { kind, author }: MemberRecord, isNews: boolean): void {
    const { partition } = read;
    const isOfNewestLife = this.membership.sign(member, partition, author.incarnation);
    if (isOfNewestLife && (partition !== MEMBERSHIP_PARTITION || isNews)) return;
    if (!isOfNewestLife || author.sequence < member.sequence) this.writer?.sayAgain(read);
    const isOfOldLife = partition !== MEMBERSHIP_PARTITION || author.incarnation < member.incarnation;
    if (isOfOldLife && !this.membership.on(partition).has(member)) this.writer?.sayGone(member, read);
    if (partition !== MEMBERSHIP_PARTITION) return;
    if (isOfOldLife && kind === 'node') member.olderBeatLogMs = this.membershipLogMs;
    this.#ignore(isOfOldLife ? 'old-incarnation' : 'repeated');
  }

  #applyTombstone(read: ReadEvent, nowMs: number): void {
    const { partition, key } = read;
    const backend = backendOfRecordKey(key);
    if (backend !== null) this.#backends.bury(backend);
    else buryKey({ partition, key, logMs: this.membershipLogMs }, this.membership, this.usageMap);
    this.#noteOverwritten(read, nowMs);
  }

  /** Reports a ceiling whose key now holds another record. No node buries a ceiling, which ends by itself. */
  #noteOverwritten(read: ReadEvent, nowMs: number): void {
    this.#noteHidden(read, laneOfGroupStateKey(read.key), nowMs);
  }

  #refuseRows(read: ReadEvent, cause: RowsRefused['cause'], { nodeKey }: Author, nowMs: number): void {
    this.refusals.rows(cause, this.membership.get(nodeKey)?.nodeId || null, nowMs);
    this.writer?.sayLater(read, nowMs);
  }

  #ignore(cause: IgnoredCause): void {
    this.refusals.count(cause);
  }
}

/** Tests if a record's kind and author match its key and partition. */
function belongsTo({ partition, key }: ReadEvent, record: TopicRecord, partitions: number): boolean {
  switch (record.kind) {
    case 'backend':
      return partition === MEMBERSHIP_PARTITION && key === backendRecordKey(record.backend);
    case 'group-state':
      return (
        partition === partitionOf(record.groupId, partitions) &&
        key === groupStateRecordKey(record.groupId, record.direction)
      );
    case 'report':
      return nodeKeyOfRecordKey(key) === record.author.nodeKey && bundleOfRecordKey(key) !== null;
    default:
      return nodeKeyOfRecordKey(key) === record.author.nodeKey && isNodeRecordKey(key);
  }
}
