import { describe, expect, test } from 'vitest';
import { incarnationCount, incarnationOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import { reportRecordKey } from '../../../../src/core/base/protocol/record.js';
import { OneNode } from './one-node.js';

describe('joining', () => {
  test('nothing is admitted until the own NODE record is read back', () => {
    const node = new OneNode();
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.step({ kind: 'caught-up' });
    node.run(900, { echo: false });
    expect(node.coordinator.phase).toBe('joining');
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.echo();
    expect(node.told('ready')).toEqual([{ kind: 'ready', members: 1, incarnation: 1 }]);
    // Its bucket starts to fill now, not when the process started.
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.run(20);
    expect(node.tryAcquire(0, 1)).toBe(true);
  });

  test('on several partitions it waits for all of them', () => {
    const node = new OneNode({ partitions: 3 });
    node.step({ kind: 'caught-up' });
    const [first, second, third] = node.lose();
    node.read(first, third);
    expect(node.coordinator.isReady).toBe(false);
    node.read(second);
    expect(node.coordinator.isReady).toBe(true);
  });

  test.each([
    ['an earlier life of its id', 'own', incarnationOf(1, 7)],
    ['another node', 'a', incarnationOf(2, 500)],
  ])('a record of %s is no echo, though it has the same number', (_, nodeId, incarnation) => {
    const node = new OneNode();
    node.read(node.by('own', 'node'), node.by('a', 'node'));
    node.step({ kind: 'caught-up' });
    const own = node.lose()[0];
    const author = { ...own.record!.author, nodeKey: nodeKeyOf(node.settings.cluster, nodeId), incarnation };
    node.read({ ...own, record: { kind: 'node', author, nodeId, version: 'test' } });
    expect(node.coordinator.isReady).toBe(false);
    node.read(own);
    expect(node.coordinator.isReady).toBe(true);
  });

  test('a lost record on one partition holds the node up for a heartbeat, not for the slower one of that partition', () => {
    const node = new OneNode({ partitions: 3 });
    node.step({ kind: 'caught-up' });
    node.read(...node.lose().filter(({ partition }) => partition !== 2));
    node.run(1100);
    expect(node.coordinator.isReady).toBe(true);
  });

  test('its life is newer than the newest of its id on any partition', () => {
    const node = new OneNode({ partitions: 2 });
    node.read(node.by('own', 'node', { life: 4 }), node.by('own', 'node', { life: 6, partition: 1 }));
    node.step({ kind: 'caught-up' });
    expect(incarnationCount(node.coordinator.incarnation)).toBe(7);
  });
});

describe('two processes with one node id', () => {
  test('the older one is fenced and admits nothing more', () => {
    const node = OneNode.ready();
    node.run(500);
    expect(node.tryAcquire(0, 1)).toBe(true);
    node.read(node.by('own', 'node', { life: 2 }));
    expect(node.coordinator.phase).toBe('fenced');
    expect(node.told('fenced')).toEqual([{ kind: 'fenced', ownIncarnation: 1, newerIncarnation: 2 }]);
    expect(node.tryAcquire(0, 1)).toBe(false);
    expect(node.tryAcquire(1, 1)).toBe(false);
    node.run(10_000);
    expect(node.tryAcquire(0, 1)).toBe(false);
    expect(node.lose()).toEqual([]);
  });

  test.each([
    { nonce: 499, phase: 'ready' },
    { nonce: 501, phase: 'fenced' },
  ])('of two that chose the same life the higher number wins: other $nonce, own 500', ({ nonce, phase }) => {
    const node = OneNode.ready();
    node.read(node.by('own', 'node', { nonce }));
    node.run(1000);
    expect(node.coordinator.phase).toBe(phase);
  });
});

describe('leaving', () => {
  test('what is untold goes first, then the farewell; nothing is admitted, further rounds publish nothing', () => {
    const node = OneNode.ready();
    node.run(2000, { each: () => node.tryAcquire(0, 1) });
    node.lose();
    node.step({ kind: 'stopping' });
    expect(node.tryAcquire(0, 1)).toBe(false);
    expect(node.lose().map(({ record }) => record?.kind ?? null)).toEqual([null, 'farewell']);
    node.step({ kind: 'stopping' });
    node.run(2000);
    expect(node.lose()).toEqual([]);
  });
});

describe('records that vanish', () => {
  test('a bundle is published again after its append failed, or after somebody buried its key', () => {
    const node = OneNode.ready();
    node.run(2000, { each: () => node.tryAcquire(0, 1) });
    const { nodeKey, usageMap, membership } = node.coordinator;
    const key = reportRecordKey(nodeKey, usageMap.keysOf(membership.get(nodeKey)!)[0].bundle);
    node.step({ kind: 'append-failed', partition: 0, keys: [key, 'unknown'] });
    node.run(100, { echo: false });
    expect(node.lose().some((append) => append.key === key && append.record?.kind === 'report')).toBe(true);
    node.read({ partition: 0, key, record: null });
    node.run(100, { echo: false });
    expect(node.lose().some((append) => append.key === key && append.record?.kind === 'report')).toBe(true);
  });

  test.each([
    { failing: 0, withinMs: 250, why: 'three that fail would isolate it' },
    { failing: 1, withinMs: 1000, why: 'the next slow one would come too late' },
  ])(
    'a heartbeat that failed on partition $failing is said again within $withinMs ms: $why',
    ({ failing, withinMs }) => {
      const node = OneNode.ready({ partitions: 2 });
      node.run(2000);
      const beats = () =>
        node.lose().filter(({ partition, record }) => partition === failing && record?.kind === 'node');
      const { key } = node.by('own', 'node');
      const untilBeatMs = () => {
        const sinceMs = node.nowMs;
        while (beats().length === 0) node.run(20, { echo: false });
        return node.nowMs - sinceMs;
      };
      untilBeatMs();
      node.step({ kind: 'append-failed', partition: failing, keys: [key] });
      expect(untilBeatMs()).toBeLessThanOrEqual(withinMs + 20);
    },
  );

  test('its NODE record too: a newcomer that reads the compacted log must see it', () => {
    const node = OneNode.ready({ partitions: 2 });
    node.run(200);
    for (const partition of [0, 1]) {
      node.read({ partition, key: node.by('own', 'node').key, record: null });
      node.run(20, { echo: false });
      expect(node.lose().map((append) => [append.partition, append.record?.kind])).toEqual([[partition, 'node']]);
    }
  });
});
