import type { GroupSettings } from '../../src/core/base/settings.js';
import { MESSAGES } from '../../src/core/base/vocabulary.js';
import type { ProcessRecord } from './process-record.js';

/** Bounds of bursts in docs/reference/promises.md, in seconds of target/N. */
const MINIMUM_BOUND_SECONDS = 0.25;
const SECOND_PIECE_SECONDS = 0.5;
export const BURST_MS = 100;
const LEAST_MESSAGES = 20;

/** Returns a node's promised burst: 100 ms, or 20 messages within 0.25 s of target/N, or two pieces. */
export function burstPromised(
  record: ProcessRecord,
  group: number,
  settings: GroupSettings,
  fail: (promise: string, says: string) => void,
): void {
  const { node, depth, share, isServed } = record;
  if (!isServed[group]) return;
  const members = record.membersOf(group);
  const isMember = members.some(({ nodeKey }) => nodeKey === node.coordinator.nodeKey);
  const nodes = members.length + (isMember ? 0 : 1);
  const equal = settings.quota.publish[MESSAGES] / Math.max(1, nodes);
  const most = Math.max((share[group] * BURST_MS) / 1000, leastDepth(equal));
  const is = depth[group];
  if (is > most * (1 + 1e-9)) fail('bursts', `a bucket of ${is} where ${most} is promised`);
}

/** Returns the least depth with a demand. */
export function leastDepth(equal: number): number {
  const small = 1 + Math.min(1, equal * SECOND_PIECE_SECONDS);
  return Math.min(LEAST_MESSAGES, Math.max(small, equal * MINIMUM_BOUND_SECONDS));
}
