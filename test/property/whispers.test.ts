import { expect, test } from 'vitest';
import { Whispers } from '../../src/core/keys/whispers.js';
import { clusterDepth } from '../../src/core/tokens/cluster-depth.js';
import { randomOf } from './random-of.js';

const NONE = Number.POSITIVE_INFINITY;

/**
 * The bound of what k silent nodes may spend of a key (core/keys/whispers.ts), in every span of time between two grants,
 * with all of them as greedy as they can be at random times, and nodes that come and go.
 */
test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'what silent nodes spend of a key is bounded, seed %i',
  (seed) => {
    const random = randomOf(seed + 1);
    const nodes = 1 + Math.floor(random() * 30);
    const silent = 1 + Math.floor(random() * nodes);
    const perSecond = [0.1, 1, 10, 100, 1000][Math.floor(random() * 5)] as number;
    const depth = clusterDepth(perSecond, 1);
    const burst = { messages: null, bytes: null, policy: 'optimistic' as const };
    const quota = { publish: [perSecond, NONE], dispatch: [NONE, NONE] } as const;
    const each = Array.from({ length: silent }, () => {
      const whispers = new Whispers([{ settings: { quota, burst }, mayWhisper: true }], 10, 1);
      whispers.setNodes(nodes);
      return { whispers, row: whispers.add('k', 0, 0, -1e9) };
    });
    const grants: { atMs: number; units: number }[] = [];
    let nowMs = 0;
    for (let step = 0; step < 400; step++) {
      nowMs += random() < 0.5 ? 0 : random() * (4000 / perSecond);
      const { whispers, row } = each[Math.floor(random() * silent)]!;
      const units = 1 + Math.floor(random() * Math.max(1, depth / 4));
      if (whispers.take(row, 0, units, 0, nowMs)) grants.push({ atMs: nowMs, units });
    }
    const atOnce = silent * Math.min(1, 3 / nodes) * depth;
    expect(atOnce).toBeLessThanOrEqual(3 * depth + 1e-9);
    let mostBeyond = Number.NEGATIVE_INFINITY;
    for (let from = 0; from < grants.length; from++) {
      let sum = 0;
      for (let to = from; to < grants.length; to++) {
        sum += grants[to]!.units;
        const seconds = (grants[to]!.atMs - grants[from]!.atMs) / 1000;
        mostBeyond = Math.max(mostBeyond, sum - atOnce - (silent / nodes) * perSecond * seconds);
      }
    }
    expect(mostBeyond).toBeLessThanOrEqual(1e-6);
  },
);

test('the bound is reached: three nodes take three depths at one instant, and no more', () => {
  const quota = { publish: [10, NONE], dispatch: [NONE, NONE] } as const;
  const burst = { messages: null, bytes: null, policy: 'optimistic' as const };
  let taken = 0;
  for (let node = 0; node < 3; node++) {
    const whispers = new Whispers([{ settings: { quota, burst }, mayWhisper: true }], 10, 1);
    whispers.setNodes(3);
    const row = whispers.add('k', 0, 0, -1e9);
    while (whispers.take(row, 0, 1, 0, 0)) taken++;
  }
  expect(taken).toBe(30);
});
