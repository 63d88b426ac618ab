import rateLimit from '@fastify/rate-limit';
import { fastify } from 'fastify';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FixedWindows } from '../../../sim/baselines/store/fixed-windows.js';
import { type StoreSystem, storeSystems } from '../../../sim/baselines/store/store-systems.js';
import { EventQueue } from '../../../sim/cluster/event-queue.js';
import { Random } from '../../../sim/cluster/random.js';
import { LOCAL_KAFKA } from '../../../sim/cluster/world.js';

const UNLIMITED = Infinity;

describe('the windows of a quota, beside the libraries themselves on the same rows', () => {
  /** 400 rows in seven minutes: some in bursts, some alone, some within a millisecond of a window's end. */
  const rows = (() => {
    const random = Random.stream(7, 'rows');
    let atMs = 0;
    return Array.from({ length: 400 }, (_, at) => {
      atMs += at % 20 === 0 ? Math.floor(random.between(5_000, 30_000)) : Math.floor(random.between(0, 120));
      return { atMs, points: 1 + Math.floor(random.between(0, 3)) };
    });
  })();

  const quotas = [
    ['60/min', 60, 60_000],
    ['300/h', 300, 3_600_000],
    ['7/s', 7, 1000],
  ] as const;

  test.for(quotas)('rate-limiter-flexible at %s', async ([, points, perMs]) => {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const limiter = new RateLimiterMemory({ points, duration: perMs / 1000 });
    const quota = { messagesPerSecond: (points * 1000) / perMs, bytesPerSecond: UNLIMITED };
    const store = FixedWindows.ofRateLimiterFlexible(quota, [perMs, 1000]);
    const answers: [real: boolean, played: boolean][] = [];
    for (const row of rows) {
      vi.setSystemTime(1_700_000_000_000 + row.atMs);
      const real = await limiter.consume('key', row.points).then(
        () => true,
        () => false,
      );
      answers.push([real, store.take(row.points, 0, row.atMs)]);
    }
    expect(answers.filter(([real, played]) => real !== played)).toEqual([]);
    expect(new Set(answers.map(([real]) => real)).size).toBe(2);
  });

  test.for(quotas)('@fastify/rate-limit at %s', async ([, max, timeWindow]) => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const app = fastify();
    onTestFinished(() => app.close());
    await app.register(rateLimit, { max, timeWindow });
    app.get('/', () => 'ok');
    const quota = { messagesPerSecond: (max * 1000) / timeWindow, bytesPerSecond: 1 };
    const store = FixedWindows.ofFastifyRateLimit(quota, [timeWindow, 1000]);
    const answers: [real: boolean, played: boolean][] = [];
    for (const { atMs, points } of rows) {
      vi.setSystemTime(1_700_000_000_000 + atMs);
      const { statusCode } = await app.inject('/');
      answers.push([statusCode === 200, store.take(points, 100, atMs)]);
    }
    expect(answers.filter(([real, played]) => real !== played)).toEqual([]);
    expect(new Set(answers.map(([real]) => real)).size).toBe(2);
  });
});

describe('one store that is asked for each request', () => {
  const create = (name: string, roundTripMs: number) => {
    const queue = new EventQueue();
    const system = storeSystems(roundTripMs).find((each) => each.name === name) as StoreSystem;
    const quota = { messagesPerSecond: 1000, bytesPerSecond: UNLIMITED };
    return { queue, cluster: system.create({ queue, random: new Random(1), delays: LOCAL_KAFKA, quota, nodes: 5 }) };
  };

  test('a question arrives half a round trip later, its answer another half: 25 to 75 ms each of 100', () => {
    const { queue, cluster } = create('central-bucket', 100);
    const answeredMs: number[] = [];
    for (let question = 0; question < 100; question++) cluster.ask('n0', 1, 0, () => answeredMs.push(queue.nowMs));
    expect(answeredMs).toEqual([]);
    queue.runUntil(1000);
    expect(answeredMs).toHaveLength(100);
    expect(Math.min(...answeredMs)).toBeGreaterThan(50);
    expect(Math.max(...answeredMs)).toBeLessThan(150);
    expect(cluster.sent).toEqual({ records: 100, bytes: 100 * 140 });
  });

  test('all nodes spend one bucket, by what is there when the question arrives', () => {
    const { queue, cluster } = create('central-bucket', 100);
    queue.runUntil(10_000);
    const admitted: string[] = [];
    // 100 ms of the quota are there, and 50 more come while the questions are on their way.
    for (let question = 0; question < 400; question++) {
      const node = `n${question % 5}`;
      cluster.ask(node, 1, 0, (isAdmitted) => {
        if (isAdmitted) admitted.push(node);
      });
    }
    queue.runUntil(11_000);
    expect(admitted.length).toBeGreaterThanOrEqual(145);
    expect(admitted.length).toBeLessThanOrEqual(151);
    expect(new Set(admitted).size).toBe(5);
  });
});
