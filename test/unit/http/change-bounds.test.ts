import { afterEach, describe, expect, it } from 'vitest';
import { type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
afterEach(() => scene?.close());

const put = (url: string, payload: object, remoteAddress = '127.0.0.1') =>
  scene.ask('PUT', url, payload, { remoteAddress });

describe('bounds of changes', () => {
  it('their rate: 429 with Retry-After, counted; what is read, and who may not change anything, is not bounded', async () => {
    scene = await readyScene({ constants: { registry: { changesPerSecond: 1 } } });
    for (let at = 0; at < 50; at++) expect((await put('/v1/groups/new', {}, '10.0.0.7')).status).toBe(403);
    const answers = [];
    for (let at = 0; at < 15; at++) answers.push(await put(PATHS[at % PATHS.length], { group: 'orders' }));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(4);
    expect(refused[0]).toMatchObject({ headers: { 'retry-after': '1' }, body: { code: 'CHANGES_TOO_FAST' } });
    expect((await scene.get('/v1/groups/orders/definition')).status).toBe(200);
    const pattern = `quotamesh_registry_changes_total{outcome="too-fast"} ${refused.length}\n`;
    expect(await scene.metrics.text()).toContain(pattern);
    const told = scene.log.filter(({ facts }) => facts?.code === 'CHANGES_TOO_FAST');
    expect(told.length).toBeGreaterThan(0);
  });

  it('the number of attachments: one more is refused by name; those that are there can be changed and detached', async () => {
    scene = await readyScene({ constants: { registry: { maxAttachments: 2 } } });
    for (const scope of ['a', 'b']) {
      expect((await put(`/v1/attachments/${scope}`, { group: 'orders' })).status).toBe(200);
    }
    const full = await put('/v1/attachments/c', { group: 'orders' });
    expect(full).toMatchObject({
      status: 503,
      body: { code: 'ATTACHMENTS_FULL', detail: expect.stringContaining('c') },
    });
    expect((await put('/v1/attachments/a', { group: 'free' })).status).toBe(200);
    expect((await scene.ask('DELETE', '/v1/attachments/b')).status).toBe(204);
    expect((await put('/v1/attachments/c', { group: 'orders' })).status).toBe(200);
    expect(await scene.metrics.text()).toContain('quotamesh_registry_attachments 2\n');
  });

  it('the number of groups: one more is refused by name; those that are there can be changed and deleted', async () => {
    scene = await readyScene({ registry: { maxGroups: 2 } });
    for (const group of ['x', 'y']) expect((await put(`/v1/groups/${group}`, {})).status).toBe(201);
    expect(await put('/v1/groups/z', {})).toMatchObject({
      status: 503,
      body: { code: 'GROUPS_FULL', detail: expect.stringContaining('z') },
    });
    expect((await put('/v1/groups/x', { debtMs: '1s', quota: null })).status).toBe(200);
    expect((await scene.ask('DELETE', '/v1/groups/y')).status).toBe(204);
  });

  it('and of a node whose setting is lower than that of the others: what it cannot use is in its status', async () => {
    const cluster = `attached-${process.pid}`;
    scene = await readyScene({ cluster, node: 'a' });
    const lower = await readyScene({ cluster, node: 'b', constants: { registry: { maxAttachments: 1 } } });
    for (const scope of ['a', 'b']) await put(`/v1/attachments/${scope}`, { group: 'orders' });
    await expect.poll(() => lower.node.status().degraded.join()).toContain('registry.maxAttachments = 1');
    await lower.close();
  });
});

const PATHS = ['/v1/groups/orders?dryRun=true', '/v1/attachments/acme', '/admin/v2/tenants/acme/resourcegroup/orders'];

describe('odd names', () => {
  it('through every path that changes something: an answer of the catalogue, and nothing is changed', async () => {
    scene = await readyScene();
    const before = await stateOf();
    for (const name of ODD_NAMES) {
      for (const { method, path, payload } of CHANGES) {
        const url = path.replace('NAME', () => encodeURIComponent(name));
        const { status, body } = await scene.ask(method, url, payload);
        expect([400, 404, 405, 412, 422], JSON.stringify({ method, url, status, body })).toContain(status);
        expect(body.code ?? body.reason).toEqual(expect.any(String));
      }
    }
    expect(await stateOf()).toEqual(before);
    expect(scene.node.registry?.audited).toBe(0);
    expect(scene.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  async function stateOf() {
    const [groups, attachments] = [await scene.get('/v1/groups'), await scene.get('/v1/attachments')];
    return [(groups.body.groups as { group: string }[]).map(({ group }) => group), attachments.body];
  }
});

const ODD_NAMES = [
  '',
  ' ',
  'a b',
  ' orders',
  'orders ',
  '.',
  '..',
  '../orders',
  './orders',
  '..%2Forders',
  '//',
  '/',
  '\\',
  '*',
  '\u0000',
  'a\u0000b',
  '\n',
  'a\r\nx: y',
  '\u001b[31m',
  '\u202e',
  '\ufeff',
  '☃',
  'é',
  '\ud83d\ude00',
  'ﬀ',
  '__proto__',
  '$where',
  '$\u007bx}',
  '{{x}}',
  "'; --",
  '<b>',
  '%',
  '%00',
  '%2e%2e',
  'x'.repeat(201),
  'é'.repeat(300),
];

const CHANGES: readonly { method: 'PUT' | 'PATCH' | 'POST' | 'DELETE'; path: string; payload?: object }[] = [
  { method: 'PUT', path: '/v1/groups/NAME', payload: { quota: { publish: { messagesPerSecond: 1 } } } },
  { method: 'PATCH', path: '/v1/groups/NAME', payload: {} },
  { method: 'DELETE', path: '/v1/groups/NAME' },
  { method: 'DELETE', path: '/v1/groups/NAME?force=true' },
  // An odd tenant; and a place attached to an odd group.
  { method: 'PUT', path: '/v1/attachments/NAME', payload: { group: 'nope' } },
  { method: 'PUT', path: '/v1/attachments/acme/NAME', payload: { sameAs: 'nope' } },
  { method: 'DELETE', path: '/v1/attachments/NAME' },
  { method: 'PUT', path: '/admin/v2/resourcegroup/NAME', payload: { PublishRatelimitinmsgs: 1 } },
  { method: 'PUT', path: '/admin/v2/resourcegroups/NAME', payload: { publishRateInMsgs: 1 } },
  { method: 'DELETE', path: '/admin/v2/resourcegroups/NAME' },
  { method: 'POST', path: '/admin/v2/namespaces/acme/orders/resourcegroup/NAME' },
  { method: 'POST', path: '/admin/v2/namespaces/NAME/orders/resourcegroup/nope' },
  { method: 'POST', path: '/admin/v2/namespaces/acme/NAME/resourcegroup/nope' },
  { method: 'POST', path: '/admin/v2/tenants/NAME/resourcegroup/nope' },
  { method: 'DELETE', path: '/admin/v2/tenants/NAME/resourcegroup' },
];
