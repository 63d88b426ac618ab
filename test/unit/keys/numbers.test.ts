import { describe, expect, test } from 'vitest';
import type { Reservation } from '../../../src/node/api/decision.js';
import type { WholeNode } from '../../whole-node.js';
import { PER_SECOND, useUp, withKeys } from './keys-cluster.js';

const ONE = { messages: 1 };

describe('numbers of keys', () => {
  test('are given to other keys when nothing is left to remember, and not before', async () => {
    await withKeys(
      2,
      { 'key:{id}': PER_SECOND(10) },
      async ({ nodes, time }) => {
        const [a, b] = nodes as [WholeNode, WholeNode];
        const numbers = () => a.groups.unlistedCount;
        await time.advance(10_000);
        expect(useUp(a, 'key:first')).toBeGreaterThan(0);
        a.reportCost('key:second', { units: 1 });
        const held = a.reserve('key:second', { messages: 3 }) as Reservation;
        expect(held.granted).toBe(true);
        expect(() => useUp(a, 'key:third')).toThrow(/maxLoud = 2/);
        // It is silent, but not forgotten: its number is its own.
        await time.advance(62_000);
        expect(() => useUp(a, 'key:third')).toThrow(/maxLoud = 2/);
        await time.advance(60_000);
        expect(a.keys!.seen('key:first')).toBe(null);
        expect(useUp(a, 'key:third')).toBeGreaterThan(0);
        expect(numbers()).toBe(2);
        // The second has been idle for as long, and holds tokens.
        expect(() => useUp(a, 'key:fourth')).toThrow(/maxLoud = 2/);
        held.commit({ messages: 1 });
        expect(a.groupStatus('key:third').group).toBe('key:third');
        expect(() => a.groupStatus('key:first')).toThrow();

        // A number's next name is a key like any other: two nodes share its quota, and say so by its name.
        await time.advance(1000);
        let granted = 0;
        for (let step = 0; step < 1000; step++) {
          for (const node of [a, b]) if (node.tryAcquire('key:third', ONE).granted) granted++;
          await time.advance(10);
        }
        expect(granted).toBeGreaterThan(95);
        expect(granted).toBeLessThanOrEqual(100 + 30);
        // And the first one comes back as a new key, when there is a number for it.
        await time.advance(122_000);
        expect(useUp(a, 'key:first')).toBeGreaterThan(0);
        expect(numbers()).toBe(2);
      },
      undefined,
      { constants: { keys: { maxLoud: 2 } } },
    );
  });

  test('a number whose name was defined as a group is not given away', async () => {
    await withKeys(
      1,
      { 'key:{id}': PER_SECOND(10) },
      async ({ nodes, time }) => {
        const [node] = nodes as [WholeNode];
        await time.advance(10_000);
        useUp(node, 'key:first');
        const settings = node.keys!.seen('key:first')!.settings;
        node.inForce.define({ ...settings, name: 'key:first' });
        await time.advance(200_000);
        expect(() => useUp(node, 'key:second')).toThrow(/maxLoud = 1/);
        expect(useUp(node, 'key:first')).toBeGreaterThan(0);
      },
      undefined,
      { constants: { keys: { maxLoud: 1 } } },
    );
  });
});
