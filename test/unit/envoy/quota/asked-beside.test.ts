import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WholeNode } from '../../../whole-node.js';
import { QUOTA, sum, TwoNodes } from '../../enforcers/two-nodes.js';
import { ModelledEnvoy } from './modelled-envoy.js';

const TURN_MS = 20;

/** Asks a node for messages at a steady rate. */
class Asker {
  admitted = 0;
  refused = 0;
  perSecond: number;
  readonly #node: WholeNode;
  #due = 0;

  constructor(node: WholeNode, perSecond: number) {
    this.#node = node;
    this.perSecond = perSecond;
  }

  async turn(turnMs: number): Promise<void> {
    for (this.#due += (turnMs / 1000) * this.perSecond; this.#due >= 1; this.#due--) {
      if (this.#node.gate.tryAcquire('orders', { messages: 1 }).granted) this.admitted++;
      else this.refused++;
    }
  }
}

describe('a group that is asked for, and assigned to an Envoy that is new', () => {
  let scene: TwoNodes;
  beforeEach(async () => {
    scene = await TwoNodes.start();
  });
  afterEach(() => scene.close());

  it.each([
    ['asked before', 500, 20, 'same', 3, 0],
    ['asked before', 500, 20, 'other', 3, 0],
    ['asked for most', 800, 20, 'same', 3, 0],
    ['asked for most', 800, 20, 'other', 3, 0],
    ['asked a second later', 500, 20, 'same', 0, 0],
    // It was told all of it; the model hears of less up to 250 ms later, and is charged for what it may admit.
    ['asked a second later for most', 900, 20, 'same', 0, 250],
    ['asked beside much', 300, 600, 'same', 3, 0],
  ] as const)(
    '%s, %d/s beside %d/s of the %s node: below the quota 1 % is refused at most, and the Envoy has its part',
    async (_, asked, wish, where, before, untilToldMs) => {
      const refusedMost = (untilToldMs / 1000) * asked + 0.01 * 5 * asked;
      const asker = new Asker(scene.nodes[0]!, asked);
      const envoy = new ModelledEnvoy(scene.nodes[where === 'same' ? 0 : 1]!, `envoy ${asked} ${wish} ${where}`, wish);
      if (before > 0) await scene.pass([asker], before, TURN_MS);
      else await scene.pass([envoy], 1, TURN_MS);
      expect(asker.refused).toBe(0);
      const rates = await scene.pass([asker, envoy], 5, TURN_MS);
      console.log(`${asked}/s asked, ${asker.refused} refused; ${wish}/s at an Envoy: ${rates[1]}`);
      expect(asker.refused).toBeLessThanOrEqual(refusedMost);
      expect(rates[1]).toBeGreaterThanOrEqual(0.6 * wish);
      expect(sum(rates)).toBeLessThanOrEqual(1.02 * QUOTA);
      // Its demand has been reported.
      const known = await scene.pass([asker, envoy], 5, TURN_MS);
      expect(known[1]).toBeGreaterThanOrEqual(0.8 * wish);
      expect(asker.refused).toBeLessThanOrEqual(refusedMost + 0.01 * 5 * asked);
    },
  );
});
