import { bucketOfRecordKey, isNodeRecordKey, nodeKeyOfRecordKey } from '../report/record.js';
import { isForgotten, MEMBERSHIP_PARTITION, type Member, type Membership } from './membership.js';
import type { UsageMap } from './usage-map.js';

/**
 * A life of the member is another one on a partition now: records of older ones count for nobody, there, and on all
 * partitions where it is the membership partition.
 */
export function countLives(member: Member, changed: number, usageMap: UsageMap): void {
  const isEverywhere = changed === MEMBERSHIP_PARTITION;
  const last = isEverywhere ? member.lives.length - 1 : changed;
  for (let partition = isEverywhere ? 0 : changed; partition <= last; partition++) {
    usageMap.countFrom(member, partition, Math.max(member.incarnation, member.lives[partition] as number));
  }
}

/**
 * A tombstone. What is known of a node is what the log still holds of it, key by key: that is all that newcomers know,
 * and by the lives in it the node's next process chooses its own (docs/decisions/0046).
 */
export function buryKey(partition: number, key: string, membership: Membership, usageMap: UsageMap): void {
  const nodeKey = nodeKeyOfRecordKey(key);
  const member = nodeKey === null ? undefined : membership.get(nodeKey);
  if (member === undefined) return;
  const bucket = bucketOfRecordKey(key);
  if (bucket !== null) usageMap.remove(member, partition, bucket);
  else if (isNodeRecordKey(key)) membership.bury(member, partition);
  fallBack(member, partition, membership, usageMap);
  if (isForgotten(member) && !usageMap.hasKeysOf(member)) membership.drop(member);
}

function fallBack(member: Member, partition: number, membership: Membership, usageMap: UsageMap): void {
  const known = member.lives[partition] as number;
  const signed = member.signedLives[partition] as number;
  if (signed === known) return;
  const left = usageMap.newestOn(member, partition);
  const newest = left.incarnation < signed ? { incarnation: signed, sequence: 0 } : left;
  if (newest.incarnation === known) return;
  membership.fallBack(member, partition, newest);
  countLives(member, partition, usageMap);
}
