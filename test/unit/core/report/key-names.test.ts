import { expect, test } from 'vitest';
import type { PublishedKeys } from '../../../../src/core/account/keys/silent-use.js';
import type { LaneState } from '../../../../src/core/account/lanes/lane-state.js';
import { KeyNames, type NamedKeys } from '../../../../src/core/report/key-names.js';

/** A lane of a key that reports so many messages per second. */
function lane(name: string, messages: number): LaneState {
  const reported = { demand: Float64Array.of(messages, 0) };
  const quota = { publish: [10, Infinity], dispatch: [0, 0] };
  const identity = { groupId: messages, group: messages, direction: 0, settings: { name, quota } };
  return { ...identity, entry: { isOpen: true }, reported } as unknown as LaneState;
}

const KEYS: PublishedKeys = { isKey: () => true, isPublished: () => true, busiest: [] };

function named(lanes: readonly LaneState[], more: Partial<NamedKeys> = {}): NamedKeys {
  return { cluster: 'demo', lanes, keys: KEYS, nodes: 3, ...more };
}

test('a key with reports is named without rates, and a group not at all', () => {
  expect(new KeyNames().next(named([lane('key:acme', 6)]), 1200)).toEqual([
    { groupId: 6, direction: 0, name: 'key:acme', messages: 0, bytes: 0 },
  ]);
  expect(new KeyNames().next(named([lane('orders', 6)], { keys: { ...KEYS, isKey: () => false } }), 1200)).toEqual([]);
});

test('a silent key is told with what is granted of it, again when that changes, and once when it is over', () => {
  const names = new KeyNames();
  const at = (nowMs: number, messages: number) => {
    const silent = { name: 'key:acme', direction: 0, messages, bytes: 0, heat: messages / 10 };
    const keys = { ...KEYS, isPublished: () => false, busiest: messages > 0 ? [silent] : [] };
    return names.next(named([], { keys }), nowMs).map((row) => row.messages);
  };
  expect(at(1000, 50)).toEqual([50]);
  expect(at(2000, 51)).toEqual([]);
  expect(at(3000, 80)).toEqual([80]);
  expect(at(4000, 0)).toEqual([0]);
  expect(at(5000, 0)).toEqual([]);
});

test('of many keys the hottest go first, eight in a heartbeat, and again for a node that comes', () => {
  const names = new KeyNames();
  const lanes = Array.from({ length: 20 }, (_, at) => lane(`key:${at}`, at + 1));
  const namesAt = (nowMs: number, nodes: number) => names.next(named(lanes, { nodes }), nowMs).map(({ name }) => name);
  expect(namesAt(1200, 3)).toEqual([19, 18, 17, 16, 15, 14, 13, 12].map((at) => `key:${at}`));
  expect(namesAt(2200, 3)).toEqual([11, 10, 9, 8, 7, 6, 5, 4].map((at) => `key:${at}`));
  expect(namesAt(3200, 3)).toEqual([3, 2, 1, 0].map((at) => `key:${at}`));
  expect(namesAt(4200, 3)).toEqual([]);
  expect(namesAt(5200, 4)).toEqual([19, 18, 17, 16, 15, 14, 13, 12].map((at) => `key:${at}`));
});
