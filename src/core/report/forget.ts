import { RECORDS_PER_CALL } from '../account/constants.js';
import { isOutdated } from '../account/share/lane-checkpoints.js';
import type { Append } from '../base/protocol/events-and-effects.js';
import { backendRecordKey, nodeRecordKey, reportRecordKey } from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import { type Incarnation, MEMBERSHIP_PARTITION, type NodeKey } from '../base/vocabulary.js';
import type { LogReader } from '../log/reading/log-reader.js';
import type { TargetBook } from '../target/target-book.js';
import type { Member, Membership } from '../usage-map/membership.js';
import type { KnownKey, UsageMap } from '../usage-map/usage-map.js';
import { FORGOTTEN_MAX } from './constants/constants.js';
import type { ReportBook } from './report-book.js';

/** A view of the cluster; the coordinator has it. */
interface Cluster {
  readonly nodeKey: NodeKey;
  readonly incarnation: Incarnation;
  readonly readyMs: number;
  readonly settings: CoordinatorSettings;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly log: LogReader;
  readonly targets: TargetBook;
}

/**
 * Frees keys of the log by tombstones: those of nodes and backends silent for `forgetAfterMs` of log time, and those of
 * this node's past lives that it has not used again `forgetAfterMs` after it became ready.
 */
export class Forgetting {
  readonly #cluster: Cluster;
  readonly #book: ReportBook;
  #ownKeysMs = -Infinity;

  constructor(cluster: Cluster, book: ReportBook) {
    this.#cluster = cluster;
    this.#book = book;
  }

  due(nowMs: number): Append[] {
    const keys = this.#keysOfPastLives(nowMs);
    const { nodeKey, membership } = this.#cluster;
    // Only the alive node with the lowest key frees: two would do no harm, because no tombstone changes a share.
    if (membership.alive[0]?.nodeKey === nodeKey) {
      this.#addForgottenNodes(keys);
      this.#addForgottenBackends(keys);
    }
    return keys.map(({ partition, key }) => ({ partition, key, record: null }));
  }

  #keysOfPastLives(nowMs: number): FreedKey[] {
    const { nodeKey, incarnation, readyMs, settings, membership, usageMap } = this.#cluster;
    const member = membership.get(nodeKey);
    if (member === undefined || nowMs - readyMs < settings.forgetAfterMs) return [];
    if (nowMs - this.#ownKeysMs < settings.partitionHeartbeatMs) return [];
    this.#ownKeysMs = nowMs;
    return usageMap
      .keysOf(member)
      .filter((known) => known.incarnation < incarnation && !this.#book.has(known.partition, known.bundle))
      .filter((known) => this.#isOutdated(known))
      .slice(0, RECORDS_PER_CALL)
      .map(({ partition, bundle }) => ({ partition, key: reportRecordKey(nodeKey, bundle) }));
  }

  #addForgottenNodes(keys: FreedKey[]): void {
    const { settings, membership, log } = this.#cluster;
    for (const member of membership.all()) {
      if (keys.length >= RECORDS_PER_CALL) return;
      if (member.state === 'alive' || log.membershipLogMs - member.lastSignLogMs < settings.forgetAfterMs) continue;
      // Its keys are no longer those of the life that is remembered.
      if (membership.runsInOlderLife(member, log.membershipLogMs)) continue;
      const isWhole = this.#addKeysOf(member, keys, membership.goneCount > FORGOTTEN_MAX);
      // Another try frees the rest once the tombstones have been read back, or should have been.
      const againInMs = isWhole ? settings.forgetAfterMs : Math.min(settings.stalenessMs, settings.forgetAfterMs);
      member.lastSignLogMs = log.membershipLogMs - settings.forgetAfterMs + againInMs;
    }
  }

  /**
   * Adds a node's keys, the NODE keys last: a bundle in the log needs the life to which it belongs. They go at once,
   * also above RECORDS_PER_CALL, so that the log seldom holds half of a node. Bundles that newcomers have to find stay,
   * unless too many nodes are gone. Returns false where there is more to add at once.
   */
  #addKeysOf(member: Member, keys: FreedKey[], areTooMany: boolean): boolean {
    const bundles = this.#cluster.usageMap.keysOf(member);
    const outdated = areTooMany ? bundles : bundles.filter((known) => this.#isOutdated(known));
    for (const { partition, bundle } of outdated.slice(0, FORGOTTEN_MAX)) {
      keys.push({ partition, key: reportRecordKey(member.nodeKey, bundle) });
    }
    if (outdated.length > FORGOTTEN_MAX) return false;
    if (outdated.length < bundles.length) return true;
    member.signedLives.forEach((life, partition) => {
      if (life !== 0) keys.push({ partition, key: nodeRecordKey(member.nodeKey) });
    });
    return true;
  }

  #isOutdated({ partition, record }: KnownKey): boolean {
    return isOutdated(this.#cluster, record, this.#cluster.log.logTimes[partition]);
  }

  #addForgottenBackends(keys: FreedKey[]): void {
    const { settings, log, targets } = this.#cluster;
    for (const { name, isSilent, heardLogMs } of targets.backends.all()) {
      if (!isSilent || log.membershipLogMs - heardLogMs < settings.forgetAfterMs) continue;
      keys.push({ partition: MEMBERSHIP_PARTITION, key: backendRecordKey(name) });
    }
  }
}

type FreedKey = Pick<Append, 'partition' | 'key'>;
