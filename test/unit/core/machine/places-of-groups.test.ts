import { expect, test } from 'vitest';
import { bundleOfRecordKey } from '../../../../src/core/base/protocol/record.js';
import { laneOf } from '../../../../src/core/base/vocabulary.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

test('groups that are used one after the other take the place of one, and as many records', () => {
  const groups = Array.from({ length: 4 * SETTINGS.groupsPerRecord }, (_, at) => ({ ...GATED, name: `group-${at}` }));
  const node = OneNode.ready({ groups });
  const bundles = new Set<number>();
  for (const group of groups.keys()) {
    const noteSent = () => {
      for (const { key, record } of node.sent) {
        if (record?.kind === 'report') bundles.add(bundleOfRecordKey(key) as number);
      }
    };
    node.run(300, { each: () => [1, 2, 3].forEach(() => void node.tryAcquire(laneOf(group, 0), 1)), echo: false });
    noteSent();
    node.echo();
    node.step({ kind: 'group-removed', group });
    node.run(300, { echo: false });
    noteSent();
    node.echo();
  }
  expect([...bundles]).toEqual([0]);
});
