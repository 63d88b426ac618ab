import { groupIdOf } from '../../src/core/base/ids.js';
import { type GroupId, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { WorldSettings } from '../cluster/world.js';
import type { ProcessRecord } from './process-record.js';

type Fail = (promise: string, about: string, says: string) => void;

/**
 * The processes of one view that began to follow a bucket at the same place of the log hold the same tokens of it, bit
 * for bit. Whoever began elsewhere began with what a row said. With several partitions the order in which a process
 * read them counts too, because members are those of another partition.
 */
export function checkTokens(view: readonly ProcessRecord[], settings: WorldSettings, fail: Fail): void {
  if (view.some(({ node }) => node.coordinator.settings.partitions > 1)) return;
  settings.groups.forEach(({ name, sharing }) => {
    if (sharing !== 'tokens') return;
    const first = new Map<number, { readonly who: string; readonly tokens: number }>();
    for (const record of view) {
      const groupId = groupIdOf(settings.cluster, name);
      const tokens = tokensOf(record, groupId);
      const { tokens: book, usageMap } = record.node.coordinator;
      const since = book.beganOffsetOf(usageMap.mapLaneOf(groupId, 0));
      if (!record.isServing || tokens === null || Number.isNaN(since)) continue;
      const known = first.get(since);
      if (known === undefined) first.set(since, { who: record.name, tokens });
      else if (known.tokens !== tokens) {
        fail(
          'same tokens',
          name,
          `${known.who} holds ${known.tokens}, ${record.name} ${tokens}, both since offset ${since}`,
        );
      }
    }
  });
}

/** Messages in the cluster's bucket by all that has been read; null where the bucket is full, or not followed. */
function tokensOf({ node }: ProcessRecord, groupId: GroupId): number | null {
  const { tokens, usageMap } = node.coordinator;
  return tokens.tokensOf(usageMap.mapLaneOf(groupId, 0), MESSAGES);
}
