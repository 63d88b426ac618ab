import type { KeyStatus } from '../api/key-status.js';
import type { GroupStatus } from '../api/node-status.js';
import { describeQuota } from '../config/describe/describe-config.js';
import { DIRECTIONS } from '../core/base/vocabulary.js';
import type { KeyBook } from '../groups/keys/key-book.js';

/** What this node knows of a key; null where it knows none of this name. */
export function describeKey(
  keys: KeyBook,
  name: string,
  describeGroup: (group: number) => GroupStatus,
): KeyStatus | null {
  const seen = keys.seen(name);
  if (seen === null) return null;
  const { template, settings, group, left } = seen;
  const quota = { publish: describeQuota(settings, 'publish'), dispatch: describeQuota(settings, 'dispatch') };
  const finite = (amount: number) => (amount === Number.POSITIVE_INFINITY ? null : Math.floor(amount));
  const unheard = left.map(([messages, bytes], direction) => {
    return [DIRECTIONS[direction], { messages: finite(messages), bytes: finite(bytes) }] as const;
  });
  return {
    key: name,
    template,
    quota,
    silent: group === null,
    leftUnheard: group === null ? (Object.fromEntries(unheard) as NonNullable<KeyStatus['leftUnheard']>) : null,
    group: group === null ? null : describeGroup(group),
  };
}
