import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import type { WholeNode } from '../../whole-node.js';
import { QUOTA, reportTo, sum, TURN_MS, TwoNodes } from './two-nodes.js';

/** Requests come by chance, `wish`/s on average, and pass while the bucket that it was told has a token. */
class ChanceProxy {
  admitted = 0;
  wish: number;
  readonly #node: WholeNode;
  readonly #name: string;
  readonly #random: Random;
  #told = { rate: 0, depth: 0 };
  #tokens = 0;
  #isHeldBack = false;
  #nowMs = 0;
  #nextMs = 0;
  #reportedMs = 0;
  readonly #everyMs: number;

  constructor(node: WholeNode, name: string, wish: number, everyMs = TURN_MS) {
    this.#node = node;
    this.#name = name;
    this.wish = wish;
    this.#everyMs = everyMs;
    this.#random = Random.stream(19, name);
  }

  async turn(): Promise<void> {
    if (this.#nowMs - this.#reportedMs >= this.#everyMs || this.#nowMs === 0) {
      this.#told = await reportTo(this.#node, this.#name, this.admitted, this.#isHeldBack);
      this.#isHeldBack = false;
      this.#reportedMs = this.#nowMs;
    }
    const endMs = this.#nowMs + TURN_MS;
    for (; this.#nextMs <= endMs; this.#nextMs += this.#random.exponential(1000 / this.wish)) {
      this.#passTo(Math.max(this.#nowMs, this.#nextMs));
      if (this.#tokens < 1) {
        this.#isHeldBack = true;
        continue;
      }
      this.#tokens--;
      this.admitted++;
    }
    this.#passTo(endMs);
  }

  #passTo(nowMs: number): void {
    const { rate, depth } = this.#told;
    this.#tokens = Math.min(depth, this.#tokens + ((nowMs - this.#nowMs) * rate) / 1000);
    this.#nowMs = nowMs;
  }
}

/** A part of the quota. */
const USED_MIN = 0.97;

describe('enforcers of two nodes, one wants 20/s and one 5,000/s of 1,000/s', () => {
  let scene: TwoNodes;

  beforeEach(async () => {
    scene = await TwoNodes.start();
  });

  afterEach(() => scene.close());

  it.each([
    ['at one node', [0, 0]],
    ['at a node each', [0, 1]],
    ['a pair at each node', [0, 0, 1, 1]],
  ])('%s: the quota is used', async (_, nodes) => {
    const proxies = nodes.map((node, at) => new ChanceProxy(scene.nodes[node], `proxy ${at}`, [20, 5000][at % 2]));
    await scene.pass(proxies, 5);
    const rates = await scene.pass(proxies, 40);
    const total = sum(rates);
    console.log(`${rates.map(Math.round).join(' + ')} = ${Math.round(total)}`);
    expect(total).toBeGreaterThanOrEqual(USED_MIN * QUOTA);
    expect(total).toBeLessThanOrEqual(1.02 * QUOTA);
    // It has what it wants, but for what a bucket of a tenth of a second refuses by chance.
    for (const [at, { wish }] of proxies.entries()) if (wish === 20) expect(rates[at]).toBeGreaterThanOrEqual(17);
  });

  it.each([TURN_MS, 1000])(
    'one that reports every %i ms and wakes has its part within three seconds',
    async (everyMs) => {
      const [node] = scene.nodes;
      const sleepy = new ChanceProxy(node, 'sleepy', 20, everyMs);
      const proxies = [sleepy, new ChanceProxy(node, 'busy', 5000, everyMs)];
      await scene.pass(proxies, 10);
      sleepy.wish = 5000;
      await scene.pass(proxies, 3);
      const rates = await scene.pass(proxies, 10);
      console.log(`reports every ${everyMs} ms: ${rates.map(Math.round).join(' + ')}`);
      for (const rate of rates) expect(rate).toBeGreaterThanOrEqual(0.45 * QUOTA);
    },
  );
});
