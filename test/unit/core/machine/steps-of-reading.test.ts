import { expect, test } from 'vitest';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import type { Append } from '../../../../src/core/base/protocol/events-and-effects.js';
import { NOTHING_REPORTED } from '../../../../src/core/base/protocol/record.js';
import { GATED, GROUP, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

const NODES = 100;

/** A report of the one group, of which every node has a row. */
function reportOf(node: OneNode, number: number, charged: number): Append {
  const rates = { ...NOTHING_REPORTED, usageMessages: 10, demandMessages: 10, shareMessages: 10 };
  const groupId = groupIdOf(SETTINGS.cluster, GROUP.name);
  return node.report(`n${number}`, [{ ...rates, groupId, direction: 0, topics: 1, charge: [charged, 0] }]);
}

function readAll(node: OneNode, charged: number): void {
  for (let number = 0; number < NODES; number++) {
    if (charged === 0) node.read(node.by(`n${number}`, 'node'));
    node.read(reportOf(node, number, charged));
  }
}

// With 1,000 nodes in a lane, a walk along its rows for every row that is read took 138 s instead of 3.
const LIMITED = [
  ['gates', GATED],
  ['a bucket', GROUP],
] as const;

test.each(LIMITED)('whoever catches up walks along no lane, with %s', (_, group) => {
  const node = new OneNode({ groups: [group] });
  readAll(node, 0);
  expect(node.coordinator.usageMap.rows.count).toBe(NODES);
  expect(node.coordinator.usageMap.steps).toBe(0);
});

test.each(LIMITED)('nor does who reads on, with %s', (_, group) => {
  const node = new OneNode({ groups: [group] });
  readAll(node, 0);
  node.step({ kind: 'caught-up' });
  node.echo();
  readAll(node, 5);
  expect(node.coordinator.isReady).toBe(true);
  expect(node.coordinator.usageMap.steps).toBe(0);
});
