import { expect, test } from 'vitest';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { withUnitsBehindAmounts } from '../../../src/config/read/units-in-keys.js';

test.each([
  [{ messagesPerMinute: 600 }, { messagesPerSecond: '600/min' }],
  [{ bytesPerHour: '1MiB' }, { bytesPerSecond: '1MiB/h' }],
  [
    { costPerDay: 5, reservedCostPerSecond: 1 },
    { costPerSecond: '5/d', reservedCostPerSecond: 1 },
  ],
  [{ messagesPerHour: null }, { messagesPerSecond: null }],
  [
    { quota: { publish: { messagesPerHour: 60 } }, floorRatio: 0 },
    { quota: { publish: { messagesPerSecond: '60/h' } }, floorRatio: 0 },
  ],
  [
    { messagesPerMinute: 600, messagesPerSecond: 5 },
    { messagesPerMinute: 600, messagesPerSecond: 5 },
  ],
  [{ messagesPerMinute: '600/h' }, { messagesPerMinute: '600/h' }],
  [{ messagesPerMinute: { a: 1 } }, { messagesPerMinute: { a: 1 } }],
  [{ failuresPerMinute: 3 }, { failuresPerMinute: 3 }],
])('%j is read as %j', (written, read) => {
  const before = structuredClone(written);
  expect(withUnitsBehindAmounts(written)).toEqual(read);
  expect(written).toEqual(before);
});

test('a mapping as deep as a request can be is read as any other', () => {
  let written: object = { messagesPerMinute: 1 };
  for (let depth = 0; depth < 5000; depth++) written = { a: written };
  expect(withUnitsBehindAmounts(written)).toBe(written);
  const override = { shadow: { quota: { publish: { messagesPerHour: 1 } } } };
  const keys = { keys: { 'key:{id}': { overrides: { 'key:a': override } } } };
  expect(JSON.stringify(withUnitsBehindAmounts(keys))).toContain('"messagesPerSecond":"1/h"');
});

test('a mapping without such keys is the same object', () => {
  const written = { groups: { a: { quota: { publish: { messagesPerSecond: 5 } } } } };
  expect(withUnitsBehindAmounts(written)).toBe(written);
});

/** A configuration with these groups, and what it says of the quota of the last one. */
function quotaOf(...groups: readonly object[]) {
  const [defaults, orders] = groups.length === 2 ? groups : [{}, groups[0]];
  const raw = { cluster: 'c', topic: 'memory', defaults, groups: { orders } };
  const { config, mistakes } = examineConfig(raw, { source: '(test)', env: {} });
  return config === null
    ? mistakes.map(({ path, remedy }) => `${path}: ${remedy}`)
    : config.groups[0]!.quota.publish[0];
}

test('a group overrides the defaults in whatever unit', () => {
  expect(
    quotaOf({ quota: { publish: { messagesPerSecond: 5 } } }, { quota: { publish: { messagesPerMinute: 60 } } }),
  ).toBe(1);
  expect(
    quotaOf({ quota: { publish: { messagesPerHour: 3600 } } }, { quota: { publish: { messagesPerSecond: 7 } } }),
  ).toBe(7);
});

test('mistakes are told at the key that was written; twice is one', () => {
  expect(quotaOf({ quota: { publish: { messagesPerMinute: -5 } } })).toEqual([
    expect.stringMatching(/^groups\.orders\.quota\.publish\.messagesPerMinute: /),
  ]);
  expect(quotaOf({ quota: { publish: { messagesPerMinute: 5, messagesPerHour: 9 } } })).toHaveLength(2);
});
