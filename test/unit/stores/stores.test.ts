import 'reflect-metadata';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import fastifyRateLimit from '@fastify/rate-limit';
import { Controller, Get, Module } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import { fastify } from 'fastify';
import { RateLimiterRes, RateLimiterUnion } from 'rate-limiter-flexible';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { QuotameshStore } from '../../../src/doors/stores/express-rate-limit.js';
import { quotameshStore } from '../../../src/doors/stores/fastify-rate-limit.js';
import { QuotameshStorage } from '../../../src/doors/stores/nestjs-throttler.js';
import { RateLimiterQuotamesh } from '../../../src/doors/stores/rate-limiter-flexible.js';
import type { QuotaNode } from '../../../src/index.js';
import { oneNode, type Served, servedBy } from '../services/one-node.js';

let node: QuotaNode;
/** The versions before have their names in package.json. */
const require = createRequire(import.meta.url);
/** The quota of alice is 1,000/s, that of bob 1 a day and used up. */
const LIMIT = 1000;
/** Milliseconds, less what has flowed in since. */
const A_DAY = expect.closeTo(86_200_000, -6);
const WINDOW_MS = 1000;
const group = (key: string) => `key:${key}`;
const admitted = () => node.groupStatus('key:alice').directions.publish.local.admittedMessages;

beforeAll(async () => {
  node = await oneNode();
});

afterAll(() => node.close());

const SERVED: readonly (readonly [string, () => Promise<Served>])[] = [
  ['express-rate-limit 8', () => onExpress(rateLimit)],
  ['express-rate-limit 7', () => onExpress(require('express-rate-limit7').rateLimit)],
  ['@fastify/rate-limit 11', onFastify],
  ['@nestjs/throttler 6', onNest],
];

describe.each(SERVED)('%s', (_name, serve) => {
  test('the node decides; the library answers, and tells its limit and what is left of the bucket', async () => {
    const { url, close } = await serve();
    onTestFinished(close);
    const before = admitted();
    const yes = await ask(url, 'alice');
    expect([yes.status, await yes.text()]).toEqual([200, 'hello']);
    expect(admitted() - before).toBe(1);
    expect(yes.headers.get('x-ratelimit-limit')).toBe(`${LIMIT}`);
    expect(Number(yes.headers.get('x-ratelimit-remaining'))).toBeLessThan(LIMIT);
    const no = await ask(url, 'bob');
    expect(no.status).toBe(429);
    expect(Number(no.headers.get('retry-after'))).toBeGreaterThan(86_000);
    expect(Number(no.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
  });
});

describe('express-rate-limit', () => {
  test('looks without taking, and a limit that is a function changes nothing of the decision', async () => {
    const store = new QuotameshStore(node, { group });
    const before = admitted();
    expect(store.get('alice').totalHits).toBeGreaterThanOrEqual(1);
    expect(admitted()).toBe(before);
    const limiter = rateLimit({ limit: () => 7, windowMs: WINDOW_MS, store, keyGenerator: keyOf, validate: false });
    const { url, close } = await servedBy(createServer(appWith(limiter)));
    onTestFinished(close);
    expect((await ask(url, 'alice')).status).toBe(200);
    expect((await ask(url, 'bob')).status).toBe(429);
  });

  test('what a bucket cannot do is told: skipFailedRequests to every request, and none of them is charged', async () => {
    const store = () => new QuotameshStore(node, { group });
    const told: unknown[] = [];
    const logger = { error: (error: unknown) => told.push(error), warn: () => undefined };
    const limiter = rateLimit({ store: store(), skipFailedRequests: true, keyGenerator: keyOf, logger });
    const { url, close } = await servedBy(createServer(appWith(limiter)));
    onTestFinished(close);
    const before = admitted();
    expect((await ask(url, 'alice')).status).toBe(500);
    expect(admitted()).toBe(before);
    expect(told).toMatchObject([{ code: 'STORE_CALL_UNSUPPORTED' }]);
    expect(() => store().resetKey()).toThrow('the store for express-rate-limit has no resetKey');
    expect(() => store().decrement()).toThrow('the store for express-rate-limit has no decrement');
  });
});

describe('rate-limiter-flexible', () => {
  const limiter = (blockDuration = 0) => new RateLimiterQuotamesh(node, { points: LIMIT, group, blockDuration });

  test('consumes, or rejects with when to come back', async () => {
    const result = await limiter().consume('alice', 3);
    expect(result).toBeInstanceOf(RateLimiterRes);
    expect(result.remainingPoints + result.consumedPoints).toBe(LIMIT);
    const refused = await limiter()
      .consume('bob')
      .catch((rejected: unknown) => rejected);
    expect(refused).toBeInstanceOf(RateLimiterRes);
    expect(refused).toMatchObject({ remainingPoints: 0, consumedPoints: LIMIT + 1, msBeforeNext: A_DAY });
  });

  test('a penalty is charged in the cluster, and shows', async () => {
    const before = admitted();
    await limiter().penalty('alice', 5);
    expect(admitted() - before).toBe(5);
  });

  test('blocks a key in this process until it is told otherwise, also after a refusal', async () => {
    const one = limiter(60);
    await one.block('alice', 30);
    expect((await one.get('alice'))?.msBeforeNext).toBeGreaterThan(29_000);
    await expect(one.consume('alice')).rejects.toMatchObject({ remainingPoints: 0 });
    expect(await one.delete('alice')).toBe(true);
    expect(await one.delete('alice')).toBe(false);
    await one.consume('alice');
    await expect(one.consume('bob')).rejects.toMatchObject({ msBeforeNext: 60_000 });
    const endless = { msBeforeNext: -1, remainingPoints: 0 };
    expect(await one.block('alice', 0)).toMatchObject(endless);
    expect(await one.get('alice')).toMatchObject(endless);
    await expect(one.consume('alice')).rejects.toMatchObject(endless);
    expect(await one.delete('alice')).toBe(true);
    expect(await one.delete('bob')).toBe(true);
  });

  test('more than there are points is refused, also of a full bucket', async () => {
    const before = admitted();
    await expect(limiter().consume('alice', LIMIT + 1)).rejects.toMatchObject({ remainingPoints: 0 });
    expect(admitted()).toBe(before);
  });

  test('knows nothing of a key whose bucket is full', async () => {
    const open = new RateLimiterQuotamesh(node, { points: LIMIT, group: 'key:open' });
    expect(await open.get('anybody')).toBe(null);
    expect(await limiter().get('bob')).toMatchObject({ remainingPoints: 0 });
    const keyed = new RateLimiterQuotamesh(node, { points: LIMIT, group: (key) => `customer:${key}` });
    expect(await keyed.get('quiet')).toBe(null);
  });

  test('a group that nobody has used yet is full, and a silent key is known by what was spent of it', async () => {
    const unused = new RateLimiterQuotamesh(node, { points: 10, group: 'key:rested' });
    expect(await unused.get('anybody')).toBe(null);
    const silent = new RateLimiterQuotamesh(node, { points: 10, group: (key) => `rested:${key}` });
    expect(await silent.get('saver')).toBe(null);
    expect((await silent.consume('saver', 3)).remainingPoints).toBeLessThan(10);
    const known = await silent.get('saver');
    expect(known?.remainingPoints).toBeLessThan(10);
    expect(known?.consumedPoints).toBeGreaterThanOrEqual(1);
    expect(node.keys.show('rested:saver')).toMatchObject({ silent: true });
  });

  test('is one of the library, so its wrappers take it; what a bucket cannot do is rejected', async () => {
    const other = new RateLimiterQuotamesh(node, { points: 20, group: 'key:carol', keyPrefix: 'carol' });
    expect(Object.keys(await new RateLimiterUnion(limiter(), other).consume('alice')).sort()).toEqual(['', 'carol']);
    await expect(limiter().reward()).rejects.toThrow('the store for rate-limiter-flexible has no reward');
    await expect(limiter().set()).rejects.toThrow('has no set');
  });
});

describe('mistakes of the program', () => {
  const made: readonly (readonly [string, (on: unknown, options: object) => unknown])[] = [
    ['express-rate-limit', (on, options) => new QuotameshStore(on as QuotaNode, options)],
    ['@fastify/rate-limit', (on, options) => quotameshStore(on as QuotaNode, options)],
    ['@nestjs/throttler', (on, options) => new QuotameshStorage(on as QuotaNode, options)],
    [
      'rate-limiter-flexible',
      (on, options) => new RateLimiterQuotamesh(on as QuotaNode, { points: LIMIT, ...options }),
    ],
  ];

  test.each(made)('in options of the store for %s are told when it is made', (store, make) => {
    const wrong = (field: string, text: string) => ({
      code: 'OPTIONS_INVALID',
      message: expect.stringContaining(`the store for ${store}: ${field} ${text}`),
      remedy: expect.stringContaining('stores.md'),
    });
    expect(() => make(Promise.resolve(node), {})).toThrow(expect.objectContaining(wrong('node', 'must be a node')));
    expect(() => make(node, { gruop: 'a' })).toThrow(expect.objectContaining(wrong('gruop', 'is not known')));
    expect(() => make(node, { group: 7 })).toThrow(expect.objectContaining(wrong('group', 'must be the name of')));
    expect(() => make(node, { limit: 10 })).toThrow(expect.objectContaining(wrong('limit', 'must be a quota')));
    expect(() => make(node, { group })).not.toThrow();
  });

  test.each([Infinity, Number.NaN, -1, 0, 1.5, 2 ** 60, '3'])('%s points are no points', async (points) => {
    const before = admitted();
    const limiter = new RateLimiterQuotamesh(node, { points: LIMIT, group });
    const wrong = {
      code: 'AMOUNT_INVALID',
      message: expect.stringMatching(/^points must be a whole number > 0, got /),
    };
    await expect(limiter.consume('alice', points as number)).rejects.toMatchObject(wrong);
    await expect(limiter.penalty('alice', points as number)).rejects.toMatchObject(wrong);
    expect(admitted()).toBe(before);
  });

  test.each([
    { points: '600' },
    { points: Number.NaN },
    { points: 1, blockDuration: -1 },
    { points: 1, keyPrefix: 7 },
    { points: 1, duration: 60 },
    {},
  ])('a limiter of %j is refused', (options) => {
    expect(() => new RateLimiterQuotamesh(node, options as never)).toThrow(
      expect.objectContaining({ code: 'OPTIONS_INVALID' }),
    );
  });
});

describe('keys as people have them', () => {
  const odd = ['2001:db8::/56', 'auth0|65f0', 'c2VjcmV0L2tleQ==', 'Jürgen M', '', '\0\n', 'x'.repeat(3000), '\ud800'];

  test('are limited in every store, also where a library passes what its store cannot count', async () => {
    const options = { group: (key: string) => `plan:${key}` };
    const inHeader = odd.filter((key) => /^[\x20-\x7e]+$/.test(key));
    const passing = { passOnStoreError: true, keyGenerator: keyOf, validate: false };
    const limiter = rateLimit({ ...passing, limit: 1, windowMs: WINDOW_MS, store: new QuotameshStore(node, options) });
    const { url, close } = await servedBy(createServer(appWith(limiter)));
    onTestFinished(close);
    for (const key of inHeader) expect((await ask(url, key)).status, key.slice(0, 20)).toBe(429);
    const flexible = new RateLimiterQuotamesh(node, { ...options, points: 1 });
    const storage = new QuotameshStorage(node, options);
    const fastified = new (quotameshStore(node, options))({});
    for (const key of odd) {
      await expect(flexible.consume(key)).rejects.toBeInstanceOf(RateLimiterRes);
      expect((await storage.increment(key, WINDOW_MS, 1)).isBlocked).toBe(true);
      const answer = await new Promise((resolve) => {
        fastified.incr(key, (error, result) => resolve(error ?? result), WINDOW_MS, 1);
      });
      expect(answer).toMatchObject({ current: 2 });
    }
  });

  test('have the quota that the service says', async () => {
    const limit = (key: string) => (key === 'gold' ? { publish: { messagesPerSecond: 1000 } } : undefined);
    const limiter = new RateLimiterQuotamesh(node, { group: (key) => `plan:${key}`, points: 1000, limit });
    const msOf = (key: string) =>
      limiter.consume(key).then(
        () => 0,
        ({ msBeforeNext }) => msBeforeNext,
      );
    expect(await msOf('gold')).toBeLessThan(1000);
    expect(await msOf('poor')).toEqual(A_DAY);
  });
});

test('a group that nobody has defined is an error, not a refusal', async () => {
  const limiter = new RateLimiterQuotamesh(node, { points: 1 });
  await expect(limiter.consume('nobody')).rejects.toMatchObject({ code: 'GROUP_UNKNOWN' });
  const current = await new Promise((resolve) => {
    new (quotameshStore(node))({}).incr('nobody', (error) => resolve(error), WINDOW_MS, 1);
  });
  expect(current).toMatchObject({ code: 'GROUP_UNKNOWN' });
});

function ask(url: string, key: string): Promise<Response> {
  return fetch(url, { headers: { 'x-api-key': key } });
}

function keyOf(request: { readonly headers: object }): string {
  return (request.headers as Record<string, string>)['x-api-key'];
}

function onExpress(make: typeof rateLimit): Promise<Served> {
  const store = new QuotameshStore(node, { group });
  return servedBy(
    createServer(appWith(make({ limit: LIMIT, windowMs: WINDOW_MS, store, keyGenerator: keyOf, legacyHeaders: true }))),
  );
}

function appWith(limiter: express.RequestHandler): express.Express {
  const app = express();
  app.use(limiter, (_request, response) => void response.send('hello'));
  return app;
}

async function onFastify(): Promise<Served> {
  const app = fastify();
  const store = quotameshStore(node, { group });
  await app.register(fastifyRateLimit, { max: LIMIT, timeWindow: WINDOW_MS, store, keyGenerator: keyOf });
  app.get('/', async () => 'hello');
  await app.listen({ host: '127.0.0.1', port: 0 });
  return servedBy(app.server);
}

async function onNest(): Promise<Served> {
  class Hello {
    hello(): string {
      return 'hello';
    }
  }
  Get('/')(Hello.prototype, 'hello', Object.getOwnPropertyDescriptor(Hello.prototype, 'hello') as PropertyDescriptor);
  Controller()(Hello);
  class App {}
  const throttler = ThrottlerModule.forRoot({
    throttlers: [{ limit: LIMIT, ttl: WINDOW_MS }],
    storage: new QuotameshStorage(node, { group }),
    getTracker: async (request) => keyOf(request as never),
    generateKey: (_context, tracker) => tracker,
  });
  Module({
    imports: [throttler],
    controllers: [Hello],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  })(App);
  const app = await NestFactory.create(App, { logger: false });
  await app.listen(0, '127.0.0.1');
  return servedBy(app.getHttpServer());
}
