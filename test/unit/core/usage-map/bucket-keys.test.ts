import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BundleKeys } from '../../../../src/core/usage-map/bundle-keys.js';
import { RecordStore } from '../../../../src/core/usage-map/record-store.js';
import '../../../property/seed.js';

/** Mostly so few keys that each is added and removed several times; now and then a far one. */
const place = fc.record({
  slot: fc.integer({ min: 1, max: 2 }),
  partition: fc.oneof({ weight: 5, arbitrary: fc.nat(1) }, fc.nat(15)),
  bundle: fc.oneof({ weight: 5, arbitrary: fc.nat(7) }, fc.nat(65_535)),
  isRemoved: fc.boolean(),
});

test('finds what a Map would find, and lists the keys of each node and partition', () => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 400 }), (places) => {
      const records = new RecordStore();
      const keys = new BundleKeys(records);
      const known = new Map<string, number>();
      for (const { slot, partition, bundle, isRemoved } of places) {
        const name = `${slot}/${partition}/${bundle}`;
        expect(keys.find(slot, partition, bundle)).toBe(known.get(name) ?? -1);
        const record = known.get(name);
        if (record !== undefined && isRemoved) {
          keys.remove(slot, record);
          records.release(record);
          known.delete(name);
        } else if (record === undefined) {
          const added = records.add();
          const author = { incarnation: 1, sequence: 1 };
          records.write(added, author, { member: slot, partition, bundle, ...NEVER });
          keys.add(slot, added);
          known.set(name, added);
        }
      }
      for (const [name, record] of known) {
        const [slot = 0, partition = 0, bundle = 0] = name.split('/').map(Number);
        expect(keys.find(slot, partition, bundle)).toBe(record);
      }
      const listed: string[] = [];
      for (let slot = 1; slot <= 2; slot++) {
        for (let partition = 0; partition < 16; partition++) {
          for (let record = keys.first(slot, partition); record !== -1; record = keys.next(record)) {
            listed.push(`${slot}/${partition}/${records.bundle[record]}`);
          }
        }
      }
      expect(listed.sort()).toEqual([...known.keys()].sort());
      expect(keys.count).toBe(known.size);
      const counts = [1, 2].map((slot) => [...known.keys()].filter((name) => name.startsWith(`${slot}/`)).length);
      expect([keys.countOf(1), keys.countOf(2), keys.countOf(3)]).toEqual([...counts, 0]);
    }),
  );
});

const NEVER = { nowMs: 0, logMs: 0, spanMs: 0, pauseMs: 0, offset: 0, readUntil: 0, fullInMs: 0 };
