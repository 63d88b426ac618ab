import { once } from 'node:events';
import { connect, constants, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Admission, admissionOf } from '../../../src/doors/services/admission.js';
import type { QuotaNode } from '../../../src/index.js';
import { someOf } from '../../property/seed.js';
import { type Chosen, FRAMEWORKS } from './frameworks.js';
import { oneNode } from './one-node.js';

let node: QuotaNode;

beforeAll(async () => {
  node = await oneNode();
});

afterAll(() => node.close());

describe.each(someOf(FRAMEWORKS))('%s', (name, serve) => {
  test('admits, and tells what is left as POST /v1/acquire does', async () => {
    const ask = await asking({});
    const answer = await ask('/', 'alice');
    expect([answer.status, await answer.text()]).toEqual([200, 'hello']);
    expect(answer.headers.get('ratelimit-policy')).toBe('"key:alice-publish-messages";q=1000;w=1');
    expect(answer.headers.get('ratelimit')).toMatch(/^"key:alice-publish-messages";r=\d+;t=\d+$/);
    expect(answer.headers.get('x-ratelimit-limit')).toBe(null);
  });

  test('refuses with problem+json, and with the headers of both kinds where they are wanted', async () => {
    const ask = await asking({ headers: 'both' });
    const answer = await ask('/', 'bob');
    expect(answer.status).toBe(429);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    const retryAfterS = Number(answer.headers.get('retry-after'));
    expect(retryAfterS).toBeGreaterThan(86_000);
    expect(retryAfterS).toBeLessThanOrEqual(86_400);
    expect(answer.headers.get('ratelimit-policy')).toBe('"key:bob-publish-messages";q=1;w=86400');
    expect(answer.headers.get('ratelimit')).toBe(`"key:bob-publish-messages";r=0;t=${retryAfterS}`);
    expect(answer.headers.get('x-ratelimit-limit')).toBe('1');
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(answer.headers.get('x-ratelimit-reset')).toBe(`${retryAfterS}`);
    const { retryAfterMs, ...problem } = (await answer.json()) as { retryAfterMs: number };
    expect(Math.ceil(retryAfterMs / 1000)).toBe(retryAfterS);
    expect(problem).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: 429,
      detail: 'group key:bob: messages publish quota is used up for now',
      code: 'QUOTA_EXCEEDED',
      remedy: 'Try again after retryAfterMs.',
      'violated-policies': ['key:bob-publish-messages'],
      group: 'key:bob',
      direction: 'publish',
      dimension: 'messages',
      level: 'group',
    });
  });

  test("refuses with the framework's own error", async () => {
    const ask = await asking({ refusal: 'framework' });
    const answer = await ask('/', 'bob');
    expect(answer.status).toBe(429);
    expect(answer.headers.get('content-type')).not.toMatch(/problem/);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect(await answer.text()).toContain('group key:bob: messages publish quota is used up for now');
  });

  test('charges what a request costs, and nothing for what is skipped', async () => {
    const ask = await asking({});
    const before = admitted();
    expect((await ask('/', 'alice', 3)).status).toBe(200);
    expect(admitted() - before).toBe(3);
    const free = await ask('/health', 'bob');
    expect([free.status, free.headers.get('ratelimit')]).toEqual([200, null]);
  });

  test('lets requests wait for their turn, and gives up with the refusal', async () => {
    const ask = await asking({ waitMs: 20_000 });
    const answers = await Promise.all(Array.from({ length: 4 }, () => ask('/', 'carol', 2)));
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
    const impatient = await asking({ waitMs: 20 });
    expect((await impatient('/', 'bob')).status).toBe(429);
  });

  test('a client that hangs up leaves the line', async () => {
    const { url, close } = await serve(node, { waitMs: 60_000 });
    onTestFinished(close);
    const hangUp = new AbortController();
    const asked = fetch(url, { headers: { 'x-api-key': 'bob' }, signal: hangUp.signal });
    const waiting = () => node.groupStatus('key:bob').directions.publish.local.heldBack;
    await vi.waitFor(() => expect(waiting()).toBe(1), 5000);
    hangUp.abort();
    await expect(asked).rejects.toThrow('aborted');
    await vi.waitFor(() => expect(waiting()).toBe(0), 5000);
  });

  test.each(['answered', 'begun'] as const)('leaves alone what somebody else has %s meanwhile', async (meanwhile) => {
    let passed = 0;
    const ask = await asking({ waitMs: 500, meanwhile, onPassed: () => passed++ });
    const answer = await ask('/', 'bob');
    expect([answer.status, await answer.text()]).toEqual([504, 'one, two']);
    const waiting = () => node.groupStatus('key:bob').directions.publish.local.heldBack;
    await vi.waitFor(() => expect(waiting()).toBe(0), 5000);
    expect(passed).toBe(0);
  });

  test('tells what is left with answers of every kind, and leaves errors to the framework', async () => {
    const ask = await asking({});
    const streamed = await ask('/stream', 'alice');
    expect([streamed.status, await streamed.text()]).toEqual([200, 'one, two']);
    expect(streamed.headers.get('ratelimit')).toMatch(/r=\d+/);
    const elsewhere = await ask('/elsewhere', 'alice');
    expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([302, 'http://127.0.0.1/elsewhere']);
    expect(elsewhere.headers.get('ratelimit')).toMatch(/r=\d+/);
    const broken = await ask('/boom', 'alice');
    expect(broken.status).toBe(500);
    expect(broken.headers.get('ratelimit')).toMatch(/r=\d+/);
    if (!name.startsWith('hono')) return;
    const fetched = await ask('/fetched', 'alice');
    expect([fetched.status, await fetched.text()]).toEqual([200, 'hello']);
    expect(fetched.headers.get('ratelimit')).toMatch(/r=\d+/);
  });

  test('sets no headers where none are wanted, or there is no quota', async () => {
    const ask = await asking({ headers: 'none' });
    expect((await ask('/', 'alice')).headers.get('ratelimit')).toBe(null);
    const told = await asking({ headers: 'both' });
    expect([...(await told('/', 'open')).headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
  });

  test('a name or an amount made of the request that cannot be one is the mistake of the client', async () => {
    const ask = await asking({});
    for (const key of ['nobody', 'a/b', '..', '__proto__', 'alice bob', 'x'.repeat(8000)]) {
      const answer = await ask('/', key);
      expect(answer.status, key.slice(0, 20)).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      const { code, detail } = (await answer.json()) as { code: string; detail: string };
      expect([code, detail.length < 200, detail.includes('alice"')]).toEqual(['NAME_OF_NO_GROUP', true, false]);
    }
    expect((await ask('/', 'alice', -1)).status).toBe(422);
    expect((await ask('/', 'alice', 1e9)).status).toBe(422);
    const framework = await asking({ refusal: 'framework' });
    expect((await framework('/', 'nobody')).status).toBe(400);
    const waiting = await asking({ waitMs: 10 });
    expect((await waiting('/', 'nobody')).status).toBe(400);
  });

  async function asking(chosen: Chosen) {
    const { url, close } = await serve(node, chosen);
    onTestFinished(close);
    return (path: string, key: string, cost = 1) =>
      fetch(`${url}${path}`, { redirect: 'manual', headers: { 'x-api-key': key, 'x-cost': `${cost}` } });
  }

  function admitted(): number {
    return node.groupStatus('key:alice').directions.publish.local.admittedMessages;
  }
});

test("a group that the program names itself, and that nobody has defined, is the program's mistake", () => {
  expect(() => admissionOf(node, { group: 'nobody' })({})).toThrow('nobody');
  expect(() => admissionOf(node, { group: () => '', otherwise: 'nobody' })({})).toThrow('nobody');
  expect(() => admissionOf(node, { group: 'nobody', messages: () => 1 })({})).toThrow('nobody');
});

describe('options that cannot be are a mistake of the program, not of each client', () => {
  test.each<[string, unknown, string]>([
    ['no options', undefined, 'options must be an object with group, got nothing'],
    ['no group', {}, 'group is missing: the name of a group or key, a scope, or a function of the request'],
    ['an empty group', { group: '' }, 'group must be the name of a group or key, a scope, or a function'],
    ['a misspelled option', { group: 'key:bob', message: 5 }, 'message is not known; Did you mean "messages"?'],
    ['a header style', { group: 'key:bob', headers: 'X' }, 'headers must be "draft", "x", "both" or "none", got "X"'],
    ['a refusal', { group: 'key:bob', refusal: 'throw' }, 'refusal must be "problem" or "framework", got "throw"'],
    ['a negative wait', { group: 'key:bob', waitMs: -1 }, 'waitMs must be a number of milliseconds from 0 to 600000'],
    ['NaN', { group: 'key:bob', waitMs: Number.NaN }, 'waitMs must be a number of milliseconds'],
    ['a text for an amount', { group: 'key:bob', messages: '5' }, 'messages must be a whole number ≥ 0, or a function'],
    ['a text for an origin', { group: 'key:bob', origin: 'publish' }, 'origin must be an object of direction'],
    ['a number for a group', { group: 'key:bob', otherwise: 5 }, 'otherwise must be the name of a group'],
  ])('%s', (_, options, says) => {
    const code = 'OPTIONS_INVALID';
    const refused = expect.objectContaining({ code, message: expect.stringContaining(`quota(): ${says}`) });
    expect(() => admissionOf(node, options as never)).toThrow(refused);
  });

  test('a node that is no node, or one that nobody awaited', () => {
    const options = { group: 'key:bob' };
    expect(() => admissionOf(undefined as never, options)).toThrow('got nothing');
    expect(() => admissionOf(Promise.resolve(node) as never, options)).toThrow('got a promise: await createNode');
  });

  test.each(['group', 'messages', 'bytes', 'origin', 'limit'])('an asynchronous function for %s', async (option) => {
    for (const made of [async () => 'key:bob', async () => Promise.reject(new Error('late'))]) {
      const admit = admissionOf(node, { group: 'key:alice', [option]: made });
      expect(() => admit({})).toThrow(`quota(): ${option} must be a function that answers at once, got a promise`);
    }
  });
});

describe('a request that says of nobody that it is his', () => {
  const group = ({ key }: { key?: string }) => key;

  test.each([0, 10])('is refused, and makes no key (waitMs %d)', async (waitMs) => {
    const admit = admissionOf(node, { group, waitMs });
    for (const request of [{}, { key: '' }]) {
      const problem = { code: 'GROUP_NOT_NAMED', detail: 'the request does not say to whom it is charged' };
      expect(await admit(request)).toMatchObject({ refusal: { status: 400, problem } });
    }
  });

  test('shares what `otherwise` names with all the others', async () => {
    const admit = admissionOf(node, { group, otherwise: 'key:bob' });
    expect(await admit({})).toMatchObject({ refusal: { status: 429, problem: { group: 'key:bob' } } });
    expect(await admit({ key: 'key:alice' })).toMatchObject({ refusal: null });
  });
});

test("the service says a key's quota, by the request", async () => {
  const plans: Readonly<Record<string, number>> = { gold: 1000, huge: 10_000 };
  const admit = admissionOf(node, {
    group: ({ key }: { key: string }) => `plan:${key}`,
    limit: ({ key }) => (plans[key] === undefined ? undefined : { publish: { messagesPerSecond: plans[key] } }),
  });
  const told = (key: string) => (admit({ key }) as Admission).headers['ratelimit-policy'];
  expect(told('gold')).toBe('"plan:gold-publish-messages";q=1000;w=1');
  expect(told('poor')).toBe('"plan:poor-publish-messages";q=1;w=86400');
  expect(admit({ key: 'huge' })).toMatchObject({ refusal: { status: 403, problem: { code: 'LIMIT_DENIED' } } });
});

test.each([0, 60_000])(
  'a client of HTTP/2 that is gone already is not charged, nor waits (waitMs %d)',
  async (waitMs) => {
    const admit = admissionOf(node, { group: 'key:bob', waitMs });
    const server = createHttp2Server();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => {
      client.destroy();
      server.close();
    });
    const stream = client.request();
    const [, response] = await once(server, 'request');
    stream.close(constants.NGHTTP2_CANCEL);
    await once(response, 'close');
    expect(await admit({}, response)).toBe(null);
  },
);
