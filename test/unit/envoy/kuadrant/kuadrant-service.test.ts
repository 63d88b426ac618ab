import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentTelemetry } from '../../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import { envoy, kuadrant } from '../../../../src/doors/envoy/generated/messages.js';
import type { UnaryMethod } from '../../../../src/doors/envoy/grpc/grpc-method.js';
import { KUADRANT_SERVICE, KuadrantService } from '../../../../src/doors/envoy/kuadrant/kuadrant-service.js';
import { rulesFrom } from '../../../../src/doors/envoy/rules/load-rules.js';
import { readYamlRules } from '../../../../src/doors/envoy/rules/read-yaml-rules.js';
import { withRules } from '../../../../src/doors/envoy/rules/with-rules.js';
import { RuleFindings } from '../../../../src/doors/envoy/rules/written-rules.js';
import { startParts } from '../../../../src/node/loop/start-node.js';
import { type WholeNode, wholeNode } from '../../../whole-node.js';
import { entriesOf } from '../rules/rules-of.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
const { ReserveRequest, ReserveResponse, CommitRequest, CommitResponse } = kuadrant.service.ratelimit.v1;
const { OK, OVER_LIMIT, UNKNOWN } = RateLimitResponse.Code;

const RULES = `
domain: models
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 100 }
  - key: model
    rate_limit: { unit: day, requests_per_unit: 1000 }
  - key: model
    value: closed
    rate_limit: { unit: day, requests_per_unit: 0 }
  - key: free
    rate_limit: { unlimited: true }
`;

let node: WholeNode;
let service: KuadrantService;
let clusters = 0;
let nowMs = 0;

beforeEach(async () => {
  nowMs = 1000;
  const findings = new RuleFindings();
  const written = [readYamlRules('rules.yaml', RULES, findings)].flatMap((each) => each ?? []);
  const { rules } = rulesFrom('rules.yaml', { written, mistakes: findings.mistakes, notes: findings.notes });
  const cluster = `kuadrant-${process.pid}-${clusters++}`;
  const config = resolveConfig({ cluster, node: 'a', topic: 'memory' }, { source: 'node.yaml' });
  node = await wholeNode(withRules(config, rules, 'rules.yaml'), silentTelemetry);
  await startParts(node);
  const { gate } = node;
  const limits = { maxReservations: 5, reservationMs: 60_000 };
  service = new KuadrantService({ rules, gate, limits, nodeId: 'a', clock: () => nowMs });
});

afterEach(async () => {
  service.close();
  await node.close();
});

function call(name: string, request: Uint8Array): Promise<Uint8Array> {
  const method = service.methods.find(({ path }) => path === `/${KUADRANT_SERVICE}/${name}`) as UnaryMethod;
  return method.answer(request, { caller: null, peer: 'test', leftMs: 1000 }) as Promise<Uint8Array>;
}

const descriptorsOf = (texts: readonly string[]) => texts.map((text) => ({ entries: entriesOf(text) }));
const asked = (texts: readonly string[], hitsAddend = 0, domain = 'models') => {
  return RateLimitRequest.encode({ domain, descriptors: descriptorsOf(texts), hitsAddend }).finish();
};
const codeOf = (answer: Uint8Array) => RateLimitResponse.decode(answer).overallCode;
const check = async (...texts: string[]) => codeOf(await call('CheckRateLimit', asked(texts)));
const report = async (hits: number, ...texts: string[]) => codeOf(await call('Report', asked(texts, hits)));

async function reserve(amount: number, texts: readonly string[], ttl?: { seconds?: number; nanos?: number }) {
  const request = { domain: 'models', descriptors: descriptorsOf(texts), amount, ...(ttl && { ttl }) };
  return ReserveResponse.decode(await call('Reserve', ReserveRequest.encode(request).finish()));
}

async function commit(reservationId: string, actualAmount: number, ...texts: string[]): Promise<boolean> {
  const request = { domain: 'models', descriptors: descriptorsOf(texts), reservationId, actualAmount };
  return CommitResponse.decode(await call('Commit', CommitRequest.encode(request).finish())).reservationReleased;
}

/** Counts what is left of a user's 100, by taking it. */
function takeRest(bucket = 'models/user@a'): number {
  for (let taken = 0; ; taken++) if (!node.gate.tryAcquire(bucket, { messages: 1 }).granted) return taken;
}

describe('check and report', () => {
  test('a check takes nothing, a report charges whatever there is', async () => {
    for (let times = 0; times < 200; times++) expect(await check('user=a')).toBe(OK);
    expect(await report(99, 'user=a')).toBe(OK);
    expect(await check('user=a')).toBe(OK);
    expect(await report(50, 'user=a')).toBe(OK);
    expect(await check('user=a')).toBe(OVER_LIMIT);
    expect(await check('user=b')).toBe(OK);
  });

  test('an addend of 0 is one hit, and no domain is no answer', async () => {
    await report(0, 'user=a');
    expect(takeRest()).toBe(99);
    expect(codeOf(await call('CheckRateLimit', asked(['user=a'], 0, '')))).toBe(UNKNOWN);
    expect(codeOf(await call('Report', asked(['user=a'], 1, '')))).toBe(UNKNOWN);
  });

  test('what nothing limits is granted', async () => {
    expect(await check('free=x')).toBe(OK);
    expect(await check('host=x')).toBe(OK);
    expect(codeOf(await call('CheckRateLimit', asked(['user=a'], 0, 'other')))).toBe(OK);
  });
});

describe('reserve and commit', () => {
  test('what is held is nobody else’s, and what the work did not cost comes back', async () => {
    const [first, second] = [await reserve(40, ['user=a']), await reserve(40, ['user=a'])];
    expect([first.code, second.code, (await reserve(40, ['user=a'])).code]).toEqual([OK, OK, OVER_LIMIT]);
    expect(first.reservationId).not.toBe(second.reservationId);
    expect(await commit(first.reservationId, 10, 'user=a')).toBe(true);
    expect((await reserve(50, ['user=a'])).code).toBe(OK);
    expect(service.held.counts).toEqual({ open: 2, committed: 1, expired: 0 });
    expect(takeRest()).toBe(0);
  });

  test('work that cost more is charged all of it', async () => {
    const { reservationId } = await reserve(10, ['user=a']);
    expect(await commit(reservationId, 60, 'user=a')).toBe(true);
    expect(takeRest()).toBe(40);
  });

  test('a reservation that dies gives back, and a late commit is a report', async () => {
    const { reservationId } = await reserve(50, ['user=a'], { seconds: 2 });
    nowMs += 1999;
    service.held.expire();
    expect((await reserve(50, ['user=a'], { seconds: 30 })).code).toBe(OK);
    expect(await check('user=a')).toBe(OVER_LIMIT);
    nowMs += 1;
    service.held.expire();
    expect(await check('user=a')).toBe(OK);
    expect(service.held.counts).toEqual({ open: 1, committed: 0, expired: 1 });
    expect(await commit(reservationId, 20, 'user=a')).toBe(false);
    expect(takeRest()).toBe(30);
  });

  test('no time to live, or a long one, is that of the node', async () => {
    await reserve(50, ['user=a']);
    await reserve(50, ['user=a'], { seconds: 3600 });
    nowMs += 60_000;
    service.held.expire();
    expect(service.held.counts).toMatchObject({ open: 0, expired: 2 });
    expect(takeRest()).toBe(100);
  });

  test('all buckets or none: one that refuses leaves the others as they were', async () => {
    expect((await reserve(40, ['user=a', 'model=closed'])).code).toBe(OVER_LIMIT);
    const held = await reserve(40, ['user=a', 'model=m', 'free=x', 'user=a']);
    expect(held.code).toBe(OK);
    expect(await commit(held.reservationId, 30, 'user=a', 'model=m')).toBe(true);
    expect(takeRest()).toBe(70);
    expect(takeRest('models/model@m')).toBe(970);
  });

  test('an amount of 0 holds nothing, and is charged by the commit', async () => {
    const { code, reservationId } = await reserve(0, ['user=a']);
    expect(code).toBe(OK);
    expect(await commit(reservationId, 25, 'user=a')).toBe(true);
    expect(takeRest()).toBe(75);
  });

  test('an amount that no request may have holds half of what one may have', async () => {
    const { code, reservationId } = await reserve(100_000, ['user=a']);
    expect(code).toBe(OK);
    expect(takeRest()).toBe(50);
    expect(await commit(reservationId, 0, 'user=a')).toBe(true);
    expect(takeRest()).toBe(50);
  });

  test('a refused one has no id, and one more than there may be is told', async () => {
    expect(await reserve(1, ['model=closed'])).toMatchObject({ code: OVER_LIMIT, reservationId: '' });
    for (let times = 0; times < 5; times++) expect((await reserve(1, ['user=a'])).code).toBe(OK);
    await expect(reserve(1, ['user=a'])).rejects.toThrow(/5 reservations are open on this node already/);
  });

  test('the end of the service gives back what is held', async () => {
    await reserve(50, ['user=a']);
    service.close();
    expect(takeRest()).toBe(100);
  });
});
