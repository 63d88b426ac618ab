import { groupIdOf } from '../../src/core/base/ids.js';
import { type GateSettings, hasClusterBucket } from '../../src/core/base/local-gate.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { type GroupId, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { ProcessRecord } from './process-record.js';

type Fail = (promise: string, about: string, says: string) => void;

/** Groups, and keys with one. */
export interface BucketsNamed {
  readonly cluster: string;
  readonly groups: readonly (Pick<GroupSettings, 'name'> & GateSettings)[];
}

/** Checks that a view's followers of a bucket since one place hold the same tokens, bit for bit. */
export function checkTokens(view: readonly ProcessRecord[], settings: BucketsNamed, fail: Fail): void {
  settings.groups.forEach((group) => {
    const { name } = group;
    if (!hasClusterBucket(group)) return;
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

/** Returns a bucket's messages by all that is read; null = full, or not followed. */
function tokensOf({ node }: ProcessRecord, groupId: GroupId): number | null {
  const { tokens, usageMap } = node.coordinator;
  return tokens.tokensOf(usageMap.mapLaneOf(groupId, 0), MESSAGES);
}
