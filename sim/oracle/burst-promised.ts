import type { GroupSettings } from '../../src/core/base/settings.js';
import { MESSAGES } from '../../src/core/base/vocabulary.js';
import type { ProcessRecord } from './process-record.js';

/** The bounds of bursts in docs/reference/promises.md, as parts of a second of target/N. */
const MINIMUM_BOUND_SECONDS = 0.25;
const SECOND_PIECE_SECONDS = 0.5;
export const BURST_MS = 100;
const LEAST_MESSAGES = 20;

/**
 * A node's bucket holds 100 ms of its limit, or 20 messages if that is more. Those messages are at most a quarter of a
 * second of target/N, or two pieces if target/N is small.
 */
export function burstPromised(
  record: ProcessRecord,
  group: number,
  settings: GroupSettings,
  fail: (promise: string, says: string) => void,
): void {
  const { node, depth, limit, isServed } = record;
  if (!isServed[group]) return;
  const members = record.membersOf(group);
  const isMember = members.includes(node.coordinator.nodeKey);
  const nodes = members.length + (isMember ? 0 : 1);
  const equal = settings.quota.publish[MESSAGES] / Math.max(1, nodes);
  const most = Math.max((limit[group] * BURST_MS) / 1000, leastDepth(equal));
  const is = depth[group];
  if (is > most * (1 + 1e-9)) fail('bursts', `a bucket of ${is} where ${most} is promised`);
}

/** The depth of a bucket with a demand, however small its limit is. */
export function leastDepth(equal: number): number {
  const small = 1 + Math.min(1, equal * SECOND_PIECE_SECONDS);
  return Math.min(LEAST_MESSAGES, Math.max(small, equal * MINIMUM_BOUND_SECONDS));
}
