import type { ProcessRecord } from './process-record.js';

/** Nobody rises while isolated: what was held when the echo went missing may fall, and never grow. */
export function checkIsolation(
  before: { readonly isServed: boolean; readonly isLinked: boolean; readonly share: number },
  { name, isServed, isLinked, share }: ProcessRecord,
  group: number,
  fail: (promise: string, says: string) => void,
): void {
  if (!before.isServed || !isServed[group] || isLinked[group]) return;
  const now = share[group] as number;
  if (now > before.share * (1 + 1e-9)) {
    fail('isolation', `${name} is isolated and rises from ${before.share.toFixed(3)} to ${now.toFixed(3)}`);
  }
}
