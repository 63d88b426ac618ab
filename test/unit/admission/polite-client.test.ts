import { expect, test } from 'vitest';
import { isDrawn } from '../../property/seed.js';
import type { WholeNode } from '../../whole-node.js';
import { PER_SECOND, withKeys } from '../keys/keys-cluster.js';

/** Beside come-back-as-told.test.ts, which plays its stories on three nodes and on ten in the other thirds. */
const ALONE = 'who asks one of ten nodes alone, and waits exactly as told, gets 95 % of the quota at each of them';
test.runIf(isDrawn(5))(ALONE, async () => {
  await withKeys(10, { 'second:{id}': PER_SECOND(10) }, async ({ nodes, time }) => {
    const clients = nodes.map((node, at) => new Polite(node, `second:${at}`));
    for (const client of clients) client.ask();
    await time.advance(1000 * SECONDS);
    const percents = clients.map(({ granted }) => (100 * granted) / (10 * SECONDS)).sort((one, other) => one - other);
    const [least, median, most] = [0, 5, 9].map((at) => percents[at]);
    console.log(`of 10/s: least ${least.toFixed(1)} %, median ${median.toFixed(1)} %, most ${most.toFixed(1)} %`);
    expect(least).toBeGreaterThanOrEqual(95);
    for (const { refused } of clients) expect(refused).toBeLessThanOrEqual(10 * SECONDS);
  });
});

const SECONDS = 30;

/** Asks as long as it is granted, and again when it was told to. */
class Polite {
  granted = 0;
  refused = 0;
  readonly #node: WholeNode;
  readonly #key: string;

  constructor(node: WholeNode, key: string) {
    this.#node = node;
    this.#key = key;
  }

  ask(): void {
    for (;;) {
      const decision = this.#node.tryAcquire(this.#key, { messages: 1 });
      if (decision.granted) {
        this.granted++;
        continue;
      }
      this.refused++;
      setTimeout(() => this.ask(), decision.retryAfterMs);
      return;
    }
  }
}
