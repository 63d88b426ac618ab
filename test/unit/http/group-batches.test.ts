import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '../../property/seed.js';
import { type HttpScene, readyScene, settled } from './http-scene.js';

/** Two nodes of one cluster. */
let a: HttpScene;
let b: HttpScene;
let clusters = 0;
beforeEach(async () => {
  const cluster = `batches-${process.pid}-${clusters++}`;
  [a, b] = await Promise.all([readyScene({ cluster, node: 'a' }), readyScene({ cluster, node: 'b' })]);
});
afterEach(async () => {
  await Promise.all([a.close(), b.close()]);
});

type Groups = Readonly<Record<string, unknown>>;

function put(groups: unknown, more: object = {}, headers: Record<string, string> = {}, query = '') {
  return a.ask('PUT', `/v1/groups${query}`, { groups, ...more }, { headers });
}

async function definitions(scene: HttpScene, ...names: string[]) {
  return await Promise.all(
    names.map(async (name) => (await scene.get(`/v1/groups/${name}/definition`)).body.definition),
  );
}

const rate = (messagesPerSecond: number) => ({ quota: { publish: { messagesPerSecond } } });

describe('PUT /v1/groups', () => {
  it('makes and replaces groups with one revision, at both nodes, each with its record in the trail', async () => {
    const first = await put({ gold: rate(5), silver: rate(2) });
    expect(first).toMatchObject({ status: 200, headers: { etag: `"${first.body.revision}"` } });
    expect(first.body.groups).toEqual([
      { group: 'gold', isNew: true },
      { group: 'silver', isNew: true },
    ]);
    const second = await put({ silver: rate(3), bare: {} });
    expect(second.body.groups).toEqual([
      { group: 'silver', isNew: false },
      { group: 'bare', isNew: true },
    ]);
    await settled(a, b);
    for (const scene of [a, b]) {
      expect(await definitions(scene, 'gold', 'silver', 'bare')).toEqual([rate(5), rate(3), {}]);
      const { changes } = (await scene.get('/v1/audit')).body as { changes: readonly Groups[] };
      expect(changes.map(({ name, what, revision, before, after }) => [name, what, revision, before, after])).toEqual([
        ['gold', 'made', first.body.revision, null, rate(5)],
        ['silver', 'made', first.body.revision, null, rate(2)],
        ['bare', 'made', second.body.revision, null, {}],
        ['silver', 'changed', second.body.revision, rate(2), rate(3)],
      ]);
    }
  });

  it('is changed as a whole or not at all, and names every group that is refused', async () => {
    await put({ gold: rate(5) });
    const wrong = await put({
      silver: rate(2),
      gold: {},
      odd: { quota: { publish: { messagesPerSecond: -1 } } },
      typo: { qota: {} },
    });
    expect(wrong).toMatchObject({ status: 422, body: { code: 'GROUPS_INVALID' } });
    expect(wrong.body.detail).toContain('3 of 4 groups are refused, and none is changed; the first: group gold');
    expect((wrong.body.errors as readonly Groups[]).map(({ group, code }) => [group, code])).toEqual([
      ['gold', 'GROUP_INVALID'],
      ['odd', 'QUOTA_NEGATIVE'],
      ['typo', 'GROUP_KEY_UNKNOWN'],
    ]);
    await settled(a, b);
    for (const scene of [a, b]) {
      expect((await scene.get('/v1/groups/silver')).status).toBe(404);
      expect(await definitions(scene, 'gold')).toEqual([rate(5)]);
    }
  });

  it.each(['', '?dryRun=true'])('null is no group without limits, and refused by its name%s', async (query) => {
    const refused = await put({ gold: rate(5), silver: null }, {}, {}, query);
    expect(refused).toMatchObject({ status: 422, body: { code: 'GROUPS_INVALID' } });
    expect(refused.body.errors).toMatchObject([{ group: 'silver', code: 'GROUP_INVALID' }]);
    expect(refused.body.detail).toContain('got null');
    expect((await a.get('/v1/groups/silver')).status).toBe(404);
  });

  it('takes conditions for all groups, and for single ones', async () => {
    const { revision } = (await put({ gold: rate(5), silver: rate(2) })).body as { revision: number };
    const late = await put(
      { gold: rate(6), silver: rate(7), new: {} },
      { ifRevision: { gold: revision, silver: revision + 9, new: 'none' } },
    );
    expect(late).toMatchObject({ status: 412, body: { code: 'GROUPS_CHANGED' } });
    expect(late.body.errors).toMatchObject([{ group: 'silver', status: 412, code: 'GROUP_CHANGED' }]);
    const all = { 'if-none-match': '*' };
    expect(await put({ gold: rate(6), new: {} }, {}, all)).toMatchObject({ status: 412 });
    expect(await put({ new: {} }, { ifRevision: { new: 3 } })).toMatchObject({ status: 412 });
    expect(await put({ once: {} })).toMatchObject({ status: 200 });
    await a.ask('DELETE', '/v1/groups/once');
    expect(await put({ once: {} }, { ifRevision: { once: 'none' } })).toMatchObject({ status: 200 });
    expect(await put({ gold: rate(6), silver: rate(7) }, {}, { 'if-match': `"${revision}"` })).toMatchObject({
      status: 200,
    });
    expect(await put({ gold: rate(8), new: {} }, { ifRevision: { gold: revision } }, all)).toMatchObject({
      status: 412,
    });
    expect(await definitions(a, 'gold', 'silver')).toEqual([rate(6), rate(7)]);
    expect((await a.get('/v1/groups/new')).status).toBe(404);
  });

  it('nobody at any node sees one group of a batch changed and another one not', async () => {
    const names = Array.from({ length: 200 }, (_, at) => `group-${at}`);
    const groupsAt = (n: number) => Object.fromEntries(names.map((name) => [name, rate(n)]));
    await put(groupsAt(1));
    await settled(a, b);
    const seen = new Set<string>();
    const look = () => {
      for (const { node } of [a, b]) {
        const rates = new Set(
          names.map((name) => node.groups.at(node.groups.numbers.get(name) ?? -1).quota.publish[0]),
        );
        seen.add([...rates].join(' and '));
      }
    };
    let looking = true;
    const looks = (async () => {
      for (; looking; await new Promise(setImmediate)) look();
    })();
    await put(groupsAt(2));
    await settled(a, b);
    looking = false;
    await looks;
    look();
    expect([...seen]).toEqual(['1', '2']);
  });

  it('?dryRun=true shows each group before and after, and changes nothing', async () => {
    const { revision } = (await put({ gold: rate(5) })).body as { revision: number };
    const preview = await put({ gold: rate(6), new: {} }, {}, {}, '?dryRun=true');
    expect(preview.body).toEqual({
      dryRun: true,
      groups: [
        { group: 'gold', isNew: false, origin: 'run-time', revision, before: rate(5), after: rate(6) },
        { group: 'new', isNew: true, origin: null, revision: 0, before: null, after: {} },
      ],
    });
    expect(await definitions(a, 'gold')).toEqual([rate(5)]);
    expect(await put({ gold: {} }, {}, {}, '?dryRun=true')).toMatchObject({ status: 422 });
  });

  it.each([
    ['no groups', {}, {}, 422],
    ['a list', [], {}, 422],
    ['nothing', undefined, {}, 422],
    ['an unknown field', { gold: {} }, { dryRun: true }, 422],
    ['a condition for another group', { gold: {} }, { ifRevision: { silver: 1 } }, 422],
    ['a condition that is none', { gold: {} }, { ifRevision: { gold: '1' } }, 422],
    ['10,001 groups', Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`g${at}`, {}])), {}, 422],
    ['a name that no group may have', { 'a\u0000b': {} }, {}, 422],
    ['a definition that is none', { gold: 7 }, {}, 422],
  ])('%s: nothing is changed', async (_, groups, more, status) => {
    const before = (await a.get('/v1/groups')).body;
    expect(await put(groups, more)).toMatchObject({ status });
    expect((await a.get('/v1/groups')).body).toEqual(before);
  });

  it('a body of more than 4 MiB is refused', async () => {
    expect(await put({ gold: {} }, { note: 'x'.repeat(4 * 1024 * 1024) })).toMatchObject({ status: 413 });
  });

  it('whatever is sent: a known answer, and never a part', async () => {
    const name = fc.constantFrom('orders', 'gold', 'silver', '', 'toString', '/attachment/tenant/x', 'ü'.repeat(300));
    const definition = fc.oneof(fc.constant(rate(1)), fc.constant({}), fc.constant({ quota: null }), fc.jsonValue());
    const condition = fc.oneof(fc.integer({ min: -1, max: 20 }), fc.constantFrom('none', null, '"1"'));
    const batch = fc.record({ groups: fc.dictionary(name, definition), ifRevision: fc.dictionary(name, condition) });
    await fc.assert(
      fc.asyncProperty(batch, async (payload) => {
        const before = (await a.get('/v1/groups')).body;
        const answer = await a.ask('PUT', '/v1/groups', payload);
        expect([200, 400, 412, 422]).toContain(answer.status);
        if (answer.status === 200) expect(answer.body.groups).toHaveLength(Object.keys(payload.groups).length);
        else expect((await a.get('/v1/groups')).body).toEqual(before);
      }),
      runs(60),
    );
  });
});
