import { expect, test } from 'vitest';
import { TwoNodes } from '../enforcers/two-nodes.js';
import { PER_MINUTE, withKeys } from '../keys/keys-cluster.js';

const PER_SECOND = 100;
const BURST = 200;
const EVERY_MS = 10;

/** Asks two nodes in turn, as a balancer does, and returns what each answer tells is left. */
async function remainingInTurn(scene: TwoNodes, requests: number): Promise<number[]> {
  const told: number[] = [];
  for (let at = 0; at < requests; at++) {
    const decision = scene.nodes[at % 2]?.tryAcquire('orders', { messages: 2 }, { tell: true });
    told.push(decision?.remaining?.messages ?? 0);
    await scene.time.advance(EVERY_MS);
  }
  return told;
}

test('what is left falls, at whichever node it is asked for, and rises by no more than flows in', async () => {
  const scene = await TwoNodes.start(PER_SECOND, { burst: BURST });
  try {
    const told = await remainingInTurn(scene, 300);
    expect(Math.max(...told)).toBeGreaterThan(100);
    const rises = told.map((left, at) => left - (told[at - 1] ?? left));
    // Whole units: one more than flows in between two answers.
    expect(Math.max(...rises)).toBeLessThanOrEqual((PER_SECOND * EVERY_MS) / 1000 + 1);
  } finally {
    await scene.close();
  }
});

test('what a reservation holds is missing at the other nodes a second later, and there again once it is cancelled', async () => {
  const left: number[] = [];
  await withKeys(
    3,
    {},
    async ({ nodes: [one, other], time }) => {
      const given = one.reserve('g', { messages: 30 });
      await time.advance(1000);
      left.push(other.tryAcquire('g', { messages: 1 }, { tell: true }).remaining?.messages ?? 0);
      if (given.granted) given.cancel();
      await time.advance(1000);
      left.push(other.tryAcquire('g', { messages: 1 }, { tell: true }).remaining?.messages ?? 0);
    },
    undefined,
    { groups: { g: PER_MINUTE(60) } },
  );
  // 60 − 30 − 1, and 60 − 1 − 1 as if nothing had been held: less than one flowed in since the first.
  expect(left).toEqual([29, 58]);
});
