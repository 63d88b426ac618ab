import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createNode, type QuotaNode, type RegistryChange } from '../../../src/index.js';

/** Two nodes of one cluster: what is changed at one, the other has, too. */
let a: QuotaNode;
let b: QuotaNode;
let clusters = 0;
beforeEach(async () => {
  const config = {
    cluster: `node-groups-${process.pid}-${clusters++}`,
    topic: 'memory',
    groups: { yaml: { quota: { publish: { messagesPerSecond: 7 } } } },
    keys: { 'yaml:{id}': { quota: { publish: { messagesPerSecond: 7 } }, overrides: { acme: {} } } },
  };
  [a, b] = await Promise.all(
    ['a', 'b'].map((nodeId) => createNode({ config, nodeId, env: {} })) as [Promise<QuotaNode>, Promise<QuotaNode>],
  );
});
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
});

const NOTHING = { quota: { publish: { messagesPerSecond: 0 } } };

describe('node.groups', () => {
  test('set, patch and delete are in force at every node, and are what HTTP would have told', async () => {
    const made = await a.groups.set('new', NOTHING);
    expect(made).toEqual({ group: 'new', origin: 'run-time', revision: expect.any(Number), definition: NOTHING });
    expect(a.tryAcquire('new', { messages: 1 })).toMatchObject({ granted: false, reason: 'quota' });
    await vi.waitFor(() => expect(b.groups.get('new')).toEqual(made));
    const patched = await b.groups.patch('new', { quota: { publish: { messagesPerSecond: 5 } } });
    expect(patched.revision).toBeGreaterThan(made.revision);
    await vi.waitFor(() => expect(a.groups.list().map(({ group }) => group)).toEqual(['new', 'yaml']));
    expect(a.groups.get('yaml')).toMatchObject({ origin: 'yaml', revision: 0 });
    await vi.waitFor(() => expect(a.groups.get('new')).toEqual(patched));
    await a.groups.delete('new');
    expect(() => a.groups.get('new')).toThrow(expect.objectContaining({ code: 'GROUP_UNKNOWN' }));
    await vi.waitFor(() => expect(b.groups.list()).toHaveLength(1));
  });

  test('attach and detach work with scopes; what limits work of the scope changes', async () => {
    const attached = await a.groups.attach('acme/orders', { group: 'yaml' });
    expect(attached).toMatchObject({ scope: 'acme/orders', origin: 'run-time', attachment: { group: 'yaml' } });
    expect(a.groups.attachments()).toEqual([attached]);
    expect(a.containsTokens({ tenant: 'acme', namespace: 'orders' }, { messages: 1 })).toEqual(expect.any(Boolean));
    await expect(a.groups.attach('acme/orders', { group: 'nobody' })).rejects.toMatchObject({
      code: 'ATTACHMENT_DANGLING',
    });
    await a.groups.detach('acme/orders', { ifRevision: attached.revision });
    expect(a.groups.attachments()).toEqual([]);
    expect(() => a.tryAcquire({ tenant: 'acme', namespace: 'orders' }, { messages: 1 })).toThrow();
    await expect(a.groups.detach('acme/orders')).rejects.toMatchObject({ code: 'ATTACHMENT_UNKNOWN' });
  });

  test('a group with attachments goes only by force', async () => {
    await a.groups.set('held', NOTHING);
    await a.groups.attach('acme', { group: 'held' });
    await expect(a.groups.delete('held')).rejects.toMatchObject({ code: 'GROUP_IN_USE' });
    await a.groups.delete('held', { force: true });
    expect(a.groups.attachments()).toEqual([]);
  });

  test('ifRevision refuses what somebody else has changed, or made', async () => {
    const { revision } = await a.groups.set('new', NOTHING, { ifRevision: 'none', by: 'deploy-17' });
    await a.groups.patch('new', { quota: { publish: { messagesPerSecond: 1 } } }, { ifRevision: revision });
    const late = { ifRevision: revision };
    const changed = expect.objectContaining({ code: 'GROUP_CHANGED' });
    await expect(a.groups.set('new', NOTHING, late)).rejects.toThrow(changed);
    await expect(a.groups.patch('new', NOTHING, late)).rejects.toThrow(changed);
    await expect(a.groups.delete('new', late)).rejects.toThrow(changed);
    await expect(a.groups.set('yaml', NOTHING, { ifRevision: 'none' })).rejects.toThrow(changed);
    await expect(a.groups.set('nobody', NOTHING, { ifRevision: 1 })).rejects.toThrow(changed);
    await a.groups.delete('new');
    expect(await a.groups.set('new', NOTHING, { ifRevision: 'none' })).toMatchObject({ group: 'new' });
    await a.groups.attach('acme', { group: 'new' });
    await a.groups.detach('acme');
    expect(await a.groups.attach('acme', { group: 'new' }, { ifRevision: 'none' })).toMatchObject({ scope: 'acme' });
  });

  test('setMany makes and replaces groups at one revision, all or none', async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`customer-${at}`, NOTHING]));
    const { revision, groups } = await a.groups.setMany({ ...many, yaml: NOTHING }, { by: 'deploy-17' });
    expect(groups).toHaveLength(21);
    expect(groups.filter(({ isNew }) => !isNew)).toEqual([{ group: 'yaml', isNew: false }]);
    await vi.waitFor(() => expect(b.groups.list()).toHaveLength(21));
    expect(b.groups.list().every((group) => group.revision === revision)).toBe(true);
    await a.groups.patch('customer-7', { quota: { publish: { messagesPerSecond: 1 } } });
    const late = { 'customer-7': NOTHING, 'customer-8': NOTHING, other: NOTHING };
    await expect(
      a.groups.setMany(late, { ifRevision: { 'customer-7': revision, other: 'none' } }),
    ).rejects.toMatchObject({
      code: 'GROUPS_CHANGED',
      errors: [{ group: 'customer-7', code: 'GROUP_CHANGED' }],
    });
    await expect(a.groups.setMany(late, { ifRevision: 'none' })).rejects.toMatchObject({ facts: { count: 2, of: 3 } });
    await expect(a.groups.setMany({ new: NOTHING, broken: { quta: 1 } })).rejects.toMatchObject({
      code: 'GROUPS_INVALID',
      errors: [{ group: 'broken', code: 'GROUP_KEY_UNKNOWN' }],
    });
    expect(a.groups.get('customer-8').revision).toBe(revision);
    for (const name of ['new', 'other']) expect(() => a.groups.get(name)).toThrow('is not configured');
  });

  test.each([
    ['definitions', [null]],
    ['definitions', [{ a: () => 1 }]],
    ['groups', [{}]],
    ['options', [{ a: NOTHING }, 5]],
    ['by', [{ a: NOTHING }, { by: '' }]],
    ['ifRevision', [{ a: NOTHING }, { ifRevision: { b: 1 } }]],
  ])('setMany with what cannot be: %s', async (field, given) => {
    const setMany = a.groups.setMany.bind(a.groups) as (...given: unknown[]) => Promise<unknown>;
    await expect(setMany(...given)).rejects.toMatchObject({ code: 'FIELD_INVALID', facts: { field } });
    expect(a.groups.list()).toHaveLength(1);
  });

  test('watch tells changes of all nodes until it is ended; a listener that throws harms nobody', async () => {
    const told: RegistryChange[] = [];
    const warned = vi.fn();
    process.on('warning', warned);
    const endBroken = b.groups.watch(() => {
      throw new Error('broken listener');
    });
    const end = b.groups.watch((change) => void told.push(change));
    const { revision } = await a.groups.set('new', NOTHING);
    await a.groups.attach('acme', { group: 'new' });
    await vi.waitFor(() => expect(told).toHaveLength(2));
    expect(told).toEqual([
      { kind: 'group', name: 'new', revision, definition: NOTHING },
      { kind: 'attachment', name: 'acme', revision: expect.any(Number), definition: { group: 'new' } },
    ]);
    end();
    endBroken();
    await a.groups.delete('new', { force: true });
    await vi.waitFor(() => expect(b.groups.list()).toHaveLength(1));
    expect(told).toHaveLength(2);
    await vi.waitFor(() => expect(warned).toHaveBeenCalled());
    process.off('warning', warned);
    expect(warned.mock.calls).toEqual([[expect.objectContaining({ code: 'CALLBACK_FAILED' })]]);
  });

  test.each<[string, (groups: QuotaNode['groups']) => unknown, string]>([
    ['a limit that is forgotten', (groups) => groups.set('yaml', {}), 'GROUP_INVALID'],
    ['a key that there is not', (groups) => groups.set('new', { qouta: 1 }), 'GROUP_KEY_UNKNOWN'],
    ['NaN', (groups) => groups.set('new', { quota: { publish: { messagesPerSecond: Number.NaN } } }), 'GROUP_INVALID'],
    ['a name that cannot be', (groups) => groups.set(' ', NOTHING), 'GROUP_INVALID'],
    ['a name that is none', (groups) => groups.set(7 as never, NOTHING), 'FIELD_INVALID'],
    ['no definition', (groups) => groups.set('new', undefined as never), 'FIELD_INVALID'],
    ['a function', (groups) => groups.set('new', { quota: () => 1 }), 'FIELD_INVALID'],
    ['a circle', (groups) => groups.set('new', circle()), 'FIELD_INVALID'],
    ['a revision that is none', (groups) => groups.delete('yaml', { ifRevision: '1' as never }), 'FIELD_INVALID'],
    ['options that are none', (groups) => groups.delete('yaml', 1 as never), 'FIELD_INVALID'],
    ['nobody', (groups) => groups.set('new', NOTHING, { by: '' }), 'FIELD_INVALID'],
    ['a group of the configuration', (groups) => groups.delete('yaml'), 'FROM_YAML'],
    ['a patch of nothing', (groups) => groups.patch('nobody', {}), 'GROUP_UNKNOWN'],
    ['a listener that is none', async (groups) => groups.watch(1 as never), 'FIELD_INVALID'],
  ])('%s is refused by name, and changes nothing', async (_, change, code) => {
    await expect(change(a.groups)).rejects.toMatchObject({ code });
    expect(a.groups.list()).toEqual([expect.objectContaining({ group: 'yaml', revision: 0 })]);
  });

  test('a definition may be changed by its program afterwards', async () => {
    const definition = { quota: { publish: { messagesPerSecond: 1 } } };
    const making = a.groups.set('new', definition);
    definition.quota.publish.messagesPerSecond = 1000;
    expect((await making).definition).toEqual({ quota: { publish: { messagesPerSecond: 1 } } });
  });
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

test('without a registry every change is REGISTRY_OFF', async () => {
  const config = { cluster: 'off', topic: { kind: 'none', nodeCount: 1 }, groups: { orders: {} } };
  const node = await createNode({ config, nodeId: 'a', env: {} });
  await expect(node.groups.set('new', NOTHING)).rejects.toMatchObject({ code: 'REGISTRY_OFF' });
  expect(() => node.groups.watch(() => undefined)).toThrow(expect.objectContaining({ code: 'REGISTRY_OFF' }));
  expect(node.groups.list()).toHaveLength(1);
  await node.close();
});

function circle(): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  made.quota = made;
  return made;
}
