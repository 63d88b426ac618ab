import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { didYouMean, nearestNames } from '../../../src/base/input/nearest-name.js';
import { runs } from '../../property/seed.js';

describe('the nearest name', () => {
  test('comes first, at most three; among equal ones those whose beginning was written, then by name', () => {
    expect(nearestNames('order', ['orders', 'order-2', 'border', 'ordr', 'odrer'])).toEqual([
      'orders',
      'border',
      'odrer',
    ]);
    expect(didYouMean('order', ['orders', 'border'])).toBe('Did you mean "orders" or "border"?');
    expect(didYouMean('order', ['payments'])).toBe('');
  });

  test('is found as by a distance without shortcuts', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
    fc.assert(
      fc.property(letters, letters, (wanted, known) => {
        const limit = Math.max(1, Math.min(3, Math.floor(wanted.length / 3)));
        expect(nearestNames(wanted, [known])).toEqual(plainDistance(wanted, known) <= limit ? [known] : []);
      }),
      runs(5000),
    );
  });

  test('is looked for among 100,000 long names without stopping the event loop', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `tenant-${index}/namespace-with-a-long-name-${index}`);
    const start = performance.now();
    nearestNames('tenant-x/namespace-with-a-lung-name-y', names);
    expect(performance.now() - start).toBeLessThan(500);
  });
});

/** The textbook recursion of the restricted Damerau–Levenshtein distance. */
function plainDistance(one: string, other: string, known = new Map<string, number>()): number {
  if (one === '' || other === '') return one.length + other.length;
  const key = `${one},${other}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const [shortOne, shortOther] = [one.slice(0, -1), other.slice(0, -1)];
  const options = [
    plainDistance(shortOne, other, known) + 1,
    plainDistance(one, shortOther, known) + 1,
    plainDistance(shortOne, shortOther, known) + (one.at(-1) === other.at(-1) ? 0 : 1),
  ];
  if (one.length > 1 && other.length > 1 && one.at(-1) === other.at(-2) && one.at(-2) === other.at(-1)) {
    options.push(plainDistance(one.slice(0, -2), other.slice(0, -2), known) + 1);
  }
  known.set(key, Math.min(...options));
  return Math.min(...options);
}
