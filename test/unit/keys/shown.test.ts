import { describe, expect, test } from 'vitest';
import type { KeyReport } from '../../../src/node/api/node-status.js';
import { busiestKeys } from '../../../src/node/status/busiest-keys.js';
import { describeKey, unknownKey } from '../../../src/node/status/describe-key.js';
import { describeNode } from '../../../src/node/status/describe-node.js';
import type { WholeNode } from '../../whole-node.js';
import { onOneNode, PER_MINUTE, withKeys } from './keys-cluster.js';

const ONE = { messages: 1 };
const TEMPLATES = {
  'key:{id}': { ...PER_MINUTE(600), overrides: { acme: PER_MINUTE(6000) } },
  'tenant:{t}/user:{u}': PER_MINUTE(60),
};

describe('what a node tells of keys', () => {
  test('any node tells what the cluster knows of a key, also one that does not use it', async () => {
    await withKeys(2, TEMPLATES, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode];
      await time.advance(120_000);
      expect(describeKey(b, 'key:loud')).toMatchObject({
        template: 'key:{id}',
        used: false,
        silent: true,
        leftUnpublished: { publish: { messages: 300, bytes: null }, dispatch: { messages: null, bytes: null } },
        group: null,
        reports: { publish: [], dispatch: [] },
      });
      // 20/s of 10/s.
      for (let asked = 0; asked < 2000; asked++) {
        a.tryAcquire('key:loud', ONE);
        await time.advance(50);
      }
      expect(describeKey(a, 'key:loud')).toMatchObject({ used: true, silent: false, group: { group: 'key:loud' } });
      const seen = describeKey(b, 'key:loud');
      expect(seen).toMatchObject({ used: false, silent: false, leftUnpublished: null, group: { group: 'key:loud' } });
      expect(seen!.group!.directions.publish).toMatchObject({ clusterBucket: null, local: { served: false } });
      expect(seen!.reports.publish).toMatchObject([{ nodeId: 'a', self: false }]);
      const [{ usage, demand }] = seen!.reports.publish as [KeyReport];
      expect(demand.messagesPerSecond).toBeGreaterThan(15);
      expect(usage.messagesPerSecond).toBeLessThanOrEqual(20);
      // To look at a key makes none.
      expect(b.keys?.counts.get('key:{id}')).toMatchObject({ live: 0, made: 0 });
      expect(describeKey(b, 'key:acme')).toMatchObject({ quota: { publish: { messagesPerSecond: '6000/min' } } });
    });
  });

  test('what was spent of a key without publishing it is no arrival of the moment in which the key begins to speak', async () => {
    await withKeys(3, TEMPLATES, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode, WholeNode];
      await time.advance(63_000);
      // 200 of 600 may be spent without publishing it, and are within half a second.
      for (let asked = 0; asked < 250; asked++) {
        expect(a.tryAcquire('key:burst', ONE).granted).toBe(true);
        if (asked % 5 === 0) await time.advance(10);
      }
      await time.advance(50);
      const wanted = () => describeKey(b, 'key:burst')!.reports.publish[0].demand.messagesPerSecond!;
      // 500/s is what was asked for. The 200 at once passed for 20,000/s.
      expect(wanted()).toBeGreaterThan(0);
      expect(wanted()).toBeLessThanOrEqual(1000);
      for (let asked = 0; asked < 25; asked++) {
        a.tryAcquire('key:burst', ONE);
        await time.advance(200);
      }
      expect(wanted()).toBeLessThanOrEqual(20);
    });
  });

  test('a name without a template is refused, with the keys that it would be the field of', async () => {
    await withKeys(1, TEMPLATES, async ({ nodes: [a] }) => {
      expect(describeKey(a, 'acme')).toBe(null);
      expect(() => unknownKey(a.templates, 'acme')).toThrow('no template has keys named acme; key:acme would be one');
      expect(() => unknownKey(a.templates, 'a\n/b')).toThrow(
        'no template has keys named a\\u{a}/b; key:a\\u{a}/b would be one',
      );
      for (const [name, told] of [
        ['', '""'],
        ['KEY:a ', 'KEY:a\\u{20}'],
        [' a', '\\u{20}a'],
        ['a\u00a0 b', 'a\\u{a0} b'],
      ] as const) {
        expect(() => unknownKey(a.templates, name)).toThrow(`no template has keys named ${told}; key:`);
      }
      for (const name of ['x'.repeat(1_000_000), '\0', '__proto__ ']) {
        expect(describeKey(a, name)).toBe(null);
        expect(() => unknownKey(a.templates, name)).toThrow(/^.{0,240}$/s);
      }
    });
  });

  test('nothing is left unpublished where nothing may be spent without publishing it', async () => {
    const keys = { 'key:{id}': { ...PER_MINUTE(600), limiter: 'window' } };
    await onOneNode(keys, async (a) => {
      expect(describeKey(a, 'key:x')?.leftUnpublished?.publish).toEqual({ messages: 0, bytes: null });
    });
  });

  test('the busiest keys come first, silent ones last, and refusals are counted by template', async () => {
    await onOneNode(TEMPLATES, async (a, { time }) => {
      let refused = 0;
      const ask = (key: string, times: number) => {
        for (let asked = 0; asked < times; asked++) if (!a.tryAcquire(key, ONE).granted) refused++;
      };
      for (let tenth = 0; tenth < 900; tenth++) {
        ask('key:warm', 2);
        ask('key:hot', 5);
        ask('tenant:t/user:u', 1);
        if (tenth % 10 === 0) ask('key:silent', 1);
        await time.advance(100);
      }
      // 10/s of 1/s, 50/s of 10/s, 20/s of 10/s, 1/s of 10/s.
      const busiest = (await busiestKeys(a)).map(({ key, silent }) => [key, silent]);
      expect(busiest).toEqual([
        ['tenant:t/user:u', false],
        ['key:hot', false],
        ['key:warm', false],
        ['key:silent', true],
      ]);
      const counts = describeNode(a).keys;
      expect(counts.map(({ template, loud }) => [template, loud])).toEqual([
        ['key:{id}', 2],
        ['tenant:{t}/user:{u}', 1],
      ]);
      expect(counts.reduce((sum, { overQuota }) => sum + overQuota, 0)).toBe(refused);
      expect(counts.every(({ overQuota, refused: full }) => overQuota > 100 && full === 0)).toBe(true);
    });
  });

  test('however many keys speak, twenty are told', async () => {
    await withKeys(1, { 'key:{id}': { ...PER_MINUTE(600), burst: 1 } }, async ({ nodes: [a], time }) => {
      await time.advance(10_000);
      for (let second = 0; second < 12; second++) {
        for (let key = 0; key < 60; key++) {
          for (let asked = 0; asked < (key < 40 ? 12 : 120); asked++) a.tryAcquire(`key:${key}`, ONE);
        }
        await time.advance(1000);
      }
      const keys = (await busiestKeys(a)).map(({ key }) => key);
      expect(keys.toSorted()).toEqual(Array.from({ length: 20 }, (_, at) => `key:${40 + at}`));
    });
  });
});
