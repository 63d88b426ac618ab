import { expect, it } from 'vitest';
import { WithheldRecords } from '../../../src/topic/signed/withheld-records.js';

const read = (offset: number, key = `key ${offset}`, partition = 0) => ({ partition, offset, key });

it('gives all of what it withheld, in the order of the log, before what comes next', () => {
  const withheld = new WithheldRecords<ReturnType<typeof read>>();
  const first = [read(1)];
  expect(withheld.pass(first, false)).toBe(first);
  expect(withheld.pass([read(2, 'same')], true)).toEqual([]);
  expect(withheld.pass([read(3, 'same'), read(4)], true)).toEqual([]);
  expect(withheld.pass([read(5)], false).map(({ offset }) => offset)).toEqual([2, 3, 4, 5]);
  expect(withheld.pass([read(6)], false).map(({ offset }) => offset)).toEqual([6]);
});

it('is bounded by the keys that there are, however long it lasts', () => {
  const withheld = new WithheldRecords<ReturnType<typeof read>>();
  for (let offset = 0; offset < 50_000; offset++) withheld.pass([read(offset, `key ${offset % 7}`, offset % 2)], true);
  const passed = withheld.pass([], false);
  expect(passed.length).toBeLessThanOrEqual(10_000);
  expect(passed.at(-1)?.offset).toBe(49_999);
  expect(passed.every(({ offset }, at) => at === 0 || offset > (passed[at - 1]?.offset ?? 0))).toBe(true);
});

it('gives nothing of a log that is gone', () => {
  const withheld = new WithheldRecords<ReturnType<typeof read>>();
  withheld.pass([read(1)], true);
  withheld.epochBegan();
  expect(withheld.pass([], false)).toEqual([]);
});
