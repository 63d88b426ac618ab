import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerOf, type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
const post = (url: string, payload: object) => answerOf(scene.app, { method: 'POST', url, payload });
beforeAll(async () => {
  scene = await readyScene();
});
afterAll(() => scene.close());

const request = { group: 'free', messages: 1 };

it.each([
  ['/v1/acquire/batch', { asks: [request] }, '/v1/acquire/bulk', { requests: [request] }],
  ['/v1/acquire/batch', { requests: [request] }, '/v1/acquire/bulk', { requests: [request] }],
  ['/v1/commit/batch', { commits: [{ id: 'x-1' }] }, '/v1/commit/bulk', { commits: [{ id: 'x-1' }] }],
  ['/v1/hand-back', { id: 'x-1' }, '/v1/refund', { id: 'x-1' }],
  ['/v1/hand-back/batch', { handBacks: [{ id: 'x-1' }] }, '/v1/refund/bulk', { refunds: [{ id: 'x-1' }] }],
])('%s %j answers as %s, and that it is deprecated', async (old, oldBody, now, body) => {
  const [former, present] = [await post(old, oldBody), await post(now, body)];
  expect([former.status, former.body]).toEqual([present.status, present.body]);
  expect(former.headers).toMatchObject({
    deprecation: '@1795392000',
    link: `<${now}>; rel="successor-version"`,
  });
  expect(present.headers.deprecation).toBeUndefined();
});

it('each old name is logged once', async () => {
  for (let time = 0; time < 2; time++) await post('/v1/acquire/batch', { asks: [request] });
  const told = scene.log.filter(({ message }) => message === 'an old name is used').map(({ facts }) => facts);
  expect(told.filter((facts) => facts?.old === '/v1/acquire/batch')).toEqual([
    { old: '/v1/acquire/batch', now: '/v1/acquire/bulk', where: 'path' },
  ]);
  expect(told.filter((facts) => facts?.old === 'asks')).toEqual([
    { old: 'asks', now: 'requests', where: 'body of /v1/acquire/batch' },
  ]);
});

it('a former parameter of a query works, and is logged once', async () => {
  for (let time = 0; time < 2; time++) {
    expect(await scene.get('/v1/audit?place=acme')).toMatchObject({ status: 200, body: { changes: [] } });
  }
  const told = scene.log.filter(({ facts }) => facts?.old === 'place');
  expect(told).toMatchObject([
    { level: 'warn', message: 'an old name is used', facts: { now: 'scope', where: 'query of /v1/audit' } },
  ]);
});

it('a mistake in a former parameter is told by the name that was sent, and the remedy has the present one', async () => {
  const { status, body } = await scene.get('/v1/audit?place=x&place=y');
  expect([status, body.detail]).toEqual([422, 'place must be given once, got an array of 2']);
  expect(body.remedy).toMatch(/\. The field place is called scope now\.$/);
  expect((await scene.get('/v1/audit?scope=x&scope=y')).body.remedy).not.toContain('place');
});

it('a mistake is told by the name that was sent, also within a list', async () => {
  expect((await post('/v1/hand-back/batch', { handBacks: [] })).body.detail).toMatch(/^handBacks must be an array/);
  const { body } = await post('/v1/hand-back/batch', { handBacks: [{ id: 7 }] });
  expect(JSON.stringify(body.answers)).toContain('handBacks[0].id must be the id');
  expect((await post('/v1/acquire/batch', { asks: [{ group: 7, messages: 1 }] })).body.detail).toMatch(
    /^asks\[0\]\.group must be a string/,
  );
});

it('whoever is told of a mistake by a former name learns the present one', async () => {
  const { body } = await post('/v1/acquire/batch', { asks: [{ group: 7, messages: 1 }] });
  expect(body.remedy).toMatch(/\. The field asks is called requests now\.$/);
  const present = await post('/v1/acquire/batch', { requests: [{ group: 7, messages: 1 }] });
  expect(present.body.detail).toMatch(/^requests\[0\]\.group/);
  expect(present.body.remedy).not.toContain('asks');
});

it.each([
  [{}, 'asks is missing: must be an array of 1 to 1000 requests'],
  [{ ask: [request] }, 'field ask is not known; did you mean asks?'],
  [{ asks: [request], x: 1 }, 'field x is not known; known are asks'],
])('under a former path, %j is told by the former name', async (payload, detail) => {
  expect((await post('/v1/acquire/batch', payload)).body.detail).toBe(detail);
});

it('an old field beside its new name, and an old field under the new path, are not known', async () => {
  const both = await post('/v1/acquire/batch', { asks: [request], requests: [request] });
  expect([both.status, both.body.detail]).toEqual([422, 'field asks is not known beside requests, its new name']);
  const late = await post('/v1/acquire/bulk', { asks: [request] });
  expect([late.status, late.body.detail]).toEqual([422, 'field asks is not known: it is called requests now']);
});

it('GET /openapi.json says what is deprecated', async () => {
  const { paths } = (await scene.get('/openapi.json')).body as unknown as {
    readonly paths: Readonly<Record<string, { readonly post: Operation; readonly get: Operation }>>;
  };
  const parameters = paths['/v1/audit']?.get.parameters.filter(({ schema }) => schema.deprecated === true);
  expect(parameters).toMatchObject([{ name: 'place', in: 'query', description: 'The former name of scope.' }]);
  expect(paths['/v1/acquire/bulk']?.post.deprecated).toBeUndefined();
  const { deprecated, requestBody } = (paths['/v1/acquire/batch'] as { readonly post: Operation }).post;
  expect(deprecated).toBe(true);
  const { schema } = requestBody.content['application/json'];
  expect(schema.properties.asks).toMatchObject({ deprecated: true, type: 'array' });
  expect(schema.anyOf).toEqual([{ required: ['requests'] }, { required: ['asks'] }]);
});

interface Operation {
  readonly deprecated?: boolean;
  readonly parameters: readonly { readonly name: string; readonly schema: { readonly deprecated?: boolean } }[];
  readonly requestBody: {
    readonly content: {
      readonly 'application/json': {
        readonly schema: { readonly properties: Readonly<Record<string, unknown>>; readonly anyOf?: unknown };
      };
    };
  };
}
