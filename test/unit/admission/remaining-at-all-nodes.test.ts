import { expect, test } from 'vitest';
import { TwoNodes } from '../enforcers/two-nodes.js';

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
