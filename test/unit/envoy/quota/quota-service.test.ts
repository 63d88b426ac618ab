import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentTelemetry } from '../../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import { envoy } from '../../../../src/doors/envoy/generated/messages.js';
import type { GrpcMethod } from '../../../../src/doors/envoy/grpc/grpc-method.js';
import { limitedNames } from '../../../../src/doors/envoy/limited-names.js';
import { bucketTarget } from '../../../../src/doors/envoy/quota/bucket-targets.js';
import { QUOTA_SERVICE, QuotaService } from '../../../../src/doors/envoy/quota/quota-service.js';
import { NamesAsRules } from '../../../../src/doors/envoy/rules/names-as-rules.js';
import { createMemoryLog } from '../../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../../src/topic/memory/memory-topic.js';
import { runs } from '../../../property/seed.js';
import { WholeNode } from '../../../whole-node.js';
import { type GrpcCall, GrpcClient } from '../grpc-client.js';
import { ECHO, type GrpcScene, grpcScene } from '../grpc-scene.js';
import { domainsOf } from '../known-domains.js';

const { RateLimitQuotaUsageReports, RateLimitQuotaResponse } = envoy.service.rate_limit_quota.v3;
const PATH = `/${QUOTA_SERVICE}/StreamRateLimitQuotas`;
const quota = { publish: { messagesPerSecond: 100 } };
const INVALID_ARGUMENT = 3;

describe('a stream of the quota service', () => {
  let node: WholeNode;
  let service: QuotaService;
  let scene: GrpcScene;
  let client: GrpcClient;

  beforeEach(async () => {
    const written = { cluster: 'test', node: 'a', topic: 'memory', keys: { 'edge/user:{id}': { quota } } };
    const config = resolveConfig(written, { source: '(test)' });
    const topic = new MemoryTopic(createMemoryLog());
    const clock = () => performance.now();
    node = new WholeNode({ config, topic, telemetry: silentTelemetry, version: '0', nonce: 1, clock });
    await node.start();
    const { enforcers, gate, groups } = node;
    const rules = new NamesAsRules(limitedNames(node), clock);
    const targets = { gate, groups, rules, domains: domainsOf(rules) };
    const targetOf = (domain: string, id: Record<string, string>) => bucketTarget(targets, domain, id);
    service = new QuotaService({ enforcers, clock, targetOf });
    scene = await grpcScene({}, {}, service.methods as GrpcMethod[]);
    client = await GrpcClient.open(scene.url);
  });

  afterEach(async () => {
    await client.close();
    await scene.listener.close();
    await node.close();
  });

  const reportOf = (users: readonly string[], domain = 'edge') => {
    const bucketQuotaUsages = users.map((user) => ({ bucketId: { bucket: { user } }, numRequestsAllowed: 1 }));
    return RateLimitQuotaUsageReports.encode({ domain, bucketQuotaUsages }).finish();
  };
  const actionsOf = (message: Uint8Array) => RateLimitQuotaResponse.decode(message).bucketAction;
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('is told the share of a new bucket, and its end, as Envoy reads them', async () => {
    const call = client.call(PATH, { 'x-envoy-node': 'one' });
    call.send(reportOf(['alice']));
    const [action] = actionsOf(await call.message(0));
    expect(action?.bucketId?.bucket).toEqual({ user: 'alice' });
    const { assignmentTimeToLive, rateLimitStrategy } = action?.quotaAssignmentAction ?? {};
    expect(Number(assignmentTimeToLive?.seconds)).toBe(15);
    const { maxTokens, tokensPerFill, fillInterval } = rateLimitStrategy?.tokenBucket ?? {};
    const perSecond = Number(tokensPerFill?.value) / Number(fillInterval?.seconds);
    expect(perSecond).toBeGreaterThanOrEqual(99);
    expect(perSecond).toBeLessThanOrEqual(107);
    expect(maxTokens).toBeGreaterThanOrEqual(1);
    expect(node.enforcers.list(1)[0]?.enforcer).toMatch(/^one 127\.0\.0\.1:\d+ #1$/);
  });

  it('need name its domain in the first report alone', async () => {
    const call = client.call(PATH);
    call.send(reportOf(['alice']));
    await call.message(0);
    call.send(reportOf(['bob'], ''));
    const [action] = actionsOf(await call.message(1));
    expect(action?.quotaAssignmentAction?.rateLimitStrategy?.tokenBucket).toBeDefined();
  });

  it('gives back at once where it ends, in order or not', async () => {
    const ways: readonly ((call: GrpcCall) => void)[] = [
      ({ stream }) => stream.end(),
      ({ stream }) => stream.destroy(),
      () => client.session.destroy(),
    ];
    for (const [at, end] of ways.entries()) {
      const call = client.call(PATH);
      call.send(reportOf(['alice']));
      await call.message(0);
      expect([at, node.enforcers.alive, service.status.streams]).toEqual([at, 1, 1]);
      end(call);
      await until(() => node.enforcers.alive === 0 && service.status.streams === 0);
    }
    expect(service.status).toMatchObject({ streams: 0, buckets: 0, reports: ways.length });
  });

  it('ends with its mistake, and no other one does', async () => {
    const good = client.call(PATH);
    good.send(reportOf(['alice']));
    await good.message(0);
    const bad = client.call(PATH);
    bad.send(Uint8Array.of(0x0a, 0xff));
    expect((await bad.ended).status).toBe(INVALID_ARGUMENT);
    good.send(reportOf(['bob']));
    expect(actionsOf(await good.message(1))).toHaveLength(1);
  });

  it('has 1,500 buckets in one report: all are told, and who asks meanwhile is answered', async () => {
    const call = client.call(PATH);
    const users = Array.from({ length: 1500 }, (_, at) => `user-${at}`);
    call.send(reportOf(users));
    await call.message(0);
    expect(service.status.buckets).toBeLessThan(users.length);
    expect((await client.ask(ECHO, Buffer.from('meanwhile'))).status).toBe(0);
    const told = new Set<unknown>();
    let read = 0;
    await until(() => {
      // Each once: all of them at every look would take the time of the node.
      for (; read < call.messages.length; read++)
        for (const { bucketId } of actionsOf(call.messages[read]!)) told.add(bucketId?.bucket?.user);
      return told.size >= users.length;
    });
    expect(service.status).toMatchObject({ buckets: users.length, refused: {} });
  });

  it('takes whatever can be written as a report', async () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('user', 'edge', '__proto__', 'constructor', '', 'é', '~'));
    const id = fc.array(fc.tuple(text, text), { maxLength: 6 });
    const count = fc.oneof(fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER));
    const report = fc.record({ domain: text, usages: fc.array(fc.tuple(id, count, count), { maxLength: 5 }) });
    const call = client.call(PATH);
    await fc.assert(
      fc.asyncProperty(report, async ({ domain, usages }) => {
        const bucketQuotaUsages = usages.map(([entries, numRequestsAllowed, numRequestsDenied]) => {
          return { bucketId: { bucket: Object.fromEntries(entries) }, numRequestsAllowed, numRequestsDenied };
        });
        call.send(RateLimitQuotaUsageReports.encode({ domain, bucketQuotaUsages }).finish());
      }),
      runs(300),
    );
    const before = service.status.reports;
    call.send(reportOf(['the last'], 'edge'));
    await until(() => service.status.reports > before || call.stream.destroyed);
    await until(() =>
      call.messages.some((message) => actionsOf(message).some(({ bucketId }) => bucketId?.bucket?.user === 'the last')),
    );
    expect(node.enforcers.alive).toBe(1);
  });
});
