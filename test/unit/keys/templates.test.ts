import { describe, expect, test } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { KeyEntry } from '../../../src/node/api/change-answers.js';
import { deleteGroup, putGroup } from '../../../src/node/groups/changes/change-group.js';
import { deleteKeys, listKeyDefinitions, patchKeys, putKeys } from '../../../src/node/groups/changes/change-keys.js';
import { BY_TEST } from '../../integration/changed-by.js';
import type { WholeNode } from '../../whole-node.js';
import { done, type KeysCluster, onOneNode, PER_MINUTE, takeAll, withKeys } from './keys-cluster.js';

const ONE = { messages: 1 };
const TEMPLATE: KeyEntry = { kind: 'template', name: 'key:{id}' };
const ACME: KeyEntry = { kind: 'key', name: 'key:acme' };

describe('templates at run time', () => {
  test('one record makes keys at every node, changes all of them, and takes them away', async () => {
    await withKeys(2, {}, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode];
      expect(() => b.tryAcquire('key:alice', ONE)).toThrow(/not configured/);
      const made = await done(time, putKeys(a, TEMPLATE, PER_MINUTE(6), 0, BY_TEST));
      expect(made).toMatchObject({ isNew: true, origin: 'run-time' });
      await time.advance(120_000);
      expect(takeAll(b, 'key:alice')).toBe(6);
      const later = await done(time, putKeys(a, TEMPLATE, PER_MINUTE(60), made.revision, BY_TEST));
      expect(later.isNew).toBe(false);
      await time.advance(300);
      // What was spent stays spent: a key that spoke has the new quota from now on, and no new bucket.
      expect(takeAll(b, 'key:alice')).toBeLessThanOrEqual(60 - 6);
      expect(takeAll(b, 'key:bob')).toBe(60);
      await expect(done(time, putKeys(a, TEMPLATE, PER_MINUTE(1), made.revision, BY_TEST))).rejects.toThrow(/revision/);
      await done(time, deleteKeys(a, TEMPLATE, null, BY_TEST));
      await time.advance(300);
      for (const key of ['key:alice', 'key:bob', 'key:carol'])
        expect(() => b.tryAcquire(key, ONE)).toThrow(/not configured/);
      expect(b.keys?.counts.get('key:{id}')).toMatchObject({ loud: 0 });
      // What was spent is remembered, lest the template comes back.
      await time.advance(120_000);
      expect(b.keys?.counts.get('key:{id}')).toBe(undefined);
    });
  });

  test('a silent key keeps what it spent when its template changes, and mints nothing', async () => {
    await onOneNode({ 'key:{id}': PER_MINUTE(60) }, async (node, { time }) => {
      for (let asked = 0; asked < 20; asked++) node.tryAcquire('key:alice', ONE);
      await done(time, putKeys(node, TEMPLATE, PER_MINUTE(30), null, BY_TEST));
      expect(node.keys?.seen('key:alice')?.left[0]?.[0]).toBeLessThanOrEqual(11);
      await done(
        time,
        putKeys(
          node,
          TEMPLATE,
          { quota: { publish: { messagesPerSecond: '60/min', bytesPerSecond: '10/min' } } },
          null,
          BY_TEST,
        ),
      );
      expect(node.keys?.seen('key:alice')?.left[0]?.[0]).toBeLessThanOrEqual(42);
      const granted = [10, 1].map((bytes) => node.tryAcquire('key:alice', { bytes }).granted);
      expect(granted).toEqual([true, false]);
    });
  });

  test('a published key has the new quota from the next request on, before the next round', async () => {
    await withKeys(3, { 'key:{id}': PER_MINUTE(600) }, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      await time.advance(120_000);
      takeAll(node, 'key:alice', 300);
      const { templates } = resolveConfig(
        { cluster: 'keys', node: 'a', topic: 'memory', keys: { 'key:{id}': PER_MINUTE(60) } },
        { source: '(test)', env: {} },
      ).keys;
      node.keys?.use(templates);
      expect(node.tryAcquire('key:alice', ONE).granted).toBe(false);
    });
  });

  test('a key that owes stays a group until it has paid, however quiet it is', async () => {
    const template = { quota: { publish: { messagesPerSecond: 1 } }, burst: 10, debtMs: '10m' };
    await withKeys(1, { 'key:{id}': template }, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      await time.advance(13_000);
      node.consume('key:alice', { messages: 200 });
      await time.advance(120_000);
      expect(node.tryAcquire('key:alice', ONE).granted).toBe(false);
      await time.advance(100_000);
      expect(node.tryAcquire('key:alice', ONE).granted).toBe(true);
    });
  });

  test('who waits for a key whose template is removed is told', async () => {
    await withKeys(1, {}, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      await done(time, putKeys(node, TEMPLATE, PER_MINUTE(1), null, BY_TEST));
      await time.advance(60_000);
      takeAll(node, 'key:alice', 5);
      const waiting = expect(node.acquire('key:alice', ONE, { waitMs: 50_000 })).rejects.toThrow(/key:alice/);
      await done(time, deleteKeys(node, TEMPLATE, null, BY_TEST));
      await time.advance(10_000);
      await waiting;
    });
  });

  test('a single key has settings of its own, over YAML and over the template that comes after them', async () => {
    const keys = { 'key:{id}': { ...PER_MINUTE(5), overrides: { acme: PER_MINUTE(7) } } };
    await withKeys(2, keys, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode];
      await time.advance(120_000);
      await done(time, putKeys(a, ACME, PER_MINUTE(20), null, BY_TEST));
      await time.advance(300);
      expect(takeAll(b, 'key:acme')).toBe(20);
      expect(takeAll(b, 'key:bob')).toBe(5);
      await done(time, deleteKeys(a, ACME, null, BY_TEST));
      await time.advance(240_000);
      expect(takeAll(b, 'key:acme')).toBe(7);
      await expect(done(time, deleteKeys(a, ACME, null, BY_TEST))).rejects.toThrow(/cannot be deleted at run time/);
      const other: KeyEntry = { kind: 'key', name: 'other' };
      await expect(done(time, putKeys(a, other, PER_MINUTE(1), null, BY_TEST))).rejects.toThrow(/no template/);
      expect(listKeyDefinitions(a)).toMatchObject([{ kind: 'template', name: 'key:{id}', origin: 'yaml' }]);
    });
  });

  test.each([
    // 20 are spent, of which 4 come back at 10/s before the change.
    { kind: 'silent', spent: 20, left: 30 - 16 },
    // The whole bucket of 600 is spent, and 4 come back as well.
    { kind: 'loud', spent: 700, left: 4 },
  ])('a key that is $kind follows settings that it is given while it is in use, and their end', async (key) => {
    await withKeys(2, { 'key:{id}': PER_MINUTE(600) }, async ({ nodes, time }) => {
      const [a, b] = nodes as [WholeNode, WholeNode];
      await time.advance(120_000);
      takeAll(b, 'key:acme', key.spent);
      await time.advance(300);
      expect(b.keys?.isPublished('key:acme')).toBe(key.kind === 'loud');
      await done(time, putKeys(a, ACME, PER_MINUTE(30), null, BY_TEST));
      await time.advance(300);
      const perMinute = () => b.keys?.known('key:acme')?.settings.quota.publish[0];
      expect(perMinute()).toBe(0.5);
      const atOnce = takeAll(b, 'key:acme', 700);
      expect(atOnce).toBeLessThanOrEqual(key.left);
      await time.advance(30_000);
      const later = takeAll(b, 'key:acme', 700);
      expect(later).toBeGreaterThanOrEqual(13);
      // What is not taken at once stays in the bucket.
      expect(atOnce + later).toBeLessThanOrEqual(key.left + 16);
      await done(time, deleteKeys(a, ACME, null, BY_TEST));
      await time.advance(300);
      expect(perMinute()).toBe(10);
      // What was deleted can be made again by a patch.
      await done(time, patchKeys(a, ACME, PER_MINUTE(60), null, BY_TEST));
      await time.advance(300);
      expect(perMinute()).toBe(1);
    });
  });

  test('a key whose name was that of a group for a while is decided at every instant', async () => {
    const keys = { 'key:{id}': { quota: { publish: { messagesPerSecond: 10 } }, burst: 20 } };
    await withKeys(2, keys, async ({ nodes, time }) => {
      const [a] = nodes as [WholeNode];
      await time.advance(63_000);
      const reasons = new Map<string, number>();
      const workFor = async (ms: number) => {
        for (let passedMs = 0; passedMs < ms; passedMs += 5) {
          for (const node of nodes) {
            const decision = node.tryAcquire('key:acme', ONE);
            const reason = decision.granted ? 'granted' : decision.reason;
            reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
          }
          await time.advance(5);
        }
      };
      await workFor(3000);
      const made = putGroup(a, 'key:acme', { quota: { publish: { messagesPerSecond: 5 } }, burst: 20 }, null, BY_TEST);
      await workFor(3000);
      await made;
      const deleted = deleteGroup(a, 'key:acme', null, BY_TEST);
      await workFor(3000);
      await deleted;
      expect([...reasons.keys()].sort()).toEqual(['granted', 'quota']);
    });
  });

  test('a template with mistakes, and an equally specific one, are refused', async () => {
    await withKeys(1, { 'key:{id}': PER_MINUTE(5) }, async ({ nodes, time }) => {
      const [node] = nodes as [WholeNode];
      const put = (name: string, definition: object) =>
        done(time, putKeys(node, { kind: 'template', name }, definition as never, null, BY_TEST));
      await expect(put('key:{x}', PER_MINUTE(1))).rejects.toThrow(/matches names that "key:\{id\}" matches/);
      await expect(put('maxLive', {})).rejects.toThrow(/no field/);
      await expect(put('__proto__', {})).rejects.toThrow(/no field/);
      await expect(put('k{id}', { qouta: {} })).rejects.toThrow(/qouta/);
      await expect(put(`${'x'.repeat(1e6)}{id}`, {})).rejects.toThrow(/longer than/);
      await put('key:a{id}', PER_MINUTE(9));
      await time.advance(120_000);
      expect([takeAll(node, 'key:alice'), takeAll(node, 'key:bob')]).toEqual([9, 5]);
    });
  });

  test('nodes whose YAML has other templates say so once, in status and metrics', async () => {
    const lines: string[] = [];
    const telemetry = { log: (_: string, text: string) => void lines.push(text) };
    const keys = [{ 'key:{id}': PER_MINUTE(5) }, { 'key:{id}': PER_MINUTE(6) }];
    const story = async ({ nodes, time }: KeysCluster) => {
      await time.advance(30_000);
      const differing = { differingGroups: 1, differs: [{ group: 'key:{id}' }] };
      expect(nodes.map((node) => node.status().configuration)).toMatchObject([differing, differing]);
      await done(time, putKeys(nodes[0], TEMPLATE, PER_MINUTE(7), null, BY_TEST));
      await time.advance(10_000);
      expect(nodes[1]?.status().configuration).toMatchObject({ differingGroups: 0 });
    };
    await withKeys(2, keys, story, telemetry);
    expect(lines.filter((line) => line === 'nodes have different YAML')).toHaveLength(2);
  });
});
