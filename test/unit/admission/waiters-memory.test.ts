import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { someOf } from '../../property/seed.js';
import { readyScene } from '../http/http-scene.js';

const WAITERS = 10_000;
/** limits.maxWaiting says 1.5 KB, and 2.5 KB with a signal; measured 1.3 and 2.5 with the promise of who waits. */
const BYTES_MAX = { plain: 2000, signal: 3500 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test.each(someOf(['plain', 'signal'] as const))(
  'a waiter takes the memory that its setting tells: %s',
  async (kind) => {
    const { node, close } = await readyScene({
      groups: { slow: { quota: { publish: { messagesPerSecond: 0.001 } }, burst: { start: 'empty' } } },
    });
    const before = heapUsed();
    const waiting = Array.from({ length: WAITERS }, () => {
      const signal = kind === 'signal' ? { signal: new AbortController().signal } : {};
      return node.acquire('slow', { messages: 1 }, { waitMs: 500_000, ...signal }).catch(() => null);
    });
    await sleep(100);
    expect(node.gate.waiting.count).toBeGreaterThan(WAITERS - 10);
    expect((heapUsed() - before) / WAITERS).toBeLessThan(BYTES_MAX[kind]);
    await close();
    await Promise.all(waiting);
  },
);

/** The longest wait is ten minutes, and a client may end thousands of short ones in each second of it. */
describe('waits that have ended take no memory while another one lasts', () => {
  const CLIENTS = 100;
  const ROUNDS = 200;
  /** 600 and 900 where they stayed; some deadlines of ended waits may be left. */
  const ENDED_BYTES_MAX = 100;

  const places: [what: string, group: string, clientOf: (at: number) => string][] = [
    ['behind it in its own place', 'blocked', () => ''],
    ['each in a place of its own, whose limit refuses', 'bounded', (at) => `client-${at}`],
  ];
  test.each(someOf(places))('%s', { timeout: 60_000 }, async (_, group, clientOf) => {
    const perClient = { publish: { messagesPerSecond: 0.001 } };
    const groups = { blocked: { quota: { publish: { messagesPerSecond: 0 } } }, bounded: { perClient } };
    const { node, close } = await readyScene({ groups });
    const waits = (waitMs: number) => {
      const clients = Array.from({ length: CLIENTS }, (_, at) => clientOf(at));
      return Promise.all(clients.map((client) => node.acquire(group, { messages: 1 }, { client, waitMs })));
    };
    // A bucket that nobody has used grants one.
    await waits(0);
    await node.acquire(group, { messages: 1 }, { client: 'patient', waitMs: 0 });
    const lasting = node.acquire(
      group,
      { messages: 1 },
      { client: group === 'blocked' ? '' : 'patient', waitMs: 500_000 },
    );
    await waits(5);
    const before = heapUsed();
    for (let round = 0; round < ROUNDS; round++) await waits(5);
    expect(node.gate.waiting.count).toBe(1);
    expect((heapUsed() - before) / (ROUNDS * CLIENTS)).toBeLessThan(ENDED_BYTES_MAX);
    await close();
    await lasting;
  });
});

function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
