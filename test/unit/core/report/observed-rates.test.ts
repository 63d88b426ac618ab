import { expect, test } from 'vitest';
import type { PublishedKeys } from '../../../../src/core/keys/silent-use.js';
import type { LaneState } from '../../../../src/core/lanes/lane-state.js';
import { type Observed, ObservedRates } from '../../../../src/core/report/observed-rates.js';
import { MEDIUM } from '../../../../src/core/sample/lane-sample.js';

/** A mark after so many messages. */
function mark(atMs: number, messages: number) {
  const of = (dimension: number) => (dimension === 0 ? messages : 0);
  return { atMs, heldBackMs: 0, admitted: of, attempted: of, squares: of };
}

/** A lane of a key that has been counted for 1.2 s, and whose report is of its first moment. */
function lane(name: string, messages: number): LaneState {
  const reported = { usage: Float64Array.of(2388, 0), demand: Float64Array.of(2388, 0), squares: new Float64Array(2) };
  const sample = {
    isFull: (span: number) => span <= MEDIUM,
    lengthMs: () => 1200,
    now: mark(1200, messages),
    beginOf: () => mark(0, 0),
  };
  const tokens = { isShared: true, isDue: false, isEnding: false };
  const quota = { publish: [10, Number.POSITIVE_INFINITY], dispatch: [0, 0] };
  const identity = { groupId: messages, group: messages, direction: 0, settings: { name, quota } };
  return { ...identity, sample, tokens, hasEntry: true, reported } as unknown as LaneState;
}

const KEYS: PublishedKeys = { isKey: () => true, speaks: () => true, busiest: [] };

function observed(lanes: readonly LaneState[], more: Partial<Observed> = {}): Observed {
  return { cluster: 'demo', lanes, topicsOf: () => 0, keys: KEYS, nodes: 3, ...more };
}

test('a key is published by what was counted, and not by a report of its first moment', () => {
  const [row] = new ObservedRates().next(observed([lane('key:seldom', 6)]), 1200);
  expect(row).toMatchObject({ name: 'key:seldom', usageMessages: 5, demandMessages: 5 });
});

test('a group does not wait for less than its slow span, and its name is known to all', () => {
  expect(new ObservedRates().next(observed([lane('orders', 6)], { keys: null }), 1200)).toEqual([]);
});

test('of many keys the hottest go first, eight in a heartbeat, and again for a node that comes', () => {
  const rates = new ObservedRates();
  const lanes = Array.from({ length: 20 }, (_, at) => lane(`key:${at}`, at + 1));
  const namesAt = (nowMs: number, nodes: number) =>
    rates.next(observed(lanes, { nodes }), nowMs).map(({ name }) => name);
  expect(namesAt(1200, 3)).toEqual([19, 18, 17, 16, 15, 14, 13, 12].map((at) => `key:${at}`));
  expect(namesAt(2200, 3)).toEqual([11, 10, 9, 8, 7, 6, 5, 4].map((at) => `key:${at}`));
  expect(namesAt(3200, 3)).toEqual([3, 2, 1, 0].map((at) => `key:${at}`));
  expect(namesAt(4200, 3)).toEqual([]);
  expect(namesAt(5200, 4)).toEqual([19, 18, 17, 16, 15, 14, 13, 12].map((at) => `key:${at}`));
});
