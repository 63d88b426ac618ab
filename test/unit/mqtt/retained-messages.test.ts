import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { matchesFilter } from '../../../src/doors/mqtt/group-rules.js';
import { RetainedMessages } from '../../../src/doors/mqtt/retained-messages.js';

function keptOf(topics: Iterable<string>): RetainedMessages<{ topic: string; payload: string }> {
  const kept = new RetainedMessages<{ topic: string; payload: string }>();
  for (const topic of topics) kept.set({ topic, payload: '1' });
  return kept;
}

const atOnce = () => Promise.resolve();

async function foundBy(kept: ReturnType<typeof keptOf>, filters: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const { topic } of kept.matching(filters, atOnce)) found.push(topic);
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

  test.each([
    ['wildcards', ['+/#']],
    ['exact filters', Array.from({ length: 100 }, (_, at) => `r/${at}`)],
  ])('%s: nothing is read before there is room, and only what is kept then', async (_, filters) => {
    const kept = keptOf(Array.from({ length: 100 }, (_, at) => `r/${at}`));
    let letOn: () => void = () => undefined;
    const room = () => new Promise<void>((resolve) => (letOn = resolve));
    const messages = kept.matching(filters, room);
    const seen: string[] = [];
    for (let read = 0; read < 10; read++) {
      const next = messages.next();
      await nextTurn();
      for (let at = read; at < 100; at += 10) {
        if (!seen.includes(`r/${at}`)) kept.set({ topic: `r/${at}`, payload: `${read}` });
      }
      letOn();
      const { topic, payload } = (await next).value;
      expect(payload).toBe(kept.get(topic)?.payload);
      seen.push(topic);
    }
    for (let at = 0; at < 100; at++) kept.delete(`r/${at}`);
    const last = messages.next();
    for (let turn = 0; turn < 100; turn++) {
      letOn();
      await nextTurn();
    }
    expect((await last).done).toBe(true);
  });

  test('whatever comes and goes meanwhile, each that stays is found, however many take its place', async () => {
    const kept = keptOf(Array.from({ length: 100 }, (_, at) => `r/${at}`));
    const found = new Set<string>();
    let gone = 0;
    for await (const { topic } of kept.matching(['#'], atOnce)) {
      found.add(topic);
      kept.delete(`r/${(gone * 37) % 50}`);
      kept.set({ topic: `new/${gone++}`, payload: '1' });
    }
    for (let at = 50; at < 100; at++) expect(found).toContain(`r/${at}`);
    expect(kept.count).toBe(50 + gone);
  });
});
