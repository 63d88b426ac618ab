import { expect, test } from 'vitest';
import { Random } from '../../../../sim/cluster/random.js';
import { GROUP } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

/** 1,000/s, a bucket of 100. */
const DEPTH = 100;
const TOKENS = { ...GROUP, burst: { ...GROUP.burst, messages: DEPTH } };

/** One bucket that is nobody else's. */
class ExactBucket {
  #tokens = DEPTH;
  #readMs: number;

  constructor(nowMs: number) {
    this.#readMs = nowMs;
  }

  tokensAt(nowMs: number): number {
    this.#tokens = Math.min(DEPTH, this.#tokens + (nowMs - this.#readMs));
    this.#readMs = nowMs;
    return this.#tokens;
  }

  tryTake(nowMs: number): boolean {
    const isThere = this.tokensAt(nowMs) >= 1;
    if (isThere) this.#tokens--;
    return isThere;
  }
}

for (const { name, perRound, everyMs } of [
  { name: 'always more', perRound: 40, everyMs: 20 },
  { name: 'twice a second, as much as comes in', perRound: 500, everyMs: 500 },
  { name: 'in batches that the bucket holds', perRound: 60, everyMs: 60 },
  { name: 'in batches, four fifths of the quota', perRound: 80, everyMs: 100 },
]) {
  test(`a node alone gives what the bucket holds: ${name}`, () => {
    const random = Random.stream(5, name);
    const node = OneNode.ready({ groups: [TOKENS] });
    node.tryAcquire(0, 0);
    node.run(3000);
    const exact = new ExactBucket(node.nowMs);
    let [granted, due, askedMs, least, most] = [0, 0, 0, 0, 0];
    node.run(20_000, {
      each: () => {
        if (node.nowMs - askedMs < everyMs) return;
        askedMs = node.nowMs;
        const count = Math.round(perRound * random.between(0.7, 1.3));
        for (let at = 0; at < count; at++) {
          if (node.tryAcquire(0, 1)) granted++;
          if (exact.tryTake(node.nowMs)) due++;
        }
        least = Math.min(least, granted - due);
        most = Math.max(most, granted - due);
      },
    });
    expect(least).toBeGreaterThanOrEqual(-0.05 * DEPTH);
    expect(most).toBeLessThanOrEqual(0.05 * DEPTH);
  });
}
