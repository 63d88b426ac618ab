import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import type { XdsConfig } from '../../../../src/config/resolved/resolved-config.js';
import { XdsRules } from '../../../../src/doors/envoy/xds/xds-rules.js';
import { startParts } from '../../../../src/node/loop/start-node.js';
import { describeNode } from '../../../../src/node/status/describe-node.js';
import { blocksOf } from '../../../guides/page-blocks.js';
import { type WholeNode, wholeNode } from '../../../whole-node.js';
import { makeAuthority, makeCertificate } from '../../access/certificates.js';
import { entriesOf } from '../rules/rules-of.js';
import { ManagementServer, TYPE_URL } from './management-server.js';

const [SECOND, MINUTE, DAY, MONTH] = [1, 2, 4, 5];
const limit = (unit: number, requestsPerUnit: number) => ({ unit, requestsPerUnit });
const SHOP = {
  name: 'shop',
  domain: 'shop',
  descriptors: [
    { key: 'user', rateLimit: limit(DAY, 5) },
    { key: 'user', value: 'blocked', rateLimit: limit(SECOND, 0) },
    { key: 'plan', value: 'free', rateLimit: limit(MONTH, 2) },
  ],
};

let server: ManagementServer;
let rules: XdsRules;
let node: WholeNode;
let clusters = 0;
let log: { level: string; message: string; facts: object | undefined }[] = [];

beforeEach(() => {
  log = [];
  server = new ManagementServer();
});

afterEach(async () => {
  rules.close();
  await node.close();
  await server.close();
});

async function start(xds: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const telemetry = {
    log: (level: string, message: string, facts?: object) => {
      log.push({ level, message, facts });
    },
  };
  const envoy = { listen: '127.0.0.1:0', xds: { url: server.url, node: 'envoy-ratelimit', ...xds } };
  const cluster = `xds-${process.pid}-${clusters++}`;
  const config = resolveConfig({ cluster, node: 'a', topic: 'memory', envoy }, { source: 'node.yaml' });
  rules = new XdsRules(config, config.envoy.xds as XdsConfig, telemetry);
  node = await wholeNode(rules.book.config, telemetry);
  await startParts(node);
  rules.start(node.yaml);
}

/** Asks as a request of one descriptor does: true = granted, null = nothing limits it. */
function ask(descriptor: string, domain = 'shop'): boolean | null {
  const entries = entriesOf(descriptor);
  const rule = rules.book.find(domain, entries);
  return rule && node.gate.tryAcquire(rule.bucketOf(domain, entries), { messages: 1 }).granted;
}

const grants = (descriptor: string, times: number) => Array.from({ length: times }, () => ask(descriptor));

describe('a management server', () => {
  test('is asked by name and type, and its rules are in force and acknowledged', async () => {
    await server.listen();
    await start();
    const first = await server.request(1);
    expect(server.paths).toEqual(['/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources']);
    expect(first).toMatchObject({
      node: { id: 'envoy-ratelimit', userAgentName: 'quotamesh' },
      typeUrl: TYPE_URL,
      versionInfo: '',
      responseNonce: '',
      errorDetail: null,
    });
    expect(ask('user=blocked')).toBe(null);
    server.send('1', [SHOP]);
    expect(await server.request(2)).toMatchObject({ versionInfo: '1', responseNonce: 'n1', errorDetail: null });
    expect(grants('user=alice', 6)).toEqual([true, true, true, true, true, false]);
    expect(ask('user=blocked')).toBe(false);
    expect(grants('plan=free', 3)).toEqual([true, true, false]);
    expect(rules.status).toMatchObject({ isConnected: true, version: '1', lostBecause: null });
    expect(rules.book.status).toMatchObject({ source: server.url, domains: 1, rules: 3, taken: 1 });
  });

  test('that sends a mistake is told which resource has it, and the rules stay', async () => {
    await server.listen();
    await start();
    await server.request(1);
    server.send('1', [SHOP]);
    await server.request(2);
    const twice = [{ key: 'a' }, { key: 'a' }];
    server.send('2', [SHOP, { name: 'bad', domain: 'bad', descriptors: [{ key: 'k', descriptors: twice }] }]);
    const refused = await server.request(3);
    expect(refused).toMatchObject({ versionInfo: '1', responseNonce: 'n2', errorDetail: { code: 3 } });
    expect(refused.errorDetail?.message).toBe(
      'xds:bad: descriptors[0].descriptors[1] is the second descriptor "a" of this level, after descriptors[0].descriptors[0] of xds:bad. Remove or join one of the two.',
    );
    expect(ask('user=blocked')).toBe(false);
    expect(rules.book.status).toMatchObject({ taken: 1, refused: 1, refusedBecause: refused.errorDetail?.message });
    expect(log.filter(({ level }) => level === 'error')).toHaveLength(1);
    server.send('3', [{ ...SHOP, descriptors: SHOP.descriptors.slice(0, 1) }]);
    expect(await server.request(4)).toMatchObject({ versionInfo: '3', responseNonce: 'n3', errorDetail: null });
    expect(ask('user=blocked')).toBe(true);
    expect(rules.book.status.refusedBecause).toBe(null);
  });

  test.each([
    ['a unit that there is not', { unit: 99, requestsPerUnit: 1 }, /has unit "number 99"/],
    ['no unit', { requestsPerUnit: 1 }, /has no unit/],
    ['a unit beside unlimited', { unit: MINUTE, unlimited: true }, /has unit "minute" beside unlimited/],
  ])('that sends %s is refused', async (_, rateLimit, said) => {
    await server.listen();
    await start();
    await server.request(1);
    server.send('1', [{ name: 'x', domain: 'x', descriptors: [{ key: 'k', rateLimit }] }]);
    expect((await server.request(2)).errorDetail?.message).toMatch(said);
  });

  test('that sends what is no message, or another type, is refused', async () => {
    await server.listen();
    await start();
    await server.request(1);
    server.sendRaw('1', [Buffer.from([0x0a, 0xff, 0xff])]);
    expect((await server.request(2)).errorDetail?.message).toMatch(/it is no such message/);
    server.sendRaw('2', [], 'type.googleapis.com/envoy.config.cluster.v3.Cluster');
    expect((await server.request(3)).errorDetail?.message).toMatch(/were not asked for/);
  });

  test('that has no rules any more is followed, with a warning', async () => {
    await server.listen();
    await start();
    await server.request(1);
    server.send('1', [SHOP]);
    await server.request(2);
    server.send('2', []);
    expect(await server.request(3)).toMatchObject({ versionInfo: '2', errorDetail: null });
    expect(ask('user=blocked')).toBe(null);
    expect(log.filter(({ message }) => message === 'xDS has no rules: nothing is limited')).toMatchObject([
      { level: 'warn', facts: { before: 1 } },
    ]);
  });

  test('that is away leaves the rules as they are, and is asked again with the version in force', async () => {
    const url = await server.listen();
    await start();
    await server.request(1);
    server.send('1', [SHOP]);
    await server.request(2);
    await server.close();
    const again = new ManagementServer();
    await expect.poll(() => rules.status.isConnected, { timeout: 5000 }).toBe(false);
    expect(ask('user=blocked')).toBe(false);
    expect(describeNode(node).degraded).toEqual([expect.stringMatching(/^the server of Envoy's rules is away/)]);
    await again.listen(Number(new URL(url).port));
    server = again;
    expect(await server.request(1)).toMatchObject({
      versionInfo: '1',
      responseNonce: '',
      node: { id: 'envoy-ratelimit' },
    });
    server.send('2', [SHOP]);
    expect(await server.request(2)).toMatchObject({ versionInfo: '2' });
    expect(rules.status).toMatchObject({ isConnected: true, version: '2', lostBecause: null });
    expect(describeNode(node).degraded).toEqual([]);
    expect(log.filter(({ message }) => message === 'xDS server is away').length).toBeGreaterThan(0);
  }, 30_000);

  test('without the aggregated service is asked for the rules alone', async () => {
    server.unimplemented = ['/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources'];
    await server.listen();
    await start();
    await server.request(1);
    expect(server.paths.at(-1)).toBe(
      '/ratelimit.service.ratelimit.v3.RateLimitConfigDiscoveryService/StreamRlsConfigs',
    );
    server.send('1', [SHOP]);
    await server.request(2);
    expect(ask('user=blocked')).toBe(false);
  }, 30_000);
});

test('mTLS: the certificate of the server is checked, and ours is shown', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-xds-'));
  try {
    const authority = await makeAuthority(folder, 'ca');
    const [own, client] = await Promise.all([
      makeCertificate(folder, authority, { name: 'server', alternative: 'IP:127.0.0.1' }),
      makeCertificate(folder, authority, { name: 'client', alternative: 'DNS:client' }),
    ]);
    const { cert: ca } = authority;
    server = new ManagementServer({ key: own.key, cert: own.cert, ca });
    await server.listen();
    const tls = { ca, cert: client.cert, key: client.key };
    await start({ tls });
    await server.request(1);
    server.send('1', [SHOP]);
    await server.request(2);
    expect(ask('user=blocked')).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 30_000);

test('what Envoy Gateway renders has the buckets that its policies mean', async () => {
  await server.listen();
  await start();
  await server.request(1);
  const below = (key: string, descriptors: readonly object[]) => ({ key, value: key, descriptors: [...descriptors] });
  const route = 'httproute/default/backend/rule/0/match/0/www_example_com';
  const shared = 'default/policy-for-route/rule/1';
  server.send('1', [
    {
      name: 'default/eg/http',
      domain: 'default/eg/http',
      descriptors: [
        below(route, [
          { key: 'rule-0-match-0', rateLimit: limit(MINUTE, 2) },
          { key: 'rule-0-match-0', value: 'client-a', rateLimit: limit(MINUTE, 3) },
          { key: 'rule-2-match--1', value: 'rule-2-match--1', rateLimit: limit(DAY, 100), shadowMode: true },
        ]),
      ],
    },
    {
      name: shared,
      domain: shared,
      descriptors: [below(shared, [{ key: 'rule-1-match-0', value: 'rule-1-match-0', rateLimit: limit(DAY, 1) }])],
    },
  ]);
  expect((await server.request(2)).errorDetail).toBe(null);
  const asked = (client: string) => ask(`${route}=${route}, rule-0-match-0=${client}`, 'default/eg/http');
  expect(['bob', 'bob', 'bob', 'eve'].map(asked)).toEqual([true, true, false, true]);
  expect(['client-a', 'client-a', 'client-a', 'client-a'].map(asked)).toEqual([true, true, true, false]);
  const policy = () => ask(`${shared}=${shared}, rule-1-match-0=rule-1-match-0`, shared);
  expect([policy(), policy()]).toEqual([true, false]);
  const entries = entriesOf(`${route}=${route}, rule-0-match-0=bob`);
  expect(rules.book.find('default/eg/http', entries)?.bucketOf('default/eg/http', entries)).toBe(
    `default~2Feg~2Fhttp/${route.replaceAll('/', '~2F')}:/rule-0-match-0@bob`,
  );
});

test('the page’s configuration is valid, and what the gateway renders of the page’s policy has the page’s bucket', async () => {
  const [xds = '', policy = '', rendered = '', bucket = ''] = blocksOf('docs/guide/envoy-gateway.md').map(
    ({ text }) => text,
  );
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-gateway-'));
  try {
    mkdirSync(join(folder, 'certs'));
    const authority = await makeAuthority(folder, 'ca');
    const own = await makeCertificate(folder, authority, { name: 'tls', alternative: 'DNS:envoy-ratelimit' });
    for (const [name, text] of [
      ['ca.crt', authority.cert],
      ['tls.crt', own.cert],
      ['tls.key', own.key],
    ] as const)
      writeFileSync(join(folder, 'certs', name), text);
    const { envoy } = resolveConfig(
      { cluster: 'demo', topic: 'memory', ...parse(xds) },
      { source: 'node.yaml', folder },
    );
    expect(envoy.xds).toMatchObject({ url: 'https://envoy-gateway:18001', node: 'envoy-ratelimit' });
    expect(envoy.xds?.tls).toMatchObject({ ca: authority.cert.trim(), cert: own.cert.trim(), key: own.key.trim() });
    expect(envoy.tls).toMatchObject({ clientCertificates: 'required' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const [{ limit: asked }] = parse(policy).spec.rateLimit.global.rules;
  const { domain, descriptors } = parse(rendered);
  const [route] = descriptors;
  const [rule] = route.descriptors;
  expect(rule.rate_limit).toEqual({ unit: asked.unit.toLowerCase(), requests_per_unit: asked.requests });
  await server.listen();
  await start();
  await server.request(1);
  const below = { key: rule.key, rateLimit: limit(MINUTE, rule.rate_limit.requests_per_unit) };
  server.send('1', [
    { name: domain, domain, descriptors: [{ key: route.key, value: route.value, descriptors: [below] }] },
  ]);
  expect((await server.request(2)).errorDetail).toBe(null);
  const alice = `${route.key}=${route.value}, ${rule.key}=alice`;
  expect(Array.from({ length: 6 }, () => ask(alice, domain))).toEqual([true, true, true, true, true, false]);
  expect(rules.book.find(domain, entriesOf(alice))?.bucketOf(domain, entriesOf(alice))).toBe(bucket.trim());
});
