import type { CoordinatorSettings } from '../base/settings.js';
import type { Incarnation, NodeKey } from '../base/vocabulary.js';
import { MEMBERSHIP_PARTITION } from '../base/vocabulary.js';
import { LogTime, stepLimitMs } from '../log/log-time.js';
import { AgreedPool } from '../pool/agreed-pool.js';
import type { IgnoredCause, Notice, ReadEvent, RowsRefused } from '../protocol/events-and-effects.js';
import {
  type Author,
  type BackendRecord,
  backendOfRecordKey,
  backendRecordKey,
  bundleOfRecordKey,
  type GroupStateRecord,
  groupStateRecordKey,
  isNodeRecordKey,
  nodeKeyOfRecordKey,
  type ReportRecord,
  type TopicRecord,
} from '../protocol/record.js';
import type { RampBook } from '../ramp/ramp-book.js';
import type { BackendBook } from '../target/backend-book.js';
import { buryKey, countLives } from '../usage-map/lives.js';
import { type Member, type Membership, newestLife } from '../usage-map/membership.js';
import type { UsageMap } from '../usage-map/usage-map.js';
import { EpochWatch } from './epoch-watch.js';
import { MemberChanges, type MemberRecord } from './member-changes.js';
import { PartitionCount } from './partition-count.js';
import { Refusals } from './refusals.js';

type LogSettings = Pick<CoordinatorSettings, 'partitions' | 'heartbeatMs' | 'stalenessMs'>;

interface Told {
  readonly backends: BackendBook;
  readonly ramps: RampBook;
  readonly notices: Notice[];
}

/** The part of a new round trip in the smoothed one. */
const ROUND_TRIP_SMOOTHING = 1 / 8;

/** The writing side of this node; it ignores records of other nodes. */
export interface Writer {
  /** Called when an older record stands in the log after the newest of its key: newcomers would read the older one. */
  sayAgain(read: ReadEvent): void;
  /** Called when there was no room for a record. */
  sayLater(read: ReadEvent, nowMs: number): void;
  /** Called when a process of this id beats in an older life, though the member's newer life is over. */
  sayGone(member: Member, offset: number): void;
}

/**
 * Applies records to membership and usage map, in the order of the log and by nothing but the log: repeats, past
 * incarnations and tombstones change no share (PIP-82, "Avoidance of old messages"; here by incarnation and sequence,
 * never by comparing a sender's clock with a receiver's).
 */
export class LogReader {
  readonly logTimes: readonly LogTime[];
  readonly refusals: Refusals;
  /** Writes this node's records again when the log hides them; null = this reader belongs to no writer. */
  writer: Writer | null = null;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly pool = new AgreedPool();
  readonly epochs: EpochWatch;
  readonly partitionCount: PartitionCount;
  readonly #backends: BackendBook;
  readonly #ramps: RampBook;
  readonly #members: MemberChanges;
  readonly #nextOffset: Float64Array;
  readonly #readMs: Float64Array;
  readonly #stepLimitMs: number;
  /** Milliseconds from writing a record to reading it back, smoothed. */
  roundTripMs = 0;

  constructor(settings: LogSettings, membership: Membership, usageMap: UsageMap, { backends, ramps, notices }: Told) {
    const { partitions, heartbeatMs } = settings;
    this.epochs = new EpochWatch(settings);
    this.#stepLimitMs = stepLimitMs(heartbeatMs);
    this.partitionCount = new PartitionCount(settings);
    this.logTimes = Array.from({ length: partitions }, () => new LogTime(heartbeatMs));
    this.#backends = backends;
    this.#ramps = ramps;
    this.membership = membership;
    this.usageMap = usageMap;
    this.refusals = new Refusals(notices);
    this.#members = new MemberChanges(this, notices);
    this.#nextOffset = new Float64Array(partitions);
    this.#readMs = new Float64Array(partitions);
  }

  get membershipLogMs(): number {
    return (this.logTimes[MEMBERSHIP_PARTITION] as LogTime).ms;
  }

  /** Records read that changed nothing, by cause. */
  get ignored(): Readonly<Record<IgnoredCause, number>> {
    return this.refusals.counts;
  }

  /** A record of this node came back after so long. */
  tookRoundTrip(tookMs: number): void {
    this.roundTripMs += (tookMs - this.roundTripMs) * (this.roundTripMs === 0 ? 1 : ROUND_TRIP_SMOOTHING);
  }

  /** Log time now: that of the last record, and the time since, at most as far as log time can go on by a record. */
  logNowMs(partition: number, nowMs: number): number {
    // Half of the round trip has passed since the last record was appended.
    const sinceMs = nowMs - (this.#readMs[partition] as number) + this.roundTripMs / 2;
    return (this.logTimes[partition] as LogTime).ms + Math.min(sinceMs, this.#stepLimitMs);
  }

  /** Offset after the last record read of a partition. */
  nextOffset(partition: number): number {
    return this.#nextOffset[partition] as number;
  }

  /** Called when another log begins: offsets, lives, log time and reports mean nothing in it. */
  forgetAll(): void {
    this.#nextOffset.fill(0);
    for (const logTime of this.logTimes) logTime.startAgain();
    this.usageMap.forgetAll(this.membership.all());
    this.membership.forgetAll();
    this.pool.forgetAll();
    this.#backends.forgetAll();
    this.#ramps.forgetAll();
    this.partitionCount.forgetAll();
    this.refusals.forgetAll();
  }

  /**
   * The newest life of a node among all its records in the log; levels and backends outlive the node's other records.
   */
  newestLifeOf(nodeKey: NodeKey): Incarnation {
    const member = this.membership.get(nodeKey);
    return Math.max(newestLife(member), this.#backends.newestLifeOf(nodeKey), this.#ramps.newestLifeOf(nodeKey));
  }

  /** Applies one record; returns whether the set of alive nodes, or the pool they agree on, changed. */
  apply(read: ReadEvent, nowMs: number): boolean {
    const before = this.pool.changes;
    const changed = this.#apply(read, nowMs);
    return changed || this.pool.changes !== before;
  }

  #apply(read: ReadEvent, nowMs: number): boolean {
    if (read.offset < this.nextOffset(read.partition)) {
      this.#ignore('repeated-offset');
      return false;
    }
    this.#nextOffset[read.partition] = read.offset + 1;
    this.#readMs[read.partition] = nowMs;
    const hasExpired = this.#age(read);
    if (read.record !== null) return this.#applyRecord(read, read.record, nowMs) || hasExpired;
    this.#applyTombstone(read);
    return hasExpired;
  }

  /**
   * Lets log time go on to a record, with everything that ends by it, before the record is judged. A node that has been
   * silent for too long is judged as expired, or as forgotten, by the record that shows how long it has been silent.
   * Returns whether a node expired.
   */
  #age(read: ReadEvent): boolean {
    const { partition, appendMs } = read;
    const logTime = this.logTimes[partition] as LogTime;
    logTime.advanceTo(appendMs);
    const hasExpired = partition === MEMBERSHIP_PARTITION && this.#members.expire(read.record, logTime.ms);
    if (this.#beginsLife(read)) logTime.countWholeStep();
    if (partition !== MEMBERSHIP_PARTITION) return hasExpired;
    this.#backends.expire(logTime.ms);
    this.#ramps.advanceTo(logTime, this.nextOffset(partition));
    return hasExpired;
  }

  #applyRecord(read: ReadEvent, record: TopicRecord, nowMs: number): boolean {
    if (record.kind === 'backend') return this.#applyBackend(read, record);
    if (record.kind === 'group-state') return this.#applyGroupState(read, record);
    const { author } = record;
    const bundle = record.kind === 'report' ? bundleOfRecordKey(read.key) : null;
    const isKeyOfKind = record.kind === 'report' ? bundle !== null : isNodeRecordKey(read.key);
    if (nodeKeyOfRecordKey(read.key) !== author.nodeKey || !isKeyOfKind) {
      this.#ignore('foreign-key');
      return false;
    }
    if (bundle !== null && !this.usageMap.bounds.hasBundle(bundle)) {
      this.#refuseRows(read, 'too-many-groups', author, nowMs);
      return false;
    }
    if (!this.membership.hasRoomFor(author.nodeKey, read.partition)) {
      this.#refuseNode(record, nowMs);
      return false;
    }
    const member = this.membership.memberOf(author, this.membershipLogMs);
    if (author.incarnation > (member.lives[read.partition] as number)) this.#beginLife(member, read.partition, author);
    const isNews = read.partition === MEMBERSHIP_PARTITION && this.membership.noteIfNews(member, author);
    if (record.kind === 'node' && (isNews || read.partition !== MEMBERSHIP_PARTITION)) {
      this.epochs.heard(member.nodeKey, read.partition, record.epoch ?? 0, nowMs);
    }
    if (record.kind === 'report') this.#applyReport(read, member, record, bundle as number, nowMs);
    else this.#applySignature(read, member, record, isNews);
    return isNews && this.#members.heard(member, record, { nowMs, logMs: this.membershipLogMs });
  }

  /** Changes no member: a node that reports a backend's health need not be one. */
  #applyBackend({ partition, key }: ReadEvent, record: BackendRecord): false {
    const { nodeKey, incarnation } = record.author;
    const isForeign = key !== backendRecordKey(record.backend) || partition !== MEMBERSHIP_PARTITION;
    if (isForeign) this.#ignore('foreign-key');
    else if (incarnation < (this.membership.get(nodeKey)?.incarnation ?? 0)) this.#ignore('old-incarnation');
    else {
      const verdict = this.#backends.apply(record, this.membershipLogMs);
      if (verdict !== 'applied') this.#ignore(verdict);
    }
    return false;
  }

  /** Applies the level of a ramp. Like a backend's health, it stays when its author leaves. */
  #applyGroupState({ partition, key }: ReadEvent, record: GroupStateRecord): false {
    const { author, groupId, direction } = record;
    const isForeign = key !== groupStateRecordKey(groupId, direction) || partition !== MEMBERSHIP_PARTITION;
    if (isForeign) this.#ignore('foreign-key');
    else if (author.incarnation < (this.membership.get(author.nodeKey)?.incarnation ?? 0))
      this.#ignore('old-incarnation');
    else {
      const verdict = this.#ramps.apply(this.usageMap.mapLaneOf(groupId, direction), record);
      if (verdict !== 'applied') this.#ignore(verdict);
    }
    return false;
  }

  /** Whether a record is the first of its life on its partition, as far as this reader knows. */
  #beginsLife({ partition, record }: ReadEvent): boolean {
    if (record === null) return false;
    const { nodeKey, incarnation } = record.author;
    return incarnation > ((this.membership.get(nodeKey)?.lives[partition] as number | undefined) ?? 0);
  }

  #beginLife(member: Member, partition: number, { incarnation }: Author): void {
    this.membership.beginLife(member, partition, incarnation, this.membershipLogMs);
    if (partition === MEMBERSHIP_PARTITION) this.pool.restarted(member.nodeKey);
    countLives(member, partition, this.usageMap);
  }

  #applyReport(read: ReadEvent, member: Member, record: ReportRecord, bundle: number, nowMs: number): void {
    const { incarnation } = record.author;
    const { partition } = read;
    const isPast = incarnation < member.incarnation || incarnation < (member.lives[partition] as number);
    const { ms: logMs } = this.logTimes[partition] as LogTime;
    const verdict = this.usageMap.apply({ partition, bundle, isPast }, member, record, { nowMs, logMs });
    if (verdict === 'older') this.writer?.sayAgain(read);
    if (isPast) this.#ignore('old-incarnation');
    else if (verdict === 'repeated' || verdict === 'older') this.#ignore('repeated');
    else if (verdict !== 'applied') this.#refuseRows(read, verdict, record.author, nowMs);
  }

  #applySignature(read: ReadEvent, member: Member, { kind, author }: MemberRecord, isNews: boolean): void {
    const { partition } = read;
    const isOfNewestLife = this.membership.sign(member, partition, author.incarnation);
    if (isOfNewestLife && (partition !== MEMBERSHIP_PARTITION || isNews)) return;
    if (!isOfNewestLife || author.sequence < member.sequence) this.writer?.sayAgain(read);
    if (partition !== MEMBERSHIP_PARTITION) return;
    const isOfOldLife = author.incarnation < member.incarnation;
    if (isOfOldLife && kind === 'node') member.olderBeatLogMs = this.membershipLogMs;
    if (isOfOldLife && member.state !== 'alive') this.writer?.sayGone(member, read.offset);
    this.#ignore(isOfOldLife ? 'old-incarnation' : 'repeated');
  }

  #applyTombstone({ partition, key }: ReadEvent): void {
    const backend = backendOfRecordKey(key);
    if (backend === null) this.#bury(partition, key);
    else this.#backends.bury(backend);
  }

  #bury(partition: number, key: string): void {
    buryKey({ partition, key, logMs: this.membershipLogMs }, this.membership, this.usageMap);
  }

  #refuseNode(record: MemberRecord, nowMs: number): void {
    this.refusals.node(record.kind === 'report' ? null : record.nodeId, nowMs);
  }

  #refuseRows(read: ReadEvent, cause: RowsRefused['cause'], { nodeKey }: Author, nowMs: number): void {
    this.refusals.rows(cause, this.membership.get(nodeKey)?.nodeId || null, nowMs);
    this.writer?.sayLater(read, nowMs);
  }

  #ignore(cause: IgnoredCause): void {
    this.refusals.count(cause);
  }
}
