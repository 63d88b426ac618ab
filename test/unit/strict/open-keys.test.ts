import { expect, test } from 'vitest';
import { OpenKeys } from '../../../src/node/strict/open-keys.js';
import { StrictBucket } from '../../../src/node/strict/strict-bucket.js';
import { keyedLaneName } from '../../../src/node/strict/strict-codec.js';

test('a key of which the log has nothing is refused where it has as many as it may', () => {
  const rows = new Map(
    [keyedLaneName('c', 'one', 'slots'), keyedLaneName('c', 'two', 'slots')].map((name) => [name, 1]),
  );
  const keys = new OpenKeys<{ readonly name: string; readonly bucket: StrictBucket }>({
    log: { open: () => ({}), keyed: { rows, close: () => undefined }, lost: null, unsafe: null } as never,
    cluster: 'c',
    groups: {} as never,
    maxKeys: 2,
    whatOf: () => 'slots',
    make: (name, bucket) => ({ name, bucket }),
    isNeeded: () => true,
  });
  expect(() => keys.rejectIfFull('two', 'slots')).not.toThrow();
  expect(() => keys.rejectIfFull('three', 'slots')).toThrow(/three.*2|2.*three/);
  // The same key in another unit is another lane.
  expect(() => keys.rejectIfFull('two', 'budget-cents')).toThrow(expect.objectContaining({ code: 'KEYS_FULL' }));
  rows.delete(keyedLaneName('c', 'one', 'slots'));
  expect(() => keys.rejectIfFull('three', 'slots')).not.toThrow();
});

test('a lane that is opened is not idle at once: a gift to a key that nobody uses has the time to be read back', () => {
  let nowMs = 1_000_000;
  const quota = { amount: 0, perMs: 1000, depth: 10, keyed: true } as const;
  const log = { clock: () => nowMs, write: () => undefined, onDue: () => undefined };
  const bucket = new StrictBucket({ node: 'a', life: 1, quota, ...log });
  expect(bucket.isIdleFor(10_000)).toBe(false);
  nowMs += 9000;
  bucket.credit('invoice-7', 5, 'test');
  nowMs += 9000;
  expect(bucket.isIdleFor(10_000)).toBe(false);
  nowMs += 1001;
  expect(bucket.isIdleFor(10_000)).toBe(true);
});
