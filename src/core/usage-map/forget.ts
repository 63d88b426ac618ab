import type { Append } from '../coordinator-protocol.js';
import { backendRecordKey, nodeRecordKey } from '../report/record.js';
import type { CoordinatorSettings } from '../settings.js';
import type { TargetBook } from '../target/target-book.js';
import type { NodeKey } from '../vocabulary.js';
import type { LogReader } from './log-reader.js';
import { MEMBERSHIP_PARTITION, type Membership } from './membership.js';
import type { UsageMap } from './usage-map.js';

/** Records freed per call: a cluster of many dead nodes is cleaned over some seconds, not in one produce. */
const KEYS_PER_CALL = 64;

/**
 * Keys of nodes and backends that have been silent for `forgetAfterMs` of log time, to be freed by tombstones. Only
 * the alive node with the lowest key does it: two would be harmless (a tombstone changes no share), many would be
 * noise.
 */
export function tombstonesOfForgotten(own: Cluster): Append[] {
  const { membership, usageMap, log, settings } = own;
  if (membership.alive[0]?.nodeKey !== own.nodeKey) return [];
  const keys: { partition: number; key: string }[] = [];
  for (const member of membership.all()) {
    if (keys.length >= KEYS_PER_CALL) break;
    if (member.state === 'alive' || log.membershipLogMs - member.lastSignLogMs < settings.forgetAfterMs) continue;
    member.lastSignLogMs = log.membershipLogMs;
    keys.push(...usageMap.keysOf(member));
    for (let partition = 0; partition < settings.partitions; partition++) {
      keys.push({ partition, key: nodeRecordKey(member.nodeKey) });
    }
  }
  for (const { name, isSilent, heardLogMs } of own.targets.backends.all()) {
    if (!isSilent || log.membershipLogMs - heardLogMs < settings.forgetAfterMs) continue;
    keys.push({ partition: MEMBERSHIP_PARTITION, key: backendRecordKey(name) });
  }
  return keys.map(({ partition, key }) => ({ partition, key, record: null }));
}

/** What a node knows of the cluster; the coordinator is one. */
interface Cluster {
  readonly nodeKey: NodeKey;
  readonly settings: CoordinatorSettings;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly log: LogReader;
  readonly targets: TargetBook;
}
