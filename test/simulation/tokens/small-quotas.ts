import { describe, expect, test } from 'vitest';
import { someOf } from '../../property/seed.js';
import { poisson } from './arrivals.js';
import { central, jain, mostIn, perNode, play } from './play.js';

/** A quota of few tokens for its nodes. */
export interface SmallQuota {
  readonly perSecond: number;
  readonly nodes: number;
  readonly seconds: number;
  readonly depth: number;
}

/** Wishes that are missed, with what is reached: tokens lie idle while the news of the last ones travels. */
const MISSED: Readonly<Record<string, number>> = { '10/s on 10, 50 ms, load 0.9': 0.96 };

/** Declares the tests of these quotas: at three delays, and under less and more load than the quota. */
export function smallQuotasHold(quotas: readonly SmallQuota[]): void {
  describe.each(quotas)('$perSecond/s on $nodes nodes, $seconds s', (quota) => {
    const delays = [
      { deliveryMs: 5, least: 0.97 },
      { deliveryMs: 50, least: 0.97 },
      { deliveryMs: 200, least: 0.9 },
    ];
    test.each(someOf(delays))(
      'delivery in $deliveryMs ms: at least $least of what a central bucket gives',
      ({ deliveryMs, least }) => {
        for (const load of [0.9, 1.5]) holds(quota, deliveryMs, least, load);
      },
    );
  });
}

function holds({ perSecond, nodes, seconds, depth }: SmallQuota, deliveryMs: number, least: number, load: number) {
  const scene = poisson(7, nodes, perSecond, seconds, () => (load * perSecond) / nodes);
  const group = { burst: { messages: depth, bytes: null, policy: 'optimistic' } } as const;
  const { admitted } = play(scene, { deliveryMs, idleMs: (1200 * depth) / perSecond + 5000, group });
  const inOneBucket = central(scene, depth);
  const missed = MISSED[`${perSecond}/s on ${nodes}, ${deliveryMs} ms, load ${load}`] ?? least;
  expect(admitted.length / inOneBucket.length).toBeGreaterThanOrEqual(missed);
  // Two pieces more than the bucket lets through at most.
  expect(mostIn(admitted, 5000)).toBeLessThanOrEqual(5 * perSecond + depth + 2);
  const central5 = jain(perNode(inOneBucket, nodes));
  expect(jain(perNode(admitted, nodes))).toBeGreaterThanOrEqual(Math.min(0.98, central5 - 0.02));
}
