import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createNode, type QuotaNode, type RegistryChange } from '../../../src/index.js';

/** Two nodes of one cluster: what is changed at one, the other has, too. */
let a: QuotaNode;
let b: QuotaNode;
let clusters = 0;
beforeEach(async () => {
  const config = {
    cluster: `node-keys-${process.pid}-${clusters++}`,
    topic: 'memory',
    keys: { 'yaml:{id}': { quota: { publish: { messagesPerSecond: 7 } }, overrides: { acme: {} } } },
  };
  [a, b] = await Promise.all(
    ['a', 'b'].map((nodeId) => createNode({ config, nodeId, env: {} })) as [Promise<QuotaNode>, Promise<QuotaNode>],
  );
});
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
});
const perMinute = (amount: number) => ({ quota: { publish: { messagesPerSecond: `${amount}/min` } } });

describe('node.keys', () => {
  test('changes hold for a revision, and are told with who asked for them', async () => {
    const told: RegistryChange[] = [];
    b.groups.watch((change) => told.push(change));
    const { revision } = await a.keys.templates.set('key:{id}', perMinute(1), { ifRevision: 'none', by: 'billing' });
    for (const ifRevision of ['none', revision + 1] as const) {
      await expect(a.keys.templates.set('key:{id}', perMinute(2), { ifRevision })).rejects.toMatchObject({
        code: 'KEY_DEFINITION_CHANGED',
      });
    }
    await vi.waitFor(() => {
      expect(told).toEqual([{ kind: 'key-template', name: 'key:{id}', revision, definition: perMinute(1) }]);
    });
    await a.keys.set('key:acme', perMinute(5));
    await a.keys.delete('key:acme');
    expect(await a.keys.set('key:acme', perMinute(5), { ifRevision: 'none' })).toMatchObject({ key: 'key:acme' });
  });

  test.each([
    ['a pattern without fields', () => a.keys.templates.set('key', perMinute(1)), 'KEY_DEFINITION_INVALID'],
    ['a pattern that is no text', () => a.keys.templates.set(5 as never, perMinute(1)), 'FIELD_INVALID'],
    ['a definition that is none', () => a.keys.templates.set('key:{id}', 5 as never), 'FIELD_INVALID'],
    ['a setting that is none', () => a.keys.templates.set('key:{id}', { qouta: {} }), 'KEY_DEFINITION_INVALID'],
    ['a key without a template', () => a.keys.set('nobody', perMinute(1)), 'KEY_DEFINITION_INVALID'],
    ['a key that has nothing', () => a.keys.delete('yaml:bob'), 'KEY_DEFINITION_UNKNOWN'],
    ['options that are none', () => a.keys.set('yaml:bob', perMinute(1), 5 as never), 'FIELD_INVALID'],
    ['a name that is __proto__', () => a.keys.set('__proto__', perMinute(1)), 'KEY_DEFINITION_INVALID'],
  ] as const)('%s', async (_, change, code) => {
    await expect(change()).rejects.toMatchObject({ code });
    expect(a.keys.list()).toEqual([]);
  });
});
