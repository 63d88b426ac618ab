import { IGNORED_CAUSES, type IgnoredCause, type Notice, type ReadEvent } from '../coordinator-protocol.js';
import { EpochWatch } from '../epoch/epoch-watch.js';
import { AgreedPool } from '../pool/agreed-pool.js';
import type { RampBook } from '../ramp/ramp-book.js';
import {
  type Author,
  type BackendRecord,
  backendOfRecordKey,
  backendRecordKey,
  type GroupStateRecord,
  groupStateRecordKey,
  isNodeRecordKey,
  nodeKeyOfRecordKey,
  type ReportRecord,
  type TopicRecord,
} from '../report/record.js';
import type { CoordinatorSettings } from '../settings.js';
import type { BackendBook } from '../target/backend-book.js';
import { LogTime } from '../topic/log-time.js';
import { isForgotten, MEMBERSHIP_PARTITION, type Member, type Membership } from './membership.js';
import type { UsageMap } from './usage-map.js';

type LogSettings = Pick<CoordinatorSettings, 'partitions' | 'heartbeatMs' | 'stalenessMs'>;

type MemberRecord = Exclude<TopicRecord, BackendRecord | GroupStateRecord>;

interface Told {
  readonly backends: BackendBook;
  readonly ramps: RampBook;
  readonly notices: Notice[];
}

/**
 * Applies records to membership and usage map, in the order of the log and by nothing but the log: repeats, past
 * incarnations and tombstones change no share (PIP-82, "Avoidance of old messages"; here by incarnation and sequence,
 * never by comparing a sender's clock with a receiver's).
 */
export class LogReader {
  readonly logTimes: readonly LogTime[];
  readonly ignored: Record<IgnoredCause, number> = createIgnored();
  /** When a node was refused last for which there is no room, local monotonic time. */
  nodeRefusedMs = Number.NEGATIVE_INFINITY;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly pool = new AgreedPool();
  readonly epochs: EpochWatch;
  readonly #backends: BackendBook;
  readonly #ramps: RampBook;
  readonly #notices: Notice[];
  readonly #nextOffset: Float64Array;

  constructor(settings: LogSettings, membership: Membership, usageMap: UsageMap, { backends, ramps, notices }: Told) {
    const { partitions, heartbeatMs } = settings;
    this.epochs = new EpochWatch(settings);
    this.logTimes = Array.from({ length: partitions }, () => new LogTime(heartbeatMs));
    this.#backends = backends;
    this.#ramps = ramps;
    this.membership = membership;
    this.usageMap = usageMap;
    this.#notices = notices;
    this.#nextOffset = new Float64Array(partitions);
  }

  get membershipLogMs(): number {
    return (this.logTimes[MEMBERSHIP_PARTITION] as LogTime).ms;
  }

  /** Offset after the last record read of a partition. */
  position(partition: number): number {
    return this.#nextOffset[partition] as number;
  }

  /** Another log begins: positions, lives, log time and all that was reported mean nothing in it. */
  forgetAll(): void {
    this.#nextOffset.fill(0);
    for (const logTime of this.logTimes) logTime.startAgain();
    this.usageMap.forgetAll();
    this.membership.forgetAll();
    this.pool.forgetAll();
    this.#backends.forgetAll();
    this.#ramps.forgetAll();
    this.nodeRefusedMs = Number.NEGATIVE_INFINITY;
  }

  /** Applies one record; returns whether the set of alive nodes, or the pool they agree on, changed. */
  apply(read: ReadEvent, nowMs: number): boolean {
    const before = this.pool.changes;
    const changed = this.#apply(read, nowMs);
    return changed || this.pool.changes !== before;
  }

  #apply(read: ReadEvent, nowMs: number): boolean {
    if (read.offset < this.position(read.partition)) {
      this.#ignore('repeated-offset');
      return false;
    }
    this.#nextOffset[read.partition] = read.offset + 1;
    const logTime = this.logTimes[read.partition] as LogTime;
    logTime.advanceTo(read.appendMs, this.#beginsLife(read));
    if (read.partition === MEMBERSHIP_PARTITION) {
      this.#backends.expire(logTime.ms);
      this.#ramps.advanceTo(logTime, this.position(read.partition));
    }
    if (read.record === null) this.#applyTombstone(read);
    const changed = read.record !== null && this.#applyRecord(read, read.record, nowMs);
    if (read.partition !== MEMBERSHIP_PARTITION) return changed;
    return this.#expire() || changed;
  }

  #applyRecord(read: ReadEvent, record: TopicRecord, nowMs: number): boolean {
    if (record.kind === 'backend') return this.#applyBackend(read, record);
    if (record.kind === 'group-state') return this.#applyGroupState(read, record);
    const { author } = record;
    if (nodeKeyOfRecordKey(read.key) !== author.nodeKey) {
      this.#ignore('foreign-key');
      return false;
    }
    if (!this.membership.hasRoomFor(author.nodeKey, read.partition)) {
      this.#refuseNode(record, nowMs);
      return false;
    }
    const member = this.membership.memberOf(author, this.membershipLogMs);
    if (author.incarnation > (member.lives[read.partition] as number)) this.#beginLife(member, read.partition, author);
    const isNews = read.partition === MEMBERSHIP_PARTITION && this.membership.recognise(member, author);
    if (record.kind === 'node' && (isNews || read.partition !== MEMBERSHIP_PARTITION)) {
      this.epochs.heard(member.nodeKey, read.partition, record.epoch ?? 0, nowMs);
    }
    if (record.kind === 'report') this.#applyReport(read, member, record, nowMs);
    else if (read.partition === MEMBERSHIP_PARTITION && !isNews) this.#ignoreOld(member, author);
    return isNews && this.#applySign(member, record, nowMs);
  }

  /** Changes no member: whoever says how a backend is need not be one. */
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

  /** A level of a ramp; like a backend's health it is not bound to its author. */
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

  /** The first record of a node's life on a partition, as far as this reader knows. */
  #beginsLife({ partition, record }: ReadEvent): boolean {
    if (record === null) return false;
    const { nodeKey, incarnation } = record.author;
    return incarnation > ((this.membership.get(nodeKey)?.lives[partition] as number | undefined) ?? 0);
  }

  /** Rows of past lives are dropped: on this partition, and on all of them when the membership partition says so. */
  #beginLife(member: Member, partition: number, { incarnation }: Author): void {
    this.membership.beginLife(member, partition, incarnation, this.membershipLogMs);
    if (partition === MEMBERSHIP_PARTITION) {
      this.pool.restarted(member.nodeKey);
      this.usageMap.removeBefore(member, incarnation);
    } else this.usageMap.removeBefore(member, incarnation, partition);
  }

  #applyReport(read: ReadEvent, member: Member, record: ReportRecord, nowMs: number): void {
    const { incarnation } = record.author;
    const isPast = incarnation < member.incarnation || incarnation < (member.lives[read.partition] as number);
    const { ms: logMs } = this.logTimes[read.partition] as LogTime;
    if (isPast) this.#ignore('old-incarnation');
    else if (!this.usageMap.apply(read.partition, read.key, member, record, { nowMs, logMs })) this.#ignore('repeated');
  }

  /**
   * A newer record on the membership partition: a sign of life, a farewell. Returns whether the set of alive nodes
   * changed.
   */
  #applySign(member: Member, record: MemberRecord, nowMs: number): boolean {
    switch (record.kind) {
      case 'node':
        return this.#join(member, record, nowMs);
      case 'farewell':
        return this.#leave(member, record.nodeId);
      case 'report':
        this.membership.signOfLife(member, this.membershipLogMs, nowMs);
        return false;
    }
  }

  #join(member: Member, record: TopicRecord & { kind: 'node' }, nowMs: number): boolean {
    const joined = this.membership.join(member, record.nodeId, record.version, this.membershipLogMs, nowMs);
    this.pool.heard(member.nodeKey, record.pool ?? 0);
    if (joined) this.#tell('member-joined', record.nodeId);
    return joined;
  }

  #leave(member: Member, nodeId: string): boolean {
    member.nodeId = nodeId;
    const left = this.membership.leave(member);
    this.pool.gone(member.nodeKey);
    this.epochs.left(member.nodeKey);
    if (left) this.#tell('member-left', nodeId);
    return left;
  }

  #expire(): boolean {
    const expired = this.membership.expire(this.membershipLogMs);
    for (const member of expired) {
      this.pool.gone(member.nodeKey);
      this.epochs.left(member.nodeKey);
      this.#tell('member-expired', member.nodeId);
    }
    return expired.length > 0;
  }

  #applyTombstone({ partition, key }: ReadEvent): void {
    this.usageMap.remove(key);
    const backend = backendOfRecordKey(key);
    if (backend !== null) this.#backends.bury(backend);
    const nodeKey = isNodeRecordKey(key) ? nodeKeyOfRecordKey(key) : null;
    const member = nodeKey === null ? undefined : this.membership.get(nodeKey);
    if (member === undefined) return;
    this.membership.forget(member, partition);
    // Rows of a bucket that nobody buried still count if the node comes back, so they must find it.
    if (isForgotten(member) && !this.usageMap.hasRowsOf(member)) this.membership.drop(member);
  }

  #tell(kind: 'member-joined' | 'member-left' | 'member-expired', nodeId: string): void {
    this.#notices.push({ kind, nodeId, members: this.membership.alive.length });
  }

  #ignoreOld(member: Member, author: Author): void {
    this.#ignore(author.incarnation < member.incarnation ? 'old-incarnation' : 'repeated');
  }

  #refuseNode(record: MemberRecord, nowMs: number): void {
    if (this.ignored['too-many-nodes'] === 0) {
      this.#notices.push({ kind: 'nodes-refused', nodeId: record.kind === 'report' ? null : record.nodeId });
    }
    this.#ignore('too-many-nodes');
    this.nodeRefusedMs = nowMs;
  }

  #ignore(cause: IgnoredCause): void {
    this.ignored[cause]++;
  }
}

function createIgnored(): Record<IgnoredCause, number> {
  return Object.fromEntries(IGNORED_CAUSES.map((cause) => [cause, 0])) as Record<IgnoredCause, number>;
}
