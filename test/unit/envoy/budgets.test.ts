import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { envoy, kuadrant } from '../../../src/doors/envoy/generated/messages.js';
import { KUADRANT_SERVICE } from '../../../src/doors/envoy/kuadrant/kuadrant-service.js';
import { type Descriptor, nameOf, type RlsScene, rlsScene } from './rls-scene.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
const { ReserveRequest, ReserveResponse, CommitRequest, CommitResponse } = kuadrant.service.ratelimit.v1;

const folder = mkdtempSync(join(tmpdir(), 'quotamesh-envoy-budgets-'));
const month = { per: 'month', timezone: 'Europe/Berlin' };
let scene: RlsScene;

beforeAll(async () => {
  scene = await rlsScene({
    topic: { kind: 'embedded', path: folder },
    groups: {
      'llm/all:spent': { budget: { messages: 3, per: 'total' } },
      'llm/plan:small': { quota: { publish: { messagesPerSecond: '5/d' } } },
    },
    keys: {
      'llm/tenant:{tenant}': { budget: { tokens: 1000, ...month } },
      'llm/team:{team}': { budget: { tokens: 1000, ...month }, quota: { publish: { messagesPerSecond: '2/d' } } },
    },
  });
  const asked = await scene.tell('llm', [{ all: 'spent' }]);
  expect(asked).toMatchObject({
    status: 14,
    text: expect.stringMatching(/not ready: what nodes hold is being learnt/),
  });
  // The log of budgets has to be an expiry old.
  const isKept = () => scene.node.groupStatus('llm/all:spent').budget?.state === 'kept';
  await vi.waitUntil(isKept, { timeout: 30_000 });
}, 40_000);

afterAll(async () => {
  await scene.close();
  rmSync(folder, { recursive: true, force: true });
});

const hits = (...values: number[]) => ({ beside: values.map((value) => ({ hitsAddend: { value } })) });
const left = (bucket: string) => scene.node.budgetOf(bucket).budget?.remaining;

test('a gateway looks whether a tenant has tokens left this month, and charges them at the end', async () => {
  const tenant = [{ tenant: 'acme' }];
  const looked = await scene.ask('llm', tenant, hits(0));
  expect(nameOf(looked.overallCode)).toBe('OK');
  const { MONTH } = RateLimitResponse.RateLimit.Unit;
  expect(looked.statuses[0]).toMatchObject({
    limitRemaining: 1000,
    currentLimit: { requestsPerUnit: 1000, unit: MONTH, name: 'llm/tenant:{tenant}' },
  });
  expect(await scene.short('llm', tenant, hits(300))).toBe('OK 700');
  expect(await scene.short('llm', [{ tenant: 'other' }], hits(0))).toBe('OK 1000');
  // The work is done: all that is left is charged, and the rest cannot be.
  expect(await scene.short('llm', tenant, hits(800))).toBe('OVER_LIMIT 0');
  expect(await scene.short('llm', tenant, hits(0))).toBe('OVER_LIMIT 0');
  expect(left('llm/tenant:acme')).toBe(0);
  expect(scene.door.rateLimits.counts.descriptors).toMatchObject({ granted: 3, owed: 1, refused: 1 });
});

test('an operator tops up a tenant who asks for nothing just now', async () => {
  const { node } = scene;
  const { budget } = await node.giveBudget('llm/tenant:later', { id: 'invoice-1', amount: 500 });
  expect(budget).toMatchObject({ unit: 'tokens', limit: 1500, remaining: 1500 });
  expect(await node.giveBudget('llm/tenant:later', { id: 'invoice-1', amount: 500 })).toMatchObject({
    isCounted: false,
  });
  expect(await scene.short('llm', [{ tenant: 'later' }], hits(0))).toBe('OK 1500');
  expect(node.budgetOf('llm/tenant:later').gifts).toMatchObject([{ id: 'invoice-1', amount: 500 }]);
});

test('what is asked for before the work is granted whole or not at all', async () => {
  const all = [{ all: 'spent' }];
  expect(await scene.short('llm', all, { hitsAddend: 2 })).toBe('OK 1');
  expect(await scene.short('llm', all, { hitsAddend: 2 })).toBe('OVER_LIMIT 0');
  expect(await scene.short('llm', all)).toBe('OK 0');
});

test('several descriptors are charged together or not at all, also the rate beside a budget', async () => {
  const both = (team: string): Descriptor[] => [{ team }, { plan: 'small' }];
  expect(await scene.short('llm', both('red'), { hitsAddend: 4 })).toBe('OK 996 1');
  expect(await scene.short('llm', both('red'), { hitsAddend: 4 })).toBe('OVER_LIMIT 996 0');
  expect(left('llm/team:red')).toBe(996);
  expect(await scene.short('llm', [{ team: 'red' }, { all: 'spent' }])).toBe('OVER_LIMIT 996 0');
  // The second of two requests a day is still there.
  expect(await scene.short('llm', [{ team: 'red' }])).toBe('OK 995');
  expect(await scene.short('llm', [{ team: 'red' }])).toBe('OVER_LIMIT 0');
  expect(left('llm/team:red')).toBe(995);
});

test('Kuadrant’s way: a reservation is nobody else’s, and a commit charges what the answer cost', async () => {
  const descriptors = [{ entries: [{ key: 'tenant', value: 'kuadrant' }] }];
  const call = async (name: string, request: Uint8Array) => {
    const { status, messages } = await scene.client.ask(`/${KUADRANT_SERVICE}/${name}`, request);
    expect(status).toBe(0);
    return messages[0] as Buffer;
  };
  const reserve = async (amount: number) => {
    return ReserveResponse.decode(
      await call('Reserve', ReserveRequest.encode({ domain: 'llm', descriptors, amount }).finish()),
    );
  };
  const commit = async (reservationId: string, actualAmount: number) => {
    const request = CommitRequest.encode({ domain: 'llm', descriptors, reservationId, actualAmount }).finish();
    return CommitResponse.decode(await call('Commit', request)).reservationReleased;
  };
  const check = async () => {
    const request = RateLimitRequest.encode({ domain: 'llm', descriptors }).finish();
    return nameOf(RateLimitResponse.decode(await call('CheckRateLimit', request)).overallCode);
  };
  const [first, second] = [await reserve(600), await reserve(400)];
  expect([nameOf(first.code), nameOf(second.code)]).toEqual(['OK', 'OK']);
  expect(await check()).toBe('OVER_LIMIT');
  expect(await commit(first.reservationId, 150)).toBe(true);
  expect(await check()).toBe('OK');
  // Above what is held all is charged, as far as the month has it.
  expect(await commit(second.reservationId, 500)).toBe(true);
  expect(left('llm/tenant:kuadrant')).toBe(350);
  await call('Report', RateLimitRequest.encode({ domain: 'llm', descriptors, hitsAddend: 351 }).finish());
  expect(left('llm/tenant:kuadrant')).toBe(0);
  expect(nameOf((await reserve(1)).code)).toBe('OVER_LIMIT');
});
