import { describe, expect, test } from 'vitest';
import {
  backendIdOf,
  clusterHashOf,
  epochTagOf,
  groupIdOf,
  incarnationCount,
  incarnationNonce,
  incarnationOf,
  nodeKeyOf,
} from '../../../src/core/base/ids.js';

describe('ids', () => {
  test('are 48-bit integers and depend on kind, cluster and name', () => {
    const ids = [
      groupIdOf('demo', 'orders'),
      groupIdOf('demo', 'order'),
      groupIdOf('demo2', 'orders'),
      nodeKeyOf('demo', 'orders'),
      nodeKeyOf('demo', ''),
      groupIdOf('', ''),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) {
      expect(Number.isInteger(id)).toBe(true);
      expect(id).toBeGreaterThanOrEqual(0);
      expect(id).toBeLessThan(2 ** 48);
    }
  });

  test('never change: they are on the wire and in the topic', () => {
    expect(groupIdOf('demo', 'orders')).toBe(PINNED.group);
    expect(nodeKeyOf('demo', 'node-1')).toBe(PINNED.node);
    expect(clusterHashOf('demo')).toBe(PINNED.cluster);
    expect(backendIdOf('demo', 'db')).toBe(PINNED.backend);
    expect(epochTagOf('demo/1')).toBe(PINNED.epoch);
  });

  test('100,000 groups do not collide and spread over partitions', () => {
    const ids = Array.from({ length: 100_000 }, (_, at) => groupIdOf('demo', `tenant-${at % 317}/space-${at}`));
    expect(new Set(ids).size).toBe(ids.length);
    const perPartition = new Array<number>(16).fill(0);
    for (const id of ids) perPartition[id % 16] = (perPartition[id % 16] as number) + 1;
    expect(Math.min(...perPartition)).toBeGreaterThan(5900);
    expect(Math.max(...perPartition)).toBeLessThan(6600);
  });
});

const PINNED = {
  group: 144941889673158,
  node: 5483872277780,
  cluster: 1305287944,
  backend: 146016211702124,
  epoch: 806903003,
};

describe('incarnation', () => {
  test('orders lives by count, then by the random tie-breaker', () => {
    expect(incarnationOf(2, 0)).toBeGreaterThan(incarnationOf(1, 0xffff));
    expect(incarnationOf(1, 5)).toBeGreaterThan(incarnationOf(1, 4));
  });

  test.each([
    [1, 0],
    [1, 0xffff],
    [0xffffffff, 0xabcd],
  ])('count %d and nonce %d come back', (count, nonce) => {
    const incarnation = incarnationOf(count, nonce);
    expect([incarnationCount(incarnation), incarnationNonce(incarnation)]).toEqual([count, nonce]);
  });
});
