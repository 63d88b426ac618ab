import { expect, test } from 'vitest';
import { poisson } from './arrivals.js';
import { mostIn, play } from './play.js';

const PER_SECOND = 1000;
/** What a node was expected to take and did not, it may take so much later (slot-tokens.ts). */
const LATE_SECONDS = 0.15;
const LATE_MESSAGES = 2;

/** All nodes rest at one time and come back at one time, so that all of them have something left. */
test.each([
  { nodes: 30, depth: 100, waveMs: 2000, deliveryMs: 50 },
  { nodes: 30, depth: 10, waveMs: 2000, deliveryMs: 50 },
  { nodes: 30, depth: 50, waveMs: 1000, deliveryMs: 5 },
  { nodes: 10, depth: 5, waveMs: 100, deliveryMs: 50 },
])('$nodes nodes, depth $depth: three depths, and what each may take late', (given) => {
  const { nodes, depth, waveMs, deliveryMs } = given;
  const rateOf = (atMs: number) => (atMs % waveMs < waveMs / 2 ? (4 * PER_SECOND) / nodes : 0);
  const burst = { messages: depth, bytes: null, policy: 'optimistic' } as const;
  const { admitted } = play(poisson(1, nodes, PER_SECOND, 8, rateOf), { deliveryMs, group: { burst } });
  const most = 3 * depth + LATE_SECONDS * PER_SECOND + LATE_MESSAGES * nodes;
  for (const spanMs of [20, 100, 500, 1000, 5000]) {
    expect(mostIn(admitted, spanMs), `${spanMs} ms`).toBeLessThanOrEqual((PER_SECOND * spanMs) / 1000 + most);
  }
});
