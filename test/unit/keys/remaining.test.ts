import { expect, test } from 'vitest';
import { RateLimiterQuotamesh } from '../../../src/doors/stores/rate-limiter-flexible.js';
import { EmbeddedNode } from '../../../src/node/loop/embedded-node.js';
import { type KeysCluster, PER_MINUTE, withKeys } from './keys-cluster.js';

const EVERY_MS = 20;

interface Answer {
  readonly granted: boolean;
  readonly remaining: number;
}

/** Asks three nodes in turn, as a balancer does. */
async function askInTurn({ nodes, time }: KeysCluster, key: string, requests: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < requests; at++) {
    const node = nodes[at % 3];
    const { granted, remaining } = node.tryAcquire(key, { messages: 1 }, { tell: true });
    answers.push({ granted, remaining: remaining?.messages ?? Number.NaN });
    await time.advance(EVERY_MS);
  }
  return answers;
}

test('what is left of a key falls at nodes in turn, also when it becomes loud, and rises by what comes in', async () => {
  const templates = { 'few:{id}': PER_MINUTE(10), 'many:{id}': PER_MINUTE(120) };
  await withKeys(3, templates, async (cluster) => {
    const few = await askInTurn(cluster, 'few:a', 10);
    expect(few.map(({ remaining }) => remaining)).toEqual([9, 9, 9, 8, 8, 8, 7, 7, 7, 6]);
    const many = await askInTurn(cluster, 'many:a', 200);
    const rises = many.map(({ remaining }, at) => remaining - (many[at - 1]?.remaining ?? remaining));
    // Whole units: one more than comes in between two answers.
    expect(Math.max(...rises)).toBeLessThanOrEqual(1);
    expect(many.filter(({ granted }) => granted).length).toBeGreaterThan(120);
    expect(many.at(-1)?.remaining).toBeLessThan(20);
  });
});

test('a look of a store tells what a grant tells, of silent keys and of loud ones, wherever they were used', async () => {
  await withKeys(3, { 'key:{id}': PER_MINUTE(300) }, async ({ nodes, time }) => {
    const stores = nodes.map((node) => {
      return new RateLimiterQuotamesh(new EmbeddedNode(node, null), { points: 300, group: (key) => `key:${key}` });
    });
    const looks = () => Promise.all(stores.map(async (store) => (await store.get('a'))?.remainingPoints ?? 300));
    const takeOne = async () => (await stores[0]?.consume('a'))?.remainingPoints;
    for (let asked = 0; asked < 50; asked++) await takeOne();
    expect(await looks()).toEqual([250, 300, 300]);
    for (let asked = 0; asked < 100; asked++) await takeOne();
    await time.advance(1000);
    const told = await looks();
    // 150 less what came in within a second.
    for (const left of told) expect(Math.abs(left - 155)).toBeLessThanOrEqual(2);
    expect(Math.abs(((await takeOne()) ?? 0) - (told[0] ?? 0))).toBeLessThanOrEqual(2);
  });
});
