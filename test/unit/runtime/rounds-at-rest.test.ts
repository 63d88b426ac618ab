import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../whole-node.js';

const CONFIG = {
  cluster: 'rest',
  node: 'a',
  topic: 'memory',
  groups: { orders: { quota: { publish: { messagesPerSecond: 100 } } } },
};

beforeEach(() => {
  vi.useFakeTimers({
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'performance',
    ],
  });
});

afterEach(() => {
  vi.useRealTimers();
});

async function started(more: object): Promise<WholeNode> {
  const config = resolveConfig({ ...CONFIG, ...more }, { source: '(test)', env: {} });
  const topic = new MemoryTopic(createMemoryLog());
  const node = new WholeNode({
    config,
    topic,
    telemetry: silentTelemetry,
    version: '0',
    nonce: 1,
    clock: () => performance.now(),
  });
  const start = node.start();
  await vi.advanceTimersByTimeAsync(1000);
  await start;
  expect(node.isReady).toBe(true);
  return node;
}

async function roundsIn(node: WholeNode, durationMs: number): Promise<number> {
  const before = node.rounds.count;
  await vi.advanceTimersByTimeAsync(durationMs);
  return node.rounds.count - before;
}

async function close(node: WholeNode): Promise<void> {
  const closed = node.close();
  await vi.advanceTimersByTimeAsync(5000);
  await closed;
}

test.each([
  [{}, 10],
  [{ timing: { heartbeatMs: 500 } }, 20],
])('a node without lanes rounds ten times per heartbeat: %j → %i per second', async (more, perSecond) => {
  const node = await started(more);
  expect(await roundsIn(node, 1000)).toBe(perSecond);
  await close(node);
});

test('the first lane served brings the normal pace at once, and the last one idle ends it', async () => {
  const node = await started({});
  // Drawn at random: whoever makes ids up shall not know it.
  expect(node.coordinator?.settings.hashSeed).toBeGreaterThan(0);
  expect(await roundsIn(node, 990)).toBeLessThanOrEqual(10);
  expect(node.tryAcquire('orders', { messages: 1 })).toMatchObject({ granted: true });
  // A round runs a turn of the event loop after its timer.
  expect(await roundsIn(node, 21)).toBe(1);
  expect(await roundsIn(node, 1000)).toBe(50);
  // The entry ends, and a minute later the lane is not served any more.
  await vi.advanceTimersByTimeAsync(120_000);
  expect(node.coordinator?.lanes.size).toBe(0);
  expect(await roundsIn(node, 1000)).toBe(10);
  await close(node);
});
