import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { waterFill } from '../../../../src/core/convergence/water-fill.js';
import { runs } from '../../../property/seed.js';

interface Fill {
  readonly capacity: number;
  readonly high: readonly number[];
  readonly low?: readonly number[];
  readonly weight?: readonly number[];
}

function fill({ capacity, high, low = high.map(() => 0), weight = high.map(() => 1) }: Fill) {
  const out = new Float64Array(high.length);
  const columns = [low, high, weight].map((column) => Float64Array.from(column)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const level = waterFill(...columns, high.length, capacity, out);
  return { level, out: Array.from(out) };
}

describe('water-filling', () => {
  test('any bounds and weights: each gets its weight · the level within its bounds, and all of them all there is', () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true });
    const weight = fc.constantFrom(0.01, 0.5, 1, 1, 3, 100);
    const node = fc.record({ low: fc.oneof(fc.constant(0), part), above: part, weight });
    fc.assert(
      fc.property(fc.array(node, { minLength: 1, maxLength: 40 }), part, (nodes, filled) => {
        const low = nodes.map((each) => each.low);
        const high = nodes.map((each) => each.low + each.above);
        const [least, most] = [low, high].map((column) => column.reduce((one, other) => one + other, 0)) as [
          number,
          number,
        ];
        const capacity = least + filled * (most - least);
        const { level, out } = fill({ capacity, low, high, weight: nodes.map((each) => each.weight) });
        expect(out.reduce((one, other) => one + other, 0)).toBeCloseTo(capacity, 9);
        out.forEach((amount, at) => {
          const offered = Math.min(high[at], Math.max(low[at], nodes[at].weight * level));
          expect(amount).toBeCloseTo(offered, 9);
        });
      }),
      runs(500),
    );
  });

  test('a millionth more than there is counts as rounding, and nothing beyond', () => {
    expect(fill({ capacity: 0, high: [1], low: [1e-6] }).out).toEqual([1e-6]);
    expect(fill({ capacity: 1e6, high: [2e6], low: [1e6 + 0.99] }).out).toEqual([1e6 + 0.99]);
    expect(() => fill({ capacity: 1e6, high: [2e6], low: [1e6 + 1.01] })).toThrow(/more than there is/);
    expect(() => fill({ capacity: 0, high: [1], low: [1.01e-6] })).toThrow(/more than there is/);
  });
});
