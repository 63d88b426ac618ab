import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { someOf } from '../../property/seed.js';
import { WholeNode } from '../../whole-node.js';
import { worstSecond } from '../../worst-second.js';
import { AwayTopic } from './away-topic.js';

const NAMES = ['a', 'b', 'c'];
const QUOTA = 900;
const STALENESS_MS = 5000;
const DELIVERY_MS = 20;
/** A second is a whole number of them. */
const STEP_MS = 10;
/** In quotas: one, and what the cluster's bucket holds when it is full, which is 100 ms of it. */
const DEPTH = 0.1;
const MOST = 1 + DEPTH;

let log: MemoryLog;
let granted: number[];
beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
  log = createMemoryLog();
  granted = [];
});
afterEach(() => void vi.useRealTimers());

/** Each may have a part of a message left. */
const PIECE = NAMES.length / QUOTA;

interface Member {
  readonly node: WholeNode;
  readonly topic: AwayTopic;
}

function started(nonce: number): Member[] {
  const groups = { calls: { quota: { publish: { messagesPerSecond: QUOTA } } } };
  return NAMES.map((name, at) => {
    const start = { policy: 'alone', nodeCount: NAMES.length };
    const timing = { stalenessMs: STALENESS_MS };
    const raw = { cluster: 'deploy', node: name, topic: 'memory', groups, start, timing };
    const config = resolveConfig(raw, { source: '(test)' });
    const topic = Object.assign(new AwayTopic(log), { delayMs: DELIVERY_MS });
    const clock = () => performance.now();
    const node = new WholeNode({ config, topic, clock, telemetry: silentTelemetry, version: '0', nonce: nonce + at });
    void node.start();
    return { node, topic };
  });
}

/** All that decide take whatever they get. */
async function saturate(members: readonly Member[], forMs: number): Promise<void> {
  for (let ms = 0; ms < forMs; ms += STEP_MS) {
    await vi.advanceTimersByTimeAsync(STEP_MS);
    for (const { node } of members) {
      if (!node.isReady) continue;
      while (node.tryAcquire('calls', { messages: 1, bytes: 0 }).granted) granted.push(performance.now());
    }
  }
}

async function closed(members: readonly Member[]): Promise<void> {
  const ends = Promise.all(members.map(({ node }) => node.close()));
  await vi.advanceTimersByTimeAsync(1000);
  await ends;
}

const WAYS_TO_LEAVE = {
  'that nobody has written': async () => undefined,
  'that the nodes before them have left': async (before: readonly Member[]) => closed(before),
  // Its records stay, and say that the nodes are there.
  'in which the nodes before them have died': async (before: readonly Member[]) => {
    for (const { topic } of before) await topic.close();
    await closed(before);
  },
};

for (const [title, leave] of Object.entries(WAYS_TO_LEAVE)) {
  it.each(someOf([0, 300, STALENESS_MS / 2]))(
    `nodes that started alone come to a log ${title}, %i ms one after the other: the quota and a depth at most`,
    async (gapMs) => {
      const before = title === 'that nobody has written' ? [] : started(1);
      for (const { topic } of before) topic.come();
      await saturate(before, before.length === 0 ? 0 : 8000);
      await leave(before);
      granted = [];

      const members = started(11);
      await saturate(members, 8000);
      const alone = granted.length;
      expect(alone).toBeGreaterThan(0.9 * QUOTA * 4);
      for (const { topic } of members) {
        topic.come();
        await saturate(members, gapMs);
      }
      await saturate(members, 4 * STALENESS_MS);
      expect(members.map(({ node }) => node.status().degraded)).toEqual([[], [], []]);
      expect(worstSecond(granted) / QUOTA).toBeLessThan(MOST + PIECE);
      // What was held is given out again.
      expect(granted.length - alone).toBeGreaterThan((0.96 * QUOTA * (4 * STALENESS_MS + 3 * gapMs)) / 1000);
      await closed(members);
    },
  );
}

it('one that comes more than a staleness after the others adds its part until it has come, and no more', async () => {
  const members = started(1);
  await saturate(members, 8000);
  const [first, second, last] = members as [Member, Member, Member];
  first.topic.come();
  second.topic.come();
  await saturate(members, 4 * STALENESS_MS);
  expect(worstSecond(granted) / QUOTA).toBeGreaterThan(1.3);
  last.topic.come();
  await saturate(members, 2 * STALENESS_MS);
  expect(worstSecond(granted) / QUOTA).toBeLessThan(MOST + 1 / NAMES.length + PIECE);
  granted = [];
  await saturate(members, 3000);
  expect(worstSecond(granted) / QUOTA).toBeLessThan(MOST + PIECE);
  await closed(members);
});
