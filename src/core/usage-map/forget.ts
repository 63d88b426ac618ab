import type { Coordinator } from '../coordinator.js';
import { nodeRecordKey } from '../report/record.js';

/** Records freed per call: a cluster of many dead nodes is cleaned over some seconds, not in one produce. */
const KEYS_PER_CALL = 64;

/**
 * Keys of nodes that have been gone for `forgetAfterMs` of log time, to be freed by tombstones. Only the alive node with the lowest
 * key does it: two would be harmless (a tombstone changes no share), many would be noise.
 */
export function tombstonesOfForgotten(coordinator: Coordinator): { partition: number; key: string }[] {
  const { membership, usageMap, log, settings } = coordinator;
  if (membership.alive[0]?.nodeKey !== coordinator.nodeKey) return [];
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
  return keys;
}
