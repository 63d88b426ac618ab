import { groupIdOf } from '../../src/core/base/ids.js';
import { type GroupId, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { WorldSettings } from '../cluster/world.js';
import type { ProcessRecord } from './process-record.js';

type Fail = (promise: string, about: string, says: string) => void;

/**
 * The processes of one view that began to decide at the same place of the log hold the same tokens for every group, bit
 * for bit. Whoever began elsewhere began with an empty bucket, and comes to hold the same as the others. With several
 * partitions the order in which a process read them counts too, because members are those of another partition.
 */
export function checkTokens(view: readonly ProcessRecord[], settings: WorldSettings, fail: Fail): void {
  if (view.some(({ node }) => node.coordinator.settings.partitions > 1)) return;
  settings.groups.forEach(({ name, sharing }) => {
    if (sharing !== 'tokens') return;
    const first = new Map<number, { readonly who: string; readonly tokens: number }>();
    for (const record of view) {
      const { tokens: book } = record.node.coordinator;
      const tokens = tokensOf(record, groupIdOf(settings.cluster, name));
      const since = book.beganLogMs[0] as number;
      if (!record.isServing || tokens === null) continue;
      const known = first.get(since);
      if (known === undefined) first.set(since, { who: record.name, tokens });
      else if (known.tokens !== tokens) {
        fail(
          'same tokens',
          name,
          `${known.who} holds ${known.tokens}, ${record.name} ${tokens}, both since ${since} ms`,
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
