import type { GroupSettings } from '../../base/settings.js';
import { DIRECTIONS, MESSAGES } from '../../base/vocabulary.js';

/** Returns the messages/s at the top of a ramp; null = none. A direction without a quota does not ramp. */
export function rampTop({ ramp, quota, cost }: GroupSettings, direction: number): number | null {
  if (ramp === null) return null;
  const name = DIRECTIONS[direction];
  const messages = quota[name][MESSAGES];
  if (messages === Infinity && cost[name].total === Infinity) return null;
  const top = ramp.toPerSecond ?? messages;
  return top === Infinity ? null : top;
}
