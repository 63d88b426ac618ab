import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LaneNumbers } from '../../../../src/core/usage-map/lane-numbers.js';
import { wideId } from '../../../wide-ids.js';
import '../../../property/seed.js';

const key = fc.oneof(
  fc.integer({ min: 0, max: 50 }),
  fc.maxSafeNat().map((id) => id % 2 ** 48),
  // The same last word, which a table must tell apart by the others.
  fc.integer({ min: 0, max: 2 ** 17 - 1 }).map((high) => high * 2 ** 32 + 7),
);

/** The lane that a key stands for: one direction of even keys, the other of odd ones. */
function lane(key: number): [groupId: string, direction: number] {
  return [wideId(Math.floor(key / 2)), key % 2];
}

test('numbers keys as a Map would, in the order of their first use', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 600 }), (keys) => {
      const numbers = new LaneNumbers();
      const known = new Map<number, number>();
      for (const each of keys) {
        expect(numbers.find(...lane(each))).toBe(known.get(each) ?? -1);
        if (!known.has(each)) known.set(each, known.size);
        expect(numbers.of(...lane(each))).toBe(known.get(each));
      }
      for (const [each, number] of known) {
        expect(numbers.of(...lane(each))).toBe(number);
        const [groupId, direction] = lane(each);
        expect(numbers.laneOf(number)).toEqual({ groupId, direction });
      }
      expect(numbers.count).toBe(known.size);
    }),
  );
});

test('numbers that are freed are given again, the others stay', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 300 }), fc.array(key), (some, more) => {
      const numbers = new LaneNumbers();
      const used = new Map<number, number>();
      for (const [each] of some) used.set(each, numbers.of(...lane(each)));
      const kept = new Set(some.filter(([, isKept]) => isKept).map(([each]) => used.get(each) as number));
      numbers.free((number) => kept.has(number));
      expect(numbers.count).toBe(kept.size);
      for (const each of more) numbers.of(...lane(each));
      for (const [each, number] of used) if (kept.has(number)) expect(numbers.of(...lane(each))).toBe(number);
      const known = new Set([...more, ...[...used].flatMap(([each, number]) => (kept.has(number) ? [each] : []))]);
      expect(new Set([...known].map((each) => numbers.of(...lane(each)))).size).toBe(known.size);
      expect(numbers.count).toBe(known.size);
      for (const each of known) expect(numbers.of(...lane(each))).toBeLessThan(Math.max(used.size, known.size));
    }),
  );
});
