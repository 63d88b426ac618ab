import type { GroupSettings } from '../../src/core/base/settings.js';
import { MESSAGES } from '../../src/core/base/vocabulary.js';
import type { ProcessRecord } from './process-record.js';

/** Checks that no share rises while isolated, or with an incomplete log. A start's floor is allowed. */
export function checkIsolation(
  before: { readonly isServed: boolean; readonly isLinked: boolean; readonly share: number },
  record: ProcessRecord,
  group: number,
  { quota, floorRatio }: GroupSettings,
  fail: (promise: string, says: string) => void,
): void {
  const { name, isServed, isLinked, share } = record;
  if (!before.isServed || !isServed[group] || isLinked[group]) return;
  const now = share[group];
  const floor = (quota.publish[MESSAGES] / Math.max(1, record.membersOf(group).length)) * floorRatio;
  if (now > Math.max(before.share, floor) * (1 + 1e-9)) {
    fail('isolation', `${name} is isolated and rises from ${before.share.toFixed(3)} to ${now.toFixed(3)}`);
  }
}
