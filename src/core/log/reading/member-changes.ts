import type { Notice } from '../../base/protocol/events-and-effects.js';
import {
  type BackendRecord,
  type GroupStateRecord,
  type NodeRecord,
  nodeRecordKey,
  type TopicRecord,
} from '../../base/protocol/record.js';
import { MEMBERSHIP_PARTITION } from '../../base/vocabulary.js';
import { buryKey } from '../../usage-map/lives.js';
import type { Member, Membership } from '../../usage-map/membership.js';
import type { AgreedPool } from '../../usage-map/pool/agreed-pool.js';
import type { ReadTime } from '../../usage-map/record-store.js';
import type { UsageMap } from '../../usage-map/usage-map.js';
import type { EpochWatch } from './epoch-watch.js';
import type { PartitionCount } from './partition-count.js';
import type { Refusals } from './refusals.js';

/** A record about its own writer. */
export type MemberRecord = Exclude<TopicRecord, BackendRecord | GroupStateRecord>;

/** Applies joins, farewells and expiry of nodes, and notes them for people. */
export class MemberChanges {
  readonly #parts: MemberParts;

  constructor(parts: MemberParts) {
    this.#parts = parts;
  }

  /** Applies news on the membership partition: a join, a farewell or a report. */
  heard(member: Member, record: MemberRecord, { nowMs, logMs }: Pick<ReadTime, 'nowMs' | 'logMs'>): void {
    switch (record.kind) {
      case 'node':
        this.#join(member, record, logMs, nowMs);
        break;
      case 'farewell':
        this.#leave(member, record.nodeId);
        break;
      case 'report':
        this.#parts.membership.signOfLife(member, logMs, nowMs);
    }
  }

  /** Applies a record to the alive members of another partition. */
  heardOn(partition: number, member: Member, record: MemberRecord): void {
    if (record.kind === 'report' || record.author.incarnation < member.lives[partition]) return;
    const { epochs, membership, pools } = this.#parts;
    if (record.kind === 'node') {
      membership.joinOn(partition, member, record.nodeId);
      pools[partition].heard(member.nodeKey, record.pool ?? 0);
    } else {
      membership.leaveOn(partition, member, record.nodeId);
      pools[partition].gone(member.nodeKey);
      epochs.left(member.nodeKey, partition);
    }
  }

  /**
   * Removes the nodes that have been silent for too long. The record that shows it has not been applied: its author
   * does not expire if the record is a sign of life.
   */
  expire(record: TopicRecord | null, logMs: number): void {
    const { membership, usageMap } = this.#parts;
    if (!membership.mayExpire(logMs)) return;
    for (const member of membership.expire(logMs, this.#authorOf(record))) {
      this.#gone(member);
      this.#tell('member-expired', member.nodeId);
      const key = nodeRecordKey(member.nodeKey);
      if (member.isBuried) buryKey({ partition: MEMBERSHIP_PARTITION, key, logMs }, membership, usageMap);
    }
  }

  /** Finds the member of which a record is news, or null. */
  #authorOf(record: TopicRecord | null): Member | null {
    if (record === null || record.kind === 'backend' || record.kind === 'group-state') return null;
    const { nodeKey, incarnation, sequence } = record.author;
    const member = this.#parts.membership.get(nodeKey);
    if (member === undefined || incarnation < member.incarnation) return null;
    return incarnation > member.incarnation || sequence > member.sequence ? member : null;
  }

  #join(member: Member, record: NodeRecord, logMs: number, nowMs: number): void {
    const { membership, pools, partitionCount, refusals } = this.#parts;
    if (!partitionCount.heard(record, nowMs)) refusals.partitions(record.nodeId);
    const joined = membership.join(member, record.nodeId, record.version, logMs, nowMs);
    pools[MEMBERSHIP_PARTITION]!.heard(member.nodeKey, record.pool ?? 0);
    if (joined) this.#tell('member-joined', record.nodeId);
  }

  #leave(member: Member, nodeId: string): void {
    member.nodeId = nodeId;
    const left = this.#parts.membership.leave(member);
    this.#gone(member);
    if (left) this.#tell('member-left', nodeId);
  }

  #gone({ nodeKey }: Member): void {
    this.#parts.pools[MEMBERSHIP_PARTITION]!.gone(nodeKey);
    this.#parts.epochs.left(nodeKey, MEMBERSHIP_PARTITION);
  }

  #tell(kind: 'member-joined' | 'member-left' | 'member-expired', nodeId: string): void {
    const { notices, membership } = this.#parts;
    notices.push({ kind, nodeId, members: membership.aliveCount });
  }
}

interface MemberParts {
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  /** By partition. */
  readonly pools: readonly AgreedPool[];
  readonly epochs: EpochWatch;
  readonly partitionCount: PartitionCount;
  readonly refusals: Refusals;
  readonly notices: Notice[];
}
