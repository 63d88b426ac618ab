import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { EXPIRY_MS } from '../../../src/core/strict/constants.js';
import { StrictNode } from '../../../src/core/strict/strict-node.js';
import { StrictLog } from '../../../src/node/strict/strict-log.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';

const QUOTA = { amount: 3600, perMs: 3_600_000, depth: 10 };
const BUCKETS = 500;
/** Milliseconds of a few rounds. */
const ROUNDS_MS = 200;
const WITHIN = { timeout: 20_000 };

/** A log in memory whose clock can be set forward. */
function started() {
  let skippedMs = 0;
  const clock = () => performance.now() + skippedMs;
  const memory = createMemoryLog({ clock });
  const logOf = (node: string) =>
    new StrictLog({
      createTopic: async () => new MemoryTopic(memory),
      node,
      cluster: 'test',
      life: 1,
      clock,
      look: () => {},
      telemetry: { log: () => {} },
    });
  const skip = (forMs: number) => {
    skippedMs += forMs;
  };
  return { logOf, skip };
}

test(`of ${BUCKETS.toLocaleString('en')} buckets only the one that is asked has rounds`, async () => {
  const { logOf, skip } = started();
  const log = logOf('a');
  const buckets = Array.from({ length: BUCKETS }, (_, at) => log.add(`lane-${at}`, QUOTA));
  const areAllKnown = () => buckets.every(({ isKnown }) => isKnown);
  const round = vi.spyOn(StrictNode.prototype, 'round');
  const roundsOf = async () => {
    round.mockClear();
    await sleep(ROUNDS_MS);
    return round.mock.calls.length;
  };
  try {
    await log.start();
    // A newcomer has a round as it joins, and one when nobody has answered for an expiry.
    await expect.poll(() => round.mock.calls.length, WITHIN).toBeGreaterThanOrEqual(BUCKETS);
    await expect.poll(roundsOf, WITHIN).toBe(0);
    skip(2 * EXPIRY_MS);
    await expect.poll(areAllKnown, WITHIN).toBe(true);
    await expect.poll(roundsOf, WITHIN).toBe(0);
    skip(10_000);
    expect(await buckets[7].acquire(5, 60_000)).toBe(true);
    expect(await roundsOf()).toBeGreaterThan(1);
    expect(new Set(round.mock.contexts).size).toBe(1);
    // It gives back what it holds.
    skip(10_000);
    await expect.poll(roundsOf, WITHIN).toBe(0);
  } finally {
    round.mockRestore();
    await log.close();
  }
});

test('a lane that is added while the log is read has what the log says of it', async () => {
  const { logOf, skip } = started();
  const [log, other] = [logOf('a'), logOf('b')];
  const first = log.add('paid', QUOTA);
  try {
    await log.start();
    other.add('free', QUOTA);
    await other.start();
    await sleep(ROUNDS_MS);
    skip(2 * EXPIRY_MS);
    await expect.poll(() => first.isKnown, WITHIN).toBe(true);
    skip(10_000);
    expect(await first.acquire(6, 60_000)).toBe(true);
    log.remove('paid');
    for (const each of [other, log]) {
      const again = each.add('paid', QUOTA);
      // No expiry passes.
      await expect.poll(() => again.isKnown, { timeout: EXPIRY_MS - 1500 }).toBe(true);
      expect(again.left).toBeGreaterThanOrEqual(4);
      expect(again.left).toBeLessThan(10);
      each.remove('paid');
    }
  } finally {
    await Promise.all([log.close(), other.close()]);
  }
});
