import { expect, test } from 'vitest';
import { nodeKeyOf } from '../../../../src/core/base/ids.js';
import { nodeRecordKey } from '../../../../src/core/base/protocol/record.js';
import { OneNode } from './one-node.js';

const STALENESS_MS = 5000;

function nodeOf(partitions: number | undefined, sequence: number) {
  const author = { nodeKey: nodeKeyOf('demo', 'old'), incarnation: 0x10000, sequence };
  const said = { nodeId: 'old', version: 'test', ...(partitions !== undefined && { partitions }) };
  return { partition: 0, key: nodeRecordKey(author.nodeKey), record: { kind: 'node' as const, author, ...said } };
}

function start(partitions: number, before: number | undefined): OneNode {
  const node = new OneNode({ partitions });
  node.read(nodeOf(before, 1));
  node.step({ kind: 'caught-up' });
  return node;
}

test('who counts more partitions than a member that goes on beating stops, by name', () => {
  const node = start(4, 2);
  expect(node.coordinator.phase).toBe('catching-up');
  node.run(1000);
  node.read(nodeOf(2, 2));
  expect(node.coordinator.phase).toBe('fenced');
  expect(node.told('partitions-differ')).toEqual([{ kind: 'partitions-differ', nodeId: 'old', founded: 2, own: 4 }]);
  node.run(STALENESS_MS + 2000);
  expect(node.coordinator.phase).toBe('fenced');
  expect(node.told('ready')).toEqual([]);
});

test('a log that holds but old records of such members may grow: who starts waits for one staleness, and joins', () => {
  const node = start(4, 2);
  node.run(STALENESS_MS - 100);
  expect(node.coordinator.phase).toBe('catching-up');
  node.run(1000);
  expect(node.coordinator.phase).toBe('ready');
});

test.each([
  ['the same count', 4],
  ['a larger count: that one has to yield', 8],
  ['no count, of an older version', undefined],
])('%s: nobody waits', (_, partitions) => {
  const node = start(4, partitions);
  node.run(200);
  expect(node.coordinator.phase).toBe('ready');
});

test('two that start at once: the one that counts more stops when it reads the other, ready or not', () => {
  const node = start(4, 4);
  node.run(200);
  expect(node.coordinator.phase).toBe('ready');
  node.read(nodeOf(2, 2));
  expect(node.coordinator.phase).toBe('fenced');
  expect(node.coordinator.isReady).toBe(false);
});

test('who has decided for a while goes on when an id that nobody knows counts fewer, and names it once', () => {
  const node = start(4, 4);
  node.run(STALENESS_MS + 1000);
  for (const sequence of [2, 3]) node.read(nodeOf(2, sequence));
  expect(node.coordinator.isReady).toBe(true);
  expect(node.told('partitions-doubted')).toEqual([{ kind: 'partitions-doubted', nodeId: 'old' }]);
  expect(node.coordinator.log.ignored['partitions-doubted']).toBe(2);
});

test('… and stops for one that was there before it, and had only slept', () => {
  const node = start(4, 2);
  node.run(2 * STALENESS_MS + 1000);
  expect(node.coordinator.isReady).toBe(true);
  node.read(nodeOf(2, 2));
  expect(node.coordinator.phase).toBe('fenced');
});

test('a node that is still catching up when the log is made anew stops like any other newcomer', () => {
  const node = new OneNode({ partitions: 4 });
  node.step({ kind: 'epoch-began', epoch: 'first' });
  node.step({ kind: 'epoch-began', epoch: 'second' });
  node.step({ kind: 'caught-up' });
  node.run(200);
  node.read(nodeOf(2, 1));
  expect(node.coordinator.phase).toBe('fenced');
});

test('a node that was ready when the log was made anew goes on: whoever is new has to stop', () => {
  const node = new OneNode({ partitions: 4 });
  node.step({ kind: 'epoch-began', epoch: 'first' });
  node.step({ kind: 'caught-up' });
  node.echo();
  node.step({ kind: 'epoch-began', epoch: 'second' });
  node.read(nodeOf(2, 1));
  expect(node.coordinator.phase).toBe('ready');
});
