import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  backendIdOf,
  bitsOf,
  clusterHashOf,
  epochTagOf,
  groupIdOf,
  incarnationCount,
  incarnationNonce,
  incarnationOf,
  isWideId,
  nodeKeyOf,
  readWords,
  writeId,
} from '../../../src/core/base/ids.js';

describe('ids', () => {
  test('depend on kind, cluster and name, and are the first bits of SHA-256', () => {
    const ids = [
      groupIdOf('demo', 'orders'),
      groupIdOf('demo', 'order'),
      groupIdOf('demo2', 'orders'),
      backendIdOf('demo', 'orders'),
      groupIdOf('', ''),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every(isWideId)).toBe(true);
    const hash = createHash('sha256').update('group/demo/orders').digest();
    expect(ids[0]).toBe(hash.subarray(0, 12).toString('base64url'));
    const node = createHash('sha256').update('node/demo/orders').digest();
    expect(nodeKeyOf('demo', 'orders')).toBe(node.readUIntBE(0, 6));
  });

  test('any words are written and read back, and their first bits spread', () => {
    const word = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(word, word, word, (first, second, third) => {
        const bytes = Buffer.alloc(12);
        for (const [at, each] of [first, second, third].entries()) bytes.writeUInt32BE(each, 4 * at);
        const id = writeId(first, second, third);
        expect(id).toBe(bytes.toString('base64url'));
        expect([...readWords(id)]).toEqual([first, second, third]);
        expect(bitsOf(id)).toBe(first >>> 2);
      }),
    );
  });

  test.each(['', 'x', 'A'.repeat(15), `${'A'.repeat(15)}=`, `${'A'.repeat(15)}é`, 'A'.repeat(17)])(
    '%j is no id',
    (text) => {
      expect(isWideId(text)).toBe(false);
    },
  );

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
    for (const id of ids) perPartition[bitsOf(id) % 16] = perPartition[bitsOf(id) % 16] + 1;
    expect(Math.min(...perPartition)).toBeGreaterThan(5900);
    expect(Math.max(...perPartition)).toBeLessThan(6600);
  });
});

const PINNED = {
  group: 'AMoNy368Jygtp90V',
  node: 166810611840216,
  cluster: 569992400,
  backend: 'sYAt64uC1prDE7km',
  epoch: 13353262,
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
