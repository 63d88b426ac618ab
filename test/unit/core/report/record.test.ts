import { expect, test } from 'vitest';
import { nodeKeyOf } from '../../../../src/core/base/ids.js';
import {
  isNodeRecordKey,
  nodeKeyOfRecordKey,
  nodeRecordKey,
  reportRecordKey,
} from '../../../../src/core/base/protocol/record.js';

test.each([0, 1, 63, 64, 2 ** 47, 2 ** 48 - 1, nodeKeyOf('demo', 'a')])('key of node %d and back', (nodeKey) => {
  const key = nodeRecordKey(nodeKey);
  expect(key).toMatch(/^[A-Za-z0-9_-]{8}$/);
  expect(isNodeRecordKey(key)).toBe(true);
  expect(nodeKeyOfRecordKey(key)).toBe(nodeKey);
  expect(nodeKeyOfRecordKey(reportRecordKey(nodeKey, 1000))).toBe(nodeKey);
  expect(reportRecordKey(nodeKey, 1000)).toBe(`${key}/rs`);
  expect(isNodeRecordKey(reportRecordKey(nodeKey, 0))).toBe(false);
});

test.each(['', 'short', 'backend/1', 'group/xyz', 'AAAAAAA!', 'AAAAAAAAA', 'ÄÖÜäöüßé'])(
  '"%s" is not a key of ours',
  (key) => {
    expect(nodeKeyOfRecordKey(key)).toBeNull();
  },
);
