import type { GroupSettings } from '../base/settings.js';
import { DIRECTIONS, type Direction, MESSAGES } from '../base/vocabulary.js';

/** Messages/s at the top of a direction's ramp; null = it has none. A direction without a quota does not ramp. */
export function rampTop({ ramp, quota, cost }: GroupSettings, direction: number): number | null {
  if (ramp === null) return null;
  const name = DIRECTIONS[direction] as Direction;
  const messages = quota[name][MESSAGES];
  if (messages === Number.POSITIVE_INFINITY && cost[name].total === Number.POSITIVE_INFINITY) return null;
  const top = ramp.toPerSecond ?? messages;
  return top === Number.POSITIVE_INFINITY ? null : top;
}
