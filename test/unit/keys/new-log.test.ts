import { expect, test } from 'vitest';
import { AccountCluster, type Member } from '../../../sim/account/account-cluster.js';
import type { Story } from '../../../sim/account/story.js';
import { slotOf } from '../../../src/core/base/vocabulary.js';

/** Nodes notice the new log up to 400 ms apart. */
const STORY: Story = {
  seed: 4,
  nodes: 3,
  partitions: 1,
  delays: { appendMs: [1, 3], deliveryMs: [1, 400] },
  sampleIntervalMs: 20,
  buckets: [{ per: 'Minute', quota: 600, burst: null, isKey: true }],
  acts: [],
};
const EVERY_MS = 250;

test('while a new log is incomplete, silent keys owe nothing, and who is refused is told to come back once it is', () => {
  const cluster = new AccountCluster(STORY);
  const { queue, members } = cluster;
  const waits: number[] = [];
  const use = (forMs: number) => {
    for (const untilMs = queue.nowMs + forMs; queue.nowMs < untilMs; queue.runUntil(queue.nowMs + EVERY_MS)) {
      members.forEach(({ node }: Member, at) => {
        const decision = node.gate.tryAcquire(`key-0:of-${at}`, { messages: 2 });
        if (!decision.granted) waits.push(decision.retryAfterMs);
      });
    }
  };
  queue.runUntil(9500);
  use(4000);
  expect(waits).toEqual([]);
  cluster.topic.makeAnew();
  use(9000);
  expect(waits.length).toBeGreaterThan(0);
  for (const ms of waits) expect(ms).toBeLessThanOrEqual(cluster.config.timing.stalenessMs);
  const letOff = members.flatMap(({ node: { node } }) => {
    return [...node.coordinator.lanes.keys()].map((lane) => node.limiter.buckets.letOffAt(slotOf(lane, 0)));
  });
  expect(letOff).toEqual(letOff.map(() => 0));
});
