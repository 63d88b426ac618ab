import type { IgnoredCause, Notice, ReadEvent } from '../coordinator-protocol.js';
import { type Author, nodeKeyOfRecordKey, type TopicRecord } from '../report/record.js';
import { LogTime } from '../topic/log-time.js';
import type { Member, Membership } from './membership.js';
import type { UsageMap } from './usage-map.js';

/** The partition whose log decides who is a member, and on whose log time silence is measured. */
export const MEMBERSHIP_PARTITION = 0;

/**
 * Applies records to membership and usage map, in the order of the log and by nothing but the log: repeats, past incarnations
 * and tombstones change no share (PIP-82, "Avoidance of old messages"; here by incarnation and sequence, never by comparing a
 * sender's clock with a receiver's).
 */
export class LogReader {
  readonly logTimes: readonly LogTime[];
  readonly ignored: Record<IgnoredCause, number> = { 'old-incarnation': 0, repeated: 0, 'repeated-offset': 0 };
  readonly #membership: Membership;
  readonly #usageMap: UsageMap;
  readonly #notices: Notice[];
  readonly #nextOffset: Float64Array;

  constructor(partitions: number, heartbeatMs: number, membership: Membership, usageMap: UsageMap, notices: Notice[]) {
    this.logTimes = Array.from({ length: partitions }, () => new LogTime(heartbeatMs));
    this.#membership = membership;
    this.#usageMap = usageMap;
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

  /** Applies one record; returns whether the set of alive nodes changed. */
  apply(read: ReadEvent, nowMs: number): boolean {
    if (read.offset < this.position(read.partition)) {
      this.#ignore('repeated-offset');
      return false;
    }
    this.#nextOffset[read.partition] = read.offset + 1;
    (this.logTimes[read.partition] as LogTime).advanceTo(read.appendMs);
    const changed = read.record === null ? this.#applyTombstone(read.key) : this.#applyRecord(read, read.record, nowMs);
    if (read.partition !== MEMBERSHIP_PARTITION) return changed;
    return this.#expire() || changed;
  }

  #applyRecord(read: ReadEvent, record: TopicRecord, nowMs: number): boolean {
    const known = this.#membership.get(record.author.nodeKey)?.incarnation;
    const member = this.#membership.recognise(record.author);
    if (member === null) {
      this.#ignore('old-incarnation');
      return false;
    }
    if (known !== undefined && member.incarnation > known) this.#usageMap.removeBefore(member, member.incarnation);
    if (record.kind === 'report') return this.#applyReport(read, member, record, nowMs);
    if (!isNews(record.author, member)) {
      this.#ignore('repeated');
      return false;
    }
    if (read.partition !== MEMBERSHIP_PARTITION) return false;
    member.sequence = record.author.sequence;
    return record.kind === 'node' ? this.#join(member, record, nowMs) : this.#leave(member, record.nodeId);
  }

  #applyReport(read: ReadEvent, member: Member, record: TopicRecord & { kind: 'report' }, nowMs: number): boolean {
    if (!this.#usageMap.apply(read.partition, read.key, member, record, nowMs)) {
      this.#ignore('repeated');
      return false;
    }
    if (read.partition === MEMBERSHIP_PARTITION && isNews(record.author, member)) {
      member.sequence = record.author.sequence;
      this.#membership.signOfLife(member, this.membershipLogMs, nowMs);
    }
    return false;
  }

  #join(member: Member, record: TopicRecord & { kind: 'node' }, nowMs: number): boolean {
    const joined = this.#membership.join(member, record.nodeId, record.version, this.membershipLogMs, nowMs);
    if (joined) this.#tell('member-joined', record.nodeId);
    return joined;
  }

  #leave(member: Member, nodeId: string): boolean {
    member.nodeId = nodeId;
    const left = this.#membership.leave(member);
    if (left) this.#tell('member-left', nodeId);
    return left;
  }

  #expire(): boolean {
    const expired = this.#membership.expire(this.membershipLogMs);
    for (const member of expired) this.#tell('member-expired', member.nodeId);
    return expired.length > 0;
  }

  #applyTombstone(key: string): boolean {
    this.#usageMap.remove(key);
    const nodeKey = nodeKeyOfRecordKey(key);
    const member = nodeKey === null || key.length > 8 ? undefined : this.#membership.get(nodeKey);
    if (member !== undefined && member.state !== 'alive') this.#membership.forget(member);
    return false;
  }

  #tell(kind: 'member-joined' | 'member-left' | 'member-expired', nodeId: string): void {
    this.#notices.push({ kind, nodeId, members: this.#membership.alive.length });
  }

  #ignore(cause: IgnoredCause): void {
    this.ignored[cause]++;
  }
}

function isNews(author: Author, member: Member): boolean {
  return author.sequence > member.sequence;
}
