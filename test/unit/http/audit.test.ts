import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HttpScene, type LogLine, readyScene } from './http-scene.js';

/** Two nodes of one cluster: what one is asked, the other tells, too. */
let a: HttpScene;
let b: HttpScene;
let clusters = 0;
beforeEach(async () => {
  const cluster = `audit-${process.pid}-${clusters++}`;
  a = await readyScene({ cluster, node: 'a' });
  b = await readyScene({ cluster, node: 'b' });
});
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
});

const auditLines = ({ log }: HttpScene): readonly LogLine[] => log.filter(({ facts }) => facts?.audit === true);

const quota = (messagesPerSecond: number) => ({ quota: { publish: { messagesPerSecond } } });

describe('GET /v1/audit', () => {
  it('tells at every node who changed what, through which node, and what it was before', async () => {
    const id = { 'x-request-id': 'ticket-17' };
    const made = await a.ask('PUT', '/v1/groups/new', quota(5), { headers: id });
    await a.ask('PUT', '/v1/attachments/acme/orders', { group: 'new' });
    await b.ask('PATCH', '/v1/groups/new', quota(6));
    await a.ask('PUT', '/admin/v2/resourcegroups/new', { publishRateInMsgs: 7 });
    await b.ask('POST', '/admin/v2/tenants/acme/resourcegroup/new');
    await b.ask('DELETE', '/v1/groups/new?force=true');
    const expected = [
      { kind: 'group', name: 'new', what: 'made', node: 'a', before: null, after: quota(5) },
      { kind: 'attachment', name: 'acme/orders', what: 'made', node: 'a', before: null, after: { group: 'new' } },
      { kind: 'group', name: 'new', what: 'changed', node: 'b', before: quota(5), after: quota(6) },
      { kind: 'group', name: 'new', what: 'changed', node: 'a', before: quota(6), after: quota(7) },
      { kind: 'attachment', name: 'acme', what: 'made', node: 'b', before: null, after: { group: 'new' } },
      { kind: 'attachment', name: 'acme/orders', what: 'deleted', node: 'b', before: { group: 'new' }, after: null },
      { kind: 'attachment', name: 'acme', what: 'deleted', node: 'b', before: { group: 'new' }, after: null },
      { kind: 'group', name: 'new', what: 'deleted', node: 'b', before: quota(7), after: null },
    ];
    for (const scene of [a, b]) {
      await expect.poll(async () => (await changesOf(scene)).length).toBe(expected.length);
      const changes = await changesOf(scene);
      expect(changes).toMatchObject(expected);
      expect(changes[0]).toMatchObject({
        revision: made.body.revision,
        who: { name: 'loopback', how: 'open', requestId: 'ticket-17' },
        time: expect.stringMatching(/^\d{4}-.*Z$/),
      });
      expect(await changesOf(scene, '?scope=acme/orders')).toHaveLength(2);
      expect(await changesOf(scene, '?group=new')).toHaveLength(4);
      expect(await changesOf(scene, `?group=new&after=${made.body.revision}`)).toHaveLength(3);
      expect(await changesOf(scene, '?group=acme')).toEqual([]);
    }
  });

  it('comes in pages, in the order of the log', async () => {
    for (let at = 0; at < 201; at++) await a.ask('PUT', `/v1/groups/g-${at % 50}`, quota(at));
    await expect.poll(async () => b.node.registry?.audited).toBe(201);
    const found: unknown[] = [];
    const sizes: number[] = [];
    for (let after: unknown = 0; after !== null; ) {
      const { body } = await b.get(`/v1/audit?after=${after}`);
      const changes = body.changes as { after: unknown }[];
      sizes.push(changes.length);
      found.push(...changes.map((change) => change.after));
      after = body.next;
    }
    expect(sizes).toEqual([100, 100, 1]);
    expect(found).toEqual(Array.from({ length: 201 }, (_, at) => quota(at)));
  });

  it('shows the newest, of all or of a group', async () => {
    for (let at = 1; at <= 102; at++) await a.ask('PUT', `/v1/groups/g-${at % 2}`, quota(at));
    const newest = async (query: string) => {
      const { body } = await a.get(`/v1/audit?${query}`);
      return [(body.changes as { after: unknown }[]).map(({ after }) => after), body.next];
    };
    expect(await newest('last=2')).toEqual([[quota(101), quota(102)], null]);
    expect(await newest('last=2&group=g-1')).toEqual([[quota(99), quota(101)], null]);
    expect((await newest('last=100&group=g-1'))[0]).toHaveLength(51);
    expect(await a.get('/v1/audit?last=101')).toMatchObject({ status: 422, body: { code: 'FIELD_INVALID' } });
  });

  it('a group and a scope are not asked for at once', async () => {
    const asked = await a.get('/v1/audit?group=x&scope=y');
    expect(asked).toMatchObject({ status: 422, body: { code: 'FIELD_INVALID' } });
  });

  it('the newest auditedChanges are kept, by all nodes and by one that starts later', async () => {
    const cluster = `kept-${process.pid}`;
    const constants = { registry: { auditedChanges: 3 } };
    const [one, other] = [
      await readyScene({ cluster, node: 'a', constants }),
      await readyScene({ cluster, node: 'b', constants }),
    ];
    for (let at = 0; at < 10; at++) await one.ask('PUT', '/v1/groups/new', quota(at));
    const later = await readyScene({ cluster, node: 'c', constants });
    for (const scene of [one, other, later]) {
      await expect.poll(async () => (await changesOf(scene)).map(({ after }) => after)).toEqual([7, 8, 9].map(quota));
    }
    expect(await one.metrics.text()).toContain('quotamesh_registry_audited_changes 3');
    await Promise.all([one.close(), other.close(), later.close()]);
  });
});

describe('the log of the node that was asked', () => {
  it('has one line for a change that was accepted, and one for each that was refused', async () => {
    await a.ask('PUT', '/v1/groups/new', quota(5));
    await a.ask('PUT', '/v1/groups/new', { strategy: 'fair' });
    await a.ask('PUT', '/v1/groups/new', quota(6), { headers: { 'if-match': '"1"' } });
    await a.ask('DELETE', '/v1/groups/orders');
    await a.ask('PUT', '/v1/groups/new?dryRun=true', { strategy: 'fair' });
    for (const body of ['{', `"${'x'.repeat(5_000_000)}"`]) {
      await a.ask('PUT', '/v1/groups/new', body, { headers: { 'content-type': 'application/json' } });
    }
    await a.ask('PUT', '/v1/groups/new', quota(9), { remoteAddress: '10.0.0.7' });
    await a.ask('PUT', '/admin/v2/resourcegroups/new', { publishRateInMsgs: 0.5 });
    const lines = auditLines(a).map(({ facts }) => [facts?.outcome, facts?.code ?? facts?.what]);
    expect(lines).toEqual([
      ['accepted', 'made'],
      ['refused', 'STRATEGY_UNKNOWN'],
      ['refused', 'GROUP_CHANGED'],
      ['refused', 'FROM_YAML'],
      ['refused', 'BODY_INVALID'],
      ['refused', 'BODY_TOO_LARGE'],
      ['refused', 'CHANGE_NOT_LOCAL'],
      ['refused', 'FIELD_INVALID'],
    ]);
    expect(auditLines(a)[6]?.facts).toMatchObject({
      who: { name: '10.0.0.7' },
      address: '10.0.0.7',
      what: 'PUT /v1/groups/new',
    });
    expect(auditLines(b)).toEqual([]);
  });

  it('what is refused may not fill a disk: lines are left out, and how many is said', async () => {
    for (let at = 0; at < 400; at++) await a.ask('DELETE', '/v1/groups/orders');
    expect(auditLines(a).length).toBeLessThan(300);
    expect(auditLines(a).length).toBeGreaterThanOrEqual(200);
  });
});

interface Change {
  readonly revision: number;
  readonly after: unknown;
}

async function changesOf(scene: HttpScene, query = ''): Promise<readonly Change[]> {
  return (await scene.get(`/v1/audit${query}`)).body.changes as readonly Change[];
}
