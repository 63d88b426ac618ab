import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { matchesFilter } from '../../../src/doors/mqtt/group-rules.js';
import { RetainedMessages } from '../../../src/doors/mqtt/retained-messages.js';

function keptOf(topics: Iterable<string>): RetainedMessages<{ topic: string; payload: string }> {
  const kept = new RetainedMessages<{ topic: string; payload: string }>();
  for (const topic of topics) kept.set({ topic, payload: '1' });
  return kept;
}

async function foundBy(kept: ReturnType<typeof keptOf>, filters: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const { topic } of kept.stream(filters)) found.push(topic);
  return found.sort();
}

const TOPICS = ['a', 'a/', '/a', 'a/b', 'a/b/c', 'a//c', '/', '$s', '$s/a', 'b/b', 'b/c/d/e', '__proto__/a'];
const FILTERS = [
  ['#'],
  ['+'],
  ['+/+'],
  ['/+'],
  ['+/#'],
  ['a/#'],
  ['a/b/#', 'a/b'],
  ['a/+/c', 'a/b/+'],
  ['+/b', 'a/b'],
  ['+/b/#'],
  ['$s', '$s/#'],
  ['a', 'b/c/d/e', 'nothing'],
  ['__proto__/+'],
  ['b/+/d/+', '+/c/+/e', '+/+/+/+'],
];

describe('retained messages', () => {
  test.each(FILTERS.map((filters) => [filters]))(
    '%j finds each message once that one of them matches',
    async (filters) => {
      const matched = TOPICS.filter((topic) => filters.some((filter) => matchesFilter(filter, topic)));
      expect(await foundBy(keptOf(TOPICS), filters)).toEqual(matched.sort());
    },
  );

  test('a thousand filters over many messages leave the event loop its turns', async () => {
    const kept = keptOf(Array.from({ length: 50_000 }, (_, at) => `r/${at % 7}/${at % 11}/${at % 13}/x/${at}`));
    const filters = Array.from({ length: 1000 }, (_, at) => `r/+/+/+/x${at}/+`);
    let turns = 0;
    let isDone = false;
    const counting = (async () => {
      while (!isDone) {
        await nextTurn();
        turns++;
      }
    })();
    const cpu = process.cpuUsage();
    expect(await foundBy(kept, [...filters, 'r/+/1/2/#'])).toHaveLength(350);
    const { user } = process.cpuUsage(cpu);
    isDone = true;
    await counting;
    // One pass per filter took 17 s of CPU in one turn.
    expect(user / 1000).toBeLessThan(3000);
    expect(turns).toBeGreaterThan(5);
  });

  test('a flood of SUBSCRIBEs waits until others have had their turns', async () => {
    const kept = keptOf(['a/b']);
    const streams = Array.from({ length: 100 }, () => foundBy(kept, ['+/b']));
    await nextTurn();
    let hasRoom = false;
    const room = kept.room().then(() => {
      hasRoom = true;
    });
    await Promise.resolve();
    expect(hasRoom).toBe(false);
    expect(await Promise.all(streams)).toEqual(Array(100).fill(['a/b']));
    await room;
  });
});
