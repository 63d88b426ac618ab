import { expect, test } from 'vitest';
import { PER_SECOND, withKeys } from '../keys/keys-cluster.js';

const TICK_MS = 20;
const SECONDS = 15;
/** Divides the work among the nodes. */
const PARTS = [0.6, 0.3, 0.1];

/** Numbers of arrivals in a tick, the same in every run. */
function poisson(): (mean: number) => number {
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return (mean) => {
    let count = 0;
    for (let product = random(); product > Math.exp(-mean); product *= random()) count++;
    return count;
  };
}

/** What docs/guide/how-it-works.md says under "What is reported, and when". */
test.each([
  { what: 'half of a quota', quota: 1000, perSecond: 500, settings: {}, reports: [3, 6] },
  { what: 'more than the quota', quota: 1000, perSecond: 1200, settings: {}, reports: [5, 40] },
  { what: 'half of a small quota', quota: 10, perSecond: 5, settings: {}, reports: [10, 90] },
  { what: 'half of a quota, gates', quota: 1000, perSecond: 500, settings: { topics: 'even' }, reports: [2, 25] },
])('three nodes that admit $what write so many reports in 15 s', async ({ quota, perSecond, settings, reports }) => {
  const arrivals = poisson();
  await withKeys(
    3,
    {},
    async ({ nodes, time, appended }) => {
      await time.advance(3000);
      const before = appended.reports;
      for (let passedMs = 0; passedMs < SECONDS * 1000; passedMs += TICK_MS) {
        for (const [at, node] of nodes.entries()) {
          const mean = (perSecond * PARTS[at] * TICK_MS) / 1000;
          for (let left = arrivals(mean); left > 0; left--) node.tryAcquire('orders', { messages: 1 });
        }
        await time.advance(TICK_MS);
      }
      const written = appended.reports - before;
      expect(written).toBeGreaterThanOrEqual(reports[0]);
      expect(written).toBeLessThanOrEqual(reports[1]);
    },
    undefined,
    { groups: { orders: { ...PER_SECOND(quota), ...settings } } },
  );
});
