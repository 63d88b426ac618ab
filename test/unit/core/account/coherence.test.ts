import { describe, expect, test } from 'vitest';
import { Random } from '../../../../sim/cluster/random.js';
import { Coherence } from '../../../../src/core/account/coherence.js';

/** What so many nodes charge once a second, told within 10 ms of each other. */
function charged(unitsOf: (node: number, second: number) => number, nodes: number, seconds = 20): Coherence {
  const coherence = new Coherence();
  for (let second = 0; second < seconds; second++) {
    for (let node = 0; node < nodes; node++) {
      coherence.charge(node, unitsOf(node, second), 1000 * second + (10 * node) / nodes);
    }
  }
  return coherence;
}

describe('how many nodes charge alike', () => {
  test.each([
    { nodes: 3, least: 1.5, most: 3 },
    { nodes: 10, least: 5, most: 10 },
    { nodes: 60, least: 30, most: 60 },
  ])('all $nodes, more in one second and less in the next: $least to $most', ({ nodes, least, most }) => {
    const alike = charged((_, second) => (second % 2 === 0 ? 5 : -5), nodes).among(nodes);
    expect(alike).toBeGreaterThanOrEqual(least);
    expect(alike).toBeLessThanOrEqual(most);
  });

  test.each([2, 10, 60])('%i that charge by chance: less than one and a half in the median', (nodes) => {
    const random = new Random(7);
    const alike: number[] = [];
    for (let run = 0; run < 20; run++) alike.push(charged(() => random.next() - 0.5, nodes).among(nodes));
    expect(alike.sort((one, other) => one - other)[10]).toBeLessThan(1.5);
  });

  test('one alone, however often it speaks: one', () => {
    const coherence = new Coherence();
    for (let ms = 0; ms < 10_000; ms += 20) coherence.charge(3, 4, ms);
    expect(coherence.among(30)).toBe(1);
  });

  test('nobody has charged: one', () => expect(new Coherence().among(30)).toBe(1));
});
