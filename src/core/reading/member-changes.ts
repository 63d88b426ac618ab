import { MEMBERSHIP_PARTITION } from '../base/vocabulary.js';
import type { AgreedPool } from '../pool/agreed-pool.js';
import type { Notice } from '../protocol/events-and-effects.js';
import {
  type BackendRecord,
  type GroupStateRecord,
  type NodeRecord,
  nodeRecordKey,
  type TopicRecord,
} from '../protocol/record.js';
import { buryKey } from '../usage-map/lives.js';
import type { Member, Membership } from '../usage-map/membership.js';
import type { UsageMap } from '../usage-map/usage-map.js';
import type { EpochWatch } from './epoch-watch.js';
import type { PartitionCount } from './partition-count.js';
import type { Refusals } from './refusals.js';

/** A record that tells of its writer. */
export type MemberRecord = Exclude<TopicRecord, BackendRecord | GroupStateRecord>;

/** Tells the rest of the core, and people, that a node has become a member or has ceased to be one. */
export class MemberChanges {
  readonly #parts: MemberParts;

  constructor(parts: MemberParts) {
    this.#parts = parts;
  }

  /** Applies news on the membership partition, as a sign of life or a farewell. Returns whether `alive` changed. */
  heard(
    member: Member,
    record: MemberRecord,
    { nowMs, logMs }: { readonly nowMs: number; readonly logMs: number },
  ): boolean {
    switch (record.kind) {
      case 'node':
        return this.#join(member, record, logMs, nowMs);
      case 'farewell':
        return this.#leave(member, record.nodeId);
      case 'report':
        this.#parts.membership.signOfLife(member, logMs, nowMs);
        return false;
    }
  }

  /**
   * Removes the nodes that have been silent for too long when a record of the membership partition is read. The record
   * itself has not been applied: its author does not expire if it is a sign of life. Returns whether `alive` changed.
   */
  expire(record: TopicRecord | null, logMs: number): boolean {
    const { membership, usageMap } = this.#parts;
    if (!membership.mayExpire(logMs)) return false;
    const expired = membership.expire(logMs, this.#speakerOf(record));
    for (const member of expired) {
      this.#gone(member);
      this.#tell('member-expired', member.nodeId);
      const key = nodeRecordKey(member.nodeKey);
      if (member.isBuried) buryKey({ partition: MEMBERSHIP_PARTITION, key, logMs }, membership, usageMap);
    }
    return expired.length > 0;
  }

  /** The member whose sign of life, or farewell, a record is; null = it is neither. */
  #speakerOf(record: TopicRecord | null): Member | null {
    if (record === null || record.kind === 'backend' || record.kind === 'group-state') return null;
    const { nodeKey, incarnation, sequence } = record.author;
    const member = this.#parts.membership.get(nodeKey);
    if (member === undefined || incarnation < member.incarnation) return null;
    return incarnation > member.incarnation || sequence > member.sequence ? member : null;
  }

  #join(member: Member, record: NodeRecord, logMs: number, nowMs: number): boolean {
    const { membership, pool, partitionCount, refusals } = this.#parts;
    if (!partitionCount.heard(record, nowMs)) refusals.partitions(record.nodeId);
    const joined = membership.join(member, record.nodeId, record.version, logMs, nowMs);
    pool.heard(member.nodeKey, record.pool ?? 0);
    if (joined) this.#tell('member-joined', record.nodeId);
    return joined;
  }

  #leave(member: Member, nodeId: string): boolean {
    member.nodeId = nodeId;
    const left = this.#parts.membership.leave(member);
    this.#gone(member);
    if (left) this.#tell('member-left', nodeId);
    return left;
  }

  #gone({ nodeKey }: Member): void {
    this.#parts.pool.gone(nodeKey);
    this.#parts.epochs.left(nodeKey);
  }

  #tell(kind: 'member-joined' | 'member-left' | 'member-expired', nodeId: string): void {
    const { notices, membership } = this.#parts;
    notices.push({ kind, nodeId, members: membership.aliveCount });
  }
}

interface MemberParts {
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly pool: AgreedPool;
  readonly epochs: EpochWatch;
  readonly partitionCount: PartitionCount;
  readonly refusals: Refusals;
  readonly notices: Notice[];
}
