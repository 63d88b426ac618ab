import { expect, test } from 'vitest';
import { FAULT_KINDS, FAULTS } from '../../chaos/fault-table.js';
import { NODES, scheduleOf } from '../../chaos/schedule.js';

const HALF_AN_HOUR = 1_800_000;

test('the same seed plans the same faults, and another seed others', () => {
  expect(scheduleOf(7, HALF_AN_HOUR)).toEqual(scheduleOf(7, HALF_AN_HOUR));
  expect(scheduleOf(7, HALF_AN_HOUR)).not.toEqual(scheduleOf(8, HALF_AN_HOUR));
});

test('a shorter run is the first part of a longer one', () => {
  const short = scheduleOf(3, 180_000);
  expect(short.length).toBeGreaterThan(3);
  expect(scheduleOf(3, HALF_AN_HOUR).slice(0, short.length)).toEqual(short);
});

test('half an hour has every kind of fault several times, whatever the seed', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const kinds = scheduleOf(seed, HALF_AN_HOUR).flatMap(({ faults }) => faults.map(({ kind }) => kind));
    for (const kind of FAULT_KINDS) expect(kinds.filter((one) => one === kind).length, kind).toBeGreaterThanOrEqual(3);
  }
});

test('faults of one round hit different nodes, at most one the brokers, and its calm comes after all of them', () => {
  for (let seed = 1; seed <= 50; seed++) {
    for (const { faults, fromMs, toMs } of scheduleOf(seed, HALF_AN_HOUR)) {
      const nodes = faults.map(({ node }) => node).filter((node) => node !== null);
      expect(new Set(nodes).size).toBe(nodes.length);
      expect(nodes.every((node) => node >= 0 && node < NODES)).toBe(true);
      expect(faults.filter(({ kind }) => FAULTS[kind].excludes === 'brokers').length).toBeLessThanOrEqual(1);
      for (const fault of faults) {
        expect(fault.fromMs).toBeGreaterThanOrEqual(fromMs);
        expect(fault.toMs + 10_000).toBeLessThan(toMs);
      }
    }
  }
});

test('single kinds can be played alone', () => {
  const kinds = scheduleOf(1, HALF_AN_HOUR, ['topic-anew']).flatMap(({ faults }) => faults.map(({ kind }) => kind));
  expect(new Set(kinds)).toEqual(new Set(['topic-anew']));
});
