import { bundleOfRecordKey, isNodeRecordKey, nodeKeyOfRecordKey } from '../base/protocol/record.js';
import { isForgotten, type Member, type Membership } from './membership.js';
import type { UsageMap } from './usage-map.js';

/**
 * Applies a tombstone. A node is what the log still holds of it, key by key. *Why:* newcomers read no more, and the
 * node's next process chooses its life above those in the log (docs/decisions/0046).
 */
export function buryKey({ partition, key, logMs }: BuriedKey, membership: Membership, usageMap: UsageMap): void {
  const nodeKey = nodeKeyOfRecordKey(key);
  const member = nodeKey === null ? undefined : membership.get(nodeKey);
  if (member === undefined) return;
  const bundle = bundleOfRecordKey(key);
  if (bundle !== null) usageMap.remove(member, partition, bundle);
  else if (isNodeRecordKey(key)) membership.bury(member, partition, logMs);
  fallBack(member, partition, membership, usageMap);
  if (isForgotten(member) && !usageMap.hasKeysOf(member)) membership.drop(member);
}

/** Sets the newest life to that of the partition's other records. */
function fallBack(member: Member, partition: number, membership: Membership, usageMap: UsageMap): void {
  const known = member.lives[partition];
  const signed = member.signedLives[partition];
  if (signed === known) return;
  const left = usageMap.newestOn(member, partition);
  const newest = left.incarnation < signed ? { incarnation: signed, sequence: 0 } : left;
  if (newest.incarnation === known) return;
  membership.fallBack(member, partition, newest);
  usageMap.countLives(member, partition);
}

interface BuriedKey {
  readonly partition: number;
  readonly key: string;
  /** Log time of the membership partition. */
  readonly logMs: number;
}
