import { groupIdOf } from '../../src/core/base/ids.js';
import { type GateSettings, hasClusterBucket } from '../../src/core/base/local-gate.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { type GroupId, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { ProcessRecord } from './process-record.js';
import type { Readers } from './views.js';

type Fail = (promise: string, about: string, says: string) => void;

/** Groups, and keys with one. */
interface BucketsNamed {
  readonly cluster: string;
  readonly groups: readonly (Pick<GroupSettings, 'name'> & GateSettings)[];
}

/**
 * Checks that a bucket's followers hold the same tokens, bit for bit. They follow it since the same place. A process
 * that stands apart reads of other members, and may get tokens of its own: that error outlasts its reason, until the
 * bucket is full. Members that end at other records divide a settlement, which rounds otherwise later on.
 */
export function checkTokens({ view, apart }: Readers, settings: BucketsNamed, fail: Fail): void {
  for (const group of settings.groups) {
    if (!hasClusterBucket(group)) continue;
    const groupId = groupIdOf(settings.cluster, group.name);
    const isOwn = (record: ProcessRecord) => record.tokensOfItsOwn.has(groupId);
    const first = new Map<number, Holder>();
    for (const record of [...view.filter((one) => !isOwn(one)), ...view.filter(isOwn), ...apart]) {
      const tokens = tokensOf(record, groupId);
      const { tokens: book, usageMap } = record.node.coordinator;
      const since = book.beganOffsetOf(usageMap.mapLaneOf(groupId, 0));
      if (tokens === null || Number.isNaN(since)) {
        record.tokensOfItsOwn.delete(groupId);
        continue;
      }
      const known = first.get(since);
      if (known === undefined) first.set(since, { record, tokens });
      else if (known.tokens === tokens) {
        if (!isOwn(known.record)) record.tokensOfItsOwn.delete(groupId);
      } else if (isOwn(record) || apart.includes(record)) {
        for (const one of [record, known.record]) if (!view.includes(one)) one.tokensOfItsOwn.add(groupId);
      } else if (Math.abs(known.tokens - tokens) < ROUNDED && (record.stoodApart || known.record.stoodApart)) {
        for (const one of [record, known.record]) if (one.stoodApart) one.tokensOfItsOwn.add(groupId);
      } else if (gapsMs(record, groupId) !== gapsMs(known.record, groupId)) {
        const most = gapsMs(record, groupId) > gapsMs(known.record, groupId) ? record : known.record;
        most.tokensOfItsOwn.add(groupId);
      } else {
        const says = `${known.record.name} holds ${known.tokens}, ${record.name} ${tokens}, both since offset ${since}`;
        fail('same tokens', group.name, says);
      }
    }
  }
  for (const record of apart) record.stoodApart = true;
}

/** Tokens by which settlements round otherwise. */
const ROUNDED = 1e-9;

/** Time without records that buckets fill in: who has caught up since counts all of it (core/log/log-time.ts). */
function gapsMs({ node }: ProcessRecord, groupId: GroupId): number {
  const { log } = node.coordinator;
  const { spanMs, ms } = log.logTimes[node.coordinator.laneOf(groupId, 0).partition];
  return spanMs - ms;
}

interface Holder {
  readonly record: ProcessRecord;
  readonly tokens: number;
}

/** Returns a bucket's messages by all that is read; null = full, or not followed. */
function tokensOf({ node }: ProcessRecord, groupId: GroupId): number | null {
  const { tokens, usageMap } = node.coordinator;
  return tokens.tokensOf(usageMap.mapLaneOf(groupId, 0), MESSAGES);
}
