import { Agent, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { AUTH, bearer, TOKENS } from '../access/access-scene.js';
import { type HttpScene, readyScene } from './http-scene.js';

const GROUPS = {
  orders: { quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: '1MiB' } } },
  blocked: { quota: { publish: { messagesPerSecond: 0 } } },
  slow: { quota: { publish: { messagesPerSecond: 0.05 } }, burst: { start: 'empty' }, maxRequest: { messages: 100 } },
  free: {},
  watched: { mode: 'shadow', quota: { publish: { messagesPerSecond: 0 } } },
  tighter: { shadow: { quota: { publish: { messagesPerSecond: 0 } } } },
  looser: { quota: { publish: { messagesPerSecond: 0 } }, shadow: { quota: { publish: { messagesPerSecond: 1000 } } } },
};
const ATTACHMENTS = { scopes: { lab: { exempt: true } } };
/** A key of it is full again before it is asked for anew. */
const KEYS = { 'key:{id}': { quota: { publish: { messagesPerSecond: 1_000_000 } } } };
/** In which a node that has begun fills the buckets of silent keys, and as long again. */
const FILL_MS = 200;

/** Means the same as what plain requests send, and is left to fastify. */
const LONG = 'application/json;charset=utf-8';
const SHORT = 'application/json';

describe('acquires that fastify does not see are answered as if it had', () => {
  let scene: HttpScene;
  let port: number;
  beforeAll(async () => {
    scene = await startedScene({});
    await sleep(FILL_MS);
    ({ port } = scene.app.server.address() as AddressInfo);
    return () => scene.close();
  });

  test.each([
    ['a grant', { group: 'orders', messages: 1, bytes: 10 }],
    ['a grant without quota', { group: 'free', messages: 1 }],
    ['a grant of the other direction', { group: 'orders', messages: 1, direction: 'dispatch' }],
    ['a grant of a part that is left out', { group: 'orders', bytes: 10 }],
    ['a grant of a silent key', { group: 'key:alice', messages: 1 }],
    ['exempt work of a tenant', { tenant: 'lab', messages: 1 }],
    ['a refusal', { group: 'blocked', messages: 1 }],
    ['a grant that a shadow refuses', { group: 'watched', messages: 1 }],
    ['a grant that a planned quota refuses', { group: 'tighter', messages: 1 }],
    ['a refusal that a planned quota grants', { group: 'looser', messages: 1 }],
    ['a second try', { group: 'blocked', messages: 1, retry: true }],
  ])('%s', async (_, body) => {
    const short = await asked(port, SHORT, JSON.stringify(body));
    const long = await asked(port, LONG, JSON.stringify(body));
    expect(short.answer).toEqual(long.answer);
    expect([short.seen, long.seen]).toEqual([0, 1]);
  });

  test.each([
    ['watched', 200, { granted: true, shadow: 'refused' }],
    ['tighter', 200, { granted: true, shadow: 'refused' }],
    ['looser', 429, { shadow: 'granted' }],
  ])('what the shadow of %s says is told', async (group, status, body) => {
    const { answer, seen } = await asked(port, SHORT, JSON.stringify({ group, messages: 1 }));
    expect([answer.status, seen]).toEqual([status, 0]);
    expect(answer.body).toMatchObject(body);
  });

  test.each([
    ['a group that is unknown', '{"group":"nobody","messages":1}'],
    ['more than maxRequest', '{"group":"slow","messages":101}'],
    ['a tenant that is attached to nothing', '{"tenant":"nobody","messages":1}'],
    ['two names', '{"group":"orders","tenant":"a","messages":1}'],
    ['no amount above 0', '{"group":"orders","messages":0}'],
    ['a prototype', '{"group":"orders","messages":1,"__proto__":{"a":1}}'],
    ['a constructor', '{"group":"orders","messages":1,"constructor":{"prototype":{}}}'],
    ['no JSON', '{"group":'],
    ['no object', '7'],
    ['nothing', ''],
    ['a character of two bytes', '{"tenant":"ö","messages":-1}'],
    ['a mark of byte order', '\uFEFF{"group":"nobody","messages":1}'],
    ['an unknown field', '{"group":"orders","message":1}'],
    ['too many bytes', `{"group":"orders","messages":1${' '.repeat(20_000)}}`],
  ])('%s is told by fastify, and counted once', async (_, body) => {
    const counted = async (type: string) => {
      const before = await rejections(scene);
      const { answer, seen } = await asked(port, type, body);
      return { answer, seen, rejected: (await rejections(scene)) - before };
    };
    const [short, long] = [await counted(SHORT), await counted(LONG)];
    expect(short).toEqual(long);
    expect(long.answer.status).toBeGreaterThanOrEqual(400);
  });

  const ONE = { group: 'orders', messages: 1 };
  test.each([
    [
      'of grants',
      0,
      [ONE, { group: 'orders', bytes: 10 }, { tenant: 'lab', messages: 1 }, { group: 'key:bob', messages: 1 }],
    ],
    [
      'of refusals',
      0,
      [
        { group: 'blocked', messages: 1 },
        { group: 'watched', messages: 1 },
        { group: 'looser', messages: 1 },
      ],
    ],
    ['with mistakes', 0, [ONE, { group: 'nobody', messages: 1 }, { group: 'slow', messages: 101 }, ONE]],
    ['that asks for a part', 1, [ONE, { ...ONE, atMost: true }]],
    ['with an unknown field', 1, [{ ...ONE, message: 1 }]],
    ['of nothing', 1, []],
    ['of too many', 1, Array.from({ length: 1001 }, () => ONE)],
    ['larger than an acquire may be', 0, Array.from({ length: 900 }, () => ({ group: 'free', messages: 1 }))],
  ])('a bulk %s', async (_, seenOfShort, requests) => {
    const body = JSON.stringify({ requests });
    const short = await asked(port, SHORT, body, {}, { path: '/v1/acquire/bulk' });
    const long = await asked(port, LONG, body, {}, { path: '/v1/acquire/bulk' });
    expect(short.answer).toEqual(long.answer);
    expect([short.seen, long.seen]).toEqual([seenOfShort, 1]);
  });

  test('a page of a stranger is refused', async () => {
    const { answer } = await asked(port, SHORT, '{"group":"orders","messages":1}', { origin: 'http://example.com' });
    expect(answer).toMatchObject({ status: 403, body: { code: 'PAGE_DENIED' } });
  });

  test('a body that comes after its head is read by fastify', async () => {
    const body = '{"group":"orders","messages":1}';
    const { answer, seen } = await asked(port, SHORT, body, {}, { bodyAfterHead: scene.app.server });
    expect([answer.status, seen]).toEqual([200, 1]);
  });
});

test('with auth the first request of a connection is let in by fastify; another token is looked at again', async () => {
  const { traffic, viewer } = TOKENS;
  const scene = await startedScene({ auth: AUTH });
  onTestFinished(() => scene.close());
  const { port } = scene.app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const statuses: string[] = [];
  for (const secret of [traffic, traffic, viewer, viewer, 'wrong', traffic, traffic]) {
    const { answer, seen } = await asked(port, SHORT, '{"group":"orders","messages":1}', bearer(secret), { agent });
    statuses.push(`${answer.status} ${seen === 1 ? 'by fastify' : 'at once'}`);
  }
  const denied = ['403 by fastify', '403 by fastify', '401 by fastify'];
  expect(statuses).toEqual(['200 by fastify', '200 at once', ...denied, '200 by fastify', '200 at once']);
});

async function startedScene(overrides: object): Promise<HttpScene> {
  const scene = await readyScene({
    groups: GROUPS,
    keys: KEYS,
    attachments: ATTACHMENTS,
    http: { port: 0 },
    ...overrides,
  });
  scene.app.addHook('onRequest', (_request, _reply, done) => {
    seenByFastify++;
    done();
  });
  await scene.app.listen({ host: '127.0.0.1', port: 0 });
  return scene;
}

let seenByFastify = 0;

interface How {
  readonly agent?: Agent;
  /** The body is sent when this server has looked at the head. */
  readonly bodyAfterHead?: Server;
  readonly path?: string;
}

/** Sends an acquire, or a bulk; tells the answer, without what passes with time, and how many requests fastify has handled. */
async function asked(port: number, type: string, body: string, headers = {}, how: How = {}) {
  const { agent, bodyAfterHead, path = '/v1/acquire' } = how;
  const before = seenByFastify;
  const length = Buffer.byteLength(body);
  const fields = { ...headers, 'content-type': type, 'content-length': length };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ port, path, method: 'POST', headers: fields, agent }, resolve);
    sent.on('error', reject);
    if (bodyAfterHead === undefined) sent.end(body);
    else {
      sent.flushHeaders();
      bodyAfterHead.once('request', () => setImmediate(() => setImmediate(() => sent.end(body))));
    }
  });
  const answered = await text(response);
  const { date: _date, ratelimit, ...others } = response.headers;
  const answer = {
    status: response.statusCode,
    names: response.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
    headers: { ...others, ratelimit: String(ratelimit).replaceAll(/\d+/g, '1') },
    body: JSON.parse(answered.replaceAll(/"retryAfterMs":\d+/g, '"retryAfterMs":1')),
  };
  return { answer, seen: seenByFastify - before };
}

async function rejections({ metrics }: HttpScene): Promise<number> {
  const count = /^quotamesh_http_acquires_total\{[^}]*outcome="rejected"[^}]*\} (\d+)/m.exec(await metrics.text());
  return Number(count?.[1]);
}
