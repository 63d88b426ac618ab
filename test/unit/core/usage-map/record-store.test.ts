import { expect, test } from 'vitest';
import { RecordStore } from '../../../../src/core/usage-map/record-store.js';

/** Everything that a record says, another figure in each column and record. */
function write(store: RecordStore, record: number, salt: number): void {
  const author = { incarnation: salt + 0.25, sequence: salt + 0.5 };
  store.write(record, author, {
    member: salt + 1,
    partition: salt % 16,
    bundle: salt + 2,
    nowMs: salt + 0.75,
    logMs: salt + 3.9,
    spanMs: salt + 6.9,
    pauseMs: salt + 7.9,
    offset: salt + 8,
    readUntil: salt + 7,
    fullInMs: salt + 9,
  });
  store.nextOfKeys[record] = salt + 4;
  store.previousOfKeys[record] = salt + 5;
}

function readBack(store: RecordStore, record: number): readonly (number | undefined)[] {
  const { member, partition, incarnation, sequence, readMs, logMs, bundle, nextOfKeys, previousOfKeys } = store;
  const columns = [member, partition, incarnation, sequence, readMs, logMs, bundle, nextOfKeys, previousOfKeys];
  const { spanMs, pauseMs, offset, readUntil, fullInMs } = store;
  return [...columns, spanMs, pauseMs, offset, readUntil, fullInMs].map((column) => column[record]);
}

function written(salt: number): readonly number[] {
  const of = [salt + 1, salt % 16, salt + 0.25, salt + 0.5, salt + 0.75, salt + 3, salt + 2, salt + 4, salt + 5];
  return [...of, salt + 6, salt + 7, salt + 8, salt + 7, salt + 9];
}

test('three thousand records keep all that was written of them, while the columns grow one by one', () => {
  const store = new RecordStore();
  for (let salt = 0; salt < 3000; salt++) {
    const record = store.add();
    expect([record, store.first[record], store.weight[record]]).toEqual([salt, -1, 0]);
    write(store, record, salt);
    store.first[record] = salt + 6;
    store.weight[record] = salt + 7;
    expect(readBack(store, record)).toEqual(written(salt));
  }
  for (let salt = 0; salt < 3000; salt++) {
    expect([store.first[salt], store.weight[salt]]).toEqual([salt + 6, salt + 7]);
    expect(readBack(store, salt)).toEqual(written(salt));
  }
});

test('a place that is free again is taken first, without rows and weight', () => {
  const store = new RecordStore();
  for (let salt = 0; salt < 3; salt++) write(store, store.add(), salt);
  store.first[1] = 5;
  store.weight[1] = 5;
  store.release(1);
  expect(store.add()).toBe(1);
  expect([store.first[1], store.weight[1]]).toEqual([-1, 0]);
  expect(store.add()).toBe(3);
  expect(readBack(store, 2)).toEqual(written(2));
});

test('log time goes on after 2³¹ ms', () => {
  const store = new RecordStore();
  const record = store.add();
  const place = {
    member: 1,
    partition: 0,
    bundle: 0,
    nowMs: 0,
    spanMs: 0,
    pauseMs: 0,
    offset: 0,
    readUntil: 0,
    fullInMs: 0,
  };
  store.write(record, { incarnation: 1, sequence: 1 }, { ...place, logMs: 2 ** 31 + 5.5 });
  expect((2 ** 31 + 25 - store.logMs[record]) | 0).toBe(20);
});
