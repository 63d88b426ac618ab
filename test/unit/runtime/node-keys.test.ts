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

const ONE = { messages: 1 };
const perMinute = (amount: number) => ({ quota: { publish: { messagesPerSecond: `${amount}/min` } } });

describe('node.keys', () => {
  test('templates are made, changed and deleted for every node', async () => {
    const made = await a.keys.templates.set('key:{id}', perMinute(600));
    expect(made).toEqual({
      pattern: 'key:{id}',
      origin: 'run-time',
      revision: expect.any(Number),
      definition: perMinute(600),
    });
    await vi.waitFor(() => expect(b.keys.templates.get('key:{id}')).toEqual(made));
    expect(b.keys.templates.list().map(({ pattern }) => pattern)).toEqual(['key:{id}', 'yaml:{id}']);
    expect(b.tryAcquire('key:alice', ONE)).toMatchObject({ granted: expect.any(Boolean) });
    expect(b.keys.show('key:alice')).toMatchObject({ template: 'key:{id}', quota: perMinute(600).quota });
    const patched = await b.keys.templates.patch('key:{id}', {
      debtMs: 5,
      quota: { publish: { messagesPerSecond: 5 } },
    });
    expect(patched.definition).toEqual({ debtMs: 5, quota: { publish: { messagesPerSecond: 5 } } });
    expect(patched.revision).toBeGreaterThan(made.revision);
    const plain = await b.keys.templates.patch('key:{id}', { debtMs: null });
    expect(plain.definition).toEqual({ quota: { publish: { messagesPerSecond: 5 } } });
    await b.keys.templates.delete('key:{id}', { ifRevision: plain.revision });
    expect(() => b.tryAcquire('key:alice', ONE)).toThrow(expect.objectContaining({ code: 'GROUP_UNKNOWN' }));
    expect(() => b.keys.show('key:alice')).toThrow(expect.objectContaining({ code: 'KEY_UNKNOWN' }));
  });

  test('a single key has settings of its own', async () => {
    const made = await a.keys.set('yaml:bob', perMinute(60));
    expect(made).toMatchObject({ key: 'yaml:bob', origin: 'run-time', definition: perMinute(60) });
    await vi.waitFor(() => expect(b.keys.list()).toEqual([made]));
    expect(b.keys.get('yaml:bob')).toEqual(made);
    expect(b.keys.get('yaml:acme')).toMatchObject({ origin: 'yaml', revision: 0 });
    b.tryAcquire('yaml:bob', ONE);
    expect(b.keys.show('yaml:bob').quota).toMatchObject(perMinute(60).quota);
    expect((await a.keys.patch('yaml:bob', { debtMs: 7 })).definition).toEqual({ ...perMinute(60), debtMs: 7 });
    await a.keys.delete('yaml:bob');
    expect(a.keys.list()).toEqual([]);
    await expect(a.keys.delete('yaml:acme')).rejects.toMatchObject({ code: 'KEY_DEFINITION_FROM_YAML' });
  });

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
