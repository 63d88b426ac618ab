import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { readyScene } from '../http/http-scene.js';

const WAITERS = 20_000;
/** limits.maxWaiting says 1.5 KB, and 2.5 KB with a signal; measured 1.3 and 2.5 with the promise of who waits. */
const BYTES_MAX = { plain: 2000, signal: 3500 };

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

test.each(['plain', 'signal'] as const)('a waiter takes the memory that its setting tells: %s', async (kind) => {
  const { node, close } = await readyScene({ groups: { slow: { quota: { publish: { messagesPerSecond: 0.001 } } } } });
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
});

function heapUsed(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
