import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answerOf, type HttpScene, readyScene } from './http-scene.js';

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({ cluster: `bad-input-${process.pid}` });
  const put = (url: string, payload: object) => answerOf(scene.app, { method: 'PUT', url, payload });
  expect(await put('/v1/groups/used', {})).toMatchObject({ status: 201 });
  expect(await put('/v1/attachments/acme', { group: 'used' })).toMatchObject({ status: 200 });
  expect(await put('/v1/attachments/acme/same', { sameAs: 'acme' })).toMatchObject({ status: 200 });
});
afterAll(() => scene.close());

const rate = (messagesPerSecond: unknown) => ({ quota: { publish: { messagesPerSecond } } });
const reserved = { quota: { publish: { costPerSecond: 10, reservedCostPerSecond: 11 } } };

describe('bad input is refused with a code of docs/reference/errors.md, the place and a remedy', () => {
  it.each([
    ['a quota below 0', 'PUT', 'groups/x', rate(-1), 422, 'QUOTA_NEGATIVE', /messagesPerSecond must be .*, got -1/],
    ['a quota beyond 2^53', 'PUT', 'groups/x', rate(2 ** 53 + 2), 422, 'QUOTA_TOO_LARGE', /messagesPerSecond must be/],
    ['a quota of nearly nothing', 'PUT', 'groups/x', rate('1e-300/d'), 422, 'QUOTA_TOO_SMALL', /of at least 1e-9\/s/],
    ['an endless quota', 'PUT', 'groups/x', rate('1e999'), 422, 'QUOTA_TOO_LARGE', /messagesPerSecond must be/],
    [
      'reserved above the total',
      'PUT',
      'groups/x',
      reserved,
      422,
      'RESERVED_ABOVE_QUOTA',
      /reservedCostPerSecond must be at most/,
    ],
    [
      'an unknown strategy',
      'PUT',
      'groups/x',
      { strategy: 'fair' },
      422,
      'STRATEGY_UNKNOWN',
      /strategy must be one of/,
    ],
    ['an unknown key', 'PUT', 'groups/x', { quotas: {} }, 422, 'GROUP_KEY_UNKNOWN', /quotas is not a known key.*quota/],
    ['a circle', 'PUT', 'attachments/acme', { sameAs: 'acme/same' }, 422, 'ATTACHMENT_CYCLIC', /acme → acme\/same/],
    ['a missing group', 'PUT', 'attachments/other', { group: 'nope' }, 412, 'ATTACHMENT_DANGLING', /nope/],
    ['a missing scope', 'PUT', 'attachments/other', { sameAs: 'x' }, 412, 'ATTACHMENT_DANGLING', /attachment of x/],
    ['deletion of a group in use', 'DELETE', 'groups/used', undefined, 412, 'GROUP_IN_USE', /acme, acme\/same are/],
    ['detaching what others follow', 'DELETE', 'attachments/acme', undefined, 412, 'ATTACHMENT_IN_USE', /acme\/same/],
  ] as const)('%s', async (_, method, path, payload, status, code, detail) => {
    const before = (await scene.get('/v1/groups')).body;
    const body = payload === undefined ? {} : { payload };
    const answer = await answerOf(scene.app, { method, url: `/v1/${path}`, ...body });
    expect(answer).toMatchObject({ status, body: { code, detail: expect.stringMatching(detail) } });
    expect(String(answer.body.remedy).length).toBeGreaterThan(10);
    expect(CATALOGUE).toContain(`| \`${code}\` |`);
    expect((await scene.get('/v1/groups')).body).toEqual(before);
  });

  it('a quota of 0 is none: nothing passes', async () => {
    const made = await answerOf(scene.app, { method: 'PUT', url: '/v1/groups/nothing', payload: rate(0) });
    expect(made.status).toBe(201);
    expect(await scene.acquire({ group: 'nothing', messages: 1 })).toMatchObject({ status: 429 });
  });

  it('a group in use is deleted with force: its places are detached', async () => {
    const answer = await answerOf(scene.app, { method: 'DELETE', url: '/v1/groups/used?force=true' });
    expect(answer.status).toBe(204);
    expect((await scene.get('/v1/attachments/acme')).status).toBe(404);
  });
});

it.each(['keys', 'groups', 'key-templates'])(
  'a name of %s that is longer than a path may be is no defect',
  async (kind) => {
    const before = scene.log.length;
    const answer = await scene.get(`/v1/${kind}/${'x'.repeat(5001)}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'REQUEST_INVALID' } });
    expect(String(answer.body.detail).length).toBeLessThan(200);
    expect(scene.log.slice(before)).toEqual([]);
  },
);

const CATALOGUE = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');
