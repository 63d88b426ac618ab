import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Access } from '../../../../src/base/access/access.js';
import { silentTelemetry } from '../../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import type { ListenAddress } from '../../../../src/config/resolved/resolved-config.js';
import { EnvoyDoor } from '../../../../src/doors/envoy/envoy-door.js';
import { envoy } from '../../../../src/doors/envoy/generated/messages.js';
import { RuleFiles } from '../../../../src/doors/envoy/rules/rule-files.js';
import { metadataIn } from '../../../../src/doors/envoy/rules/rule-metadata.js';
import { startParts } from '../../../../src/node/loop/start-node.js';
import { type WholeNode, wholeNode } from '../../../whole-node.js';
import { GrpcClient } from '../grpc-client.js';
import { nameOf, SHOULD_RATE_LIMIT } from '../rls-scene.js';
import { entriesOf } from './rules-of.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
const { RateLimitUnit } = envoy.type.v3;

/** Rules of our own for what the README of envoyproxy/ratelimit says of requests (commit f2fb157). */
const RULES: Readonly<Record<string, string>> = {
  messaging: `
  - key: message_type
    value: marketing
    descriptors:
      - { key: to_number, rate_limit: { unit: day, requests_per_unit: 5 } }
  - { key: to_number, rate_limit: { unit: day, requests_per_unit: 100 } }`,
  per_ip: `
  - { key: remote_address, rate_limit: { unit: day, requests_per_unit: 10 } }
  - { key: remote_address, value: 50.0.0.5, rate_limit: { unit: second, requests_per_unit: 0 } }`,
  internal: `
  - { key: ldap, rate_limit: { unlimited: true } }
  - { key: azure, rate_limit: { unit: day, requests_per_unit: 2 } }`,
  shadowed: `
  - key: service
    descriptors:
      - { key: user, value: user-a, shadow_mode: true, rate_limit: { unit: day, requests_per_unit: 1 } }
      - { key: user, value: user-b, rate_limit: { unit: day, requests_per_unit: 2 } }`,
  replaced: `
  - key: key_1
    value: value_1
    descriptors:
      - { key: user, rate_limit: { name: specific_limit, unit: day, requests_per_unit: 5 } }
  - key: key_2
    value: value_2
    descriptors:
      - { key: user, rate_limit: { replaces: [{ name: specific_limit }], unit: day, requests_per_unit: 10 } }`,
  shared: `
  - { key: files, value: "files/*", share_threshold: true, rate_limit: { unit: day, requests_per_unit: 10 } }
  - { key: own, value: "own/*", rate_limit: { unit: day, requests_per_unit: 10 } }`,
  routed: `
  - key: model
    value: a
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 1 }
    metadata: { model: { name: a, cost: 2 } }
  - key: model
    value: b
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 2 }
    metadata: { model: { name: b, spare: "yes" } }`,
  tiers: `
  - { key: user, rate_limit: { unit: day, requests_per_unit: 2 } }`,
  units: `
  - { key: a, value: w, rate_limit: { unit: week, requests_per_unit: 3 } }
  - { key: a, value: m, rate_limit: { unit: MONTH, requests_per_unit: 4 } }
  - { key: a, value: y, rate_limit: { unit: Year, requests_per_unit: 5 } }
  - { key: a, rate_limit: { unit: year, requests_per_unit: 1 } }`,
  quotas: `
  - { key: model, value: a, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 2 } }
  - { key: model, value: b, quota_mode: true, rate_limit: { unit: day, requests_per_unit: 4 } }`,
};

let folder = '';
let rules: RuleFiles;
let node: WholeNode;
let door: EnvoyDoor;
let client: GrpcClient;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-documented-'));
  for (const [domain, descriptors] of Object.entries(RULES)) {
    writeFileSync(join(folder, `${domain}.yaml`), `domain: ${domain}\ndescriptors:${descriptors}\n`);
  }
  const perDay = (messages: number) => ({ quota: { publish: { messagesPerSecond: `${messages}/d` } } });
  const keys = { 'tiers/{descriptor}': { ...perDay(1), allowLimits: perDay(10) } };
  const raw = { cluster: `documented-${process.pid}`, node: 'a', topic: 'memory', keys };
  const config = resolveConfig({ ...raw, envoy: { listen: '127.0.0.1:0', rules: folder } }, { source: 'node.yaml' });
  rules = new RuleFiles(config, folder, silentTelemetry);
  node = await wholeNode(rules.book.config, silentTelemetry);
  const access = new Access(null, node.clock, silentTelemetry);
  door = new EnvoyDoor(node, config.envoy.listen as ListenAddress, silentTelemetry, access, rules.book);
  client = await GrpcClient.open(await door.listen());
  await startParts(node);
});

afterAll(async () => {
  rules.close();
  await client.close();
  await door.close();
  await node.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Asks for one request; `OK` or `OVER_LIMIT`. Behind a | stands a limit per day of the descriptor's own. */
async function ask(domain: string, ...descriptors: readonly string[]): Promise<string> {
  const all = descriptors.map((text) => {
    const [entries = '', limit] = text.split(' | ');
    const own = limit === undefined ? {} : { limit: { requestsPerUnit: Number(limit), unit: RateLimitUnit.DAY } };
    return { entries: entriesOf(entries), ...own };
  });
  const { messages } = await client.ask(
    SHOULD_RATE_LIMIT,
    RateLimitRequest.encode({ domain, descriptors: all }).finish(),
  );
  return nameOf(RateLimitResponse.decode(messages[0] as Buffer).overallCode);
}

/** Counts how many of so many requests pass. */
async function passed(times: number, domain: string, ...descriptors: readonly string[]): Promise<number> {
  let count = 0;
  for (let asked = 0; asked < times; asked++) if ((await ask(domain, ...descriptors)) === 'OK') count++;
  return count;
}

describe('documented, and asked over gRPC', () => {
  test('five marketing messages a day to each number, and a hundred of all kinds', async () => {
    expect(await passed(8, 'messaging', 'message_type=marketing, to_number=1')).toBe(5);
    expect(await passed(8, 'messaging', 'message_type=marketing, to_number=2')).toBe(5);
    expect(await passed(102, 'messaging', 'to_number=3')).toBe(100);
  });

  test('the request is over where one of its descriptors is', async () => {
    const both = ['message_type=marketing, to_number=4', 'to_number=4'];
    expect(await passed(8, 'messaging', ...both)).toBe(5);
    // The three that one refused are not charged to the other.
    expect(await passed(100, 'messaging', 'to_number=4')).toBe(95);
  });

  test('key and value go before the key alone', async () => {
    expect(await passed(3, 'per_ip', 'remote_address=50.0.0.5')).toBe(0);
    expect(await passed(12, 'per_ip', 'remote_address=50.0.0.1')).toBe(10);
  });

  test('a descriptor with more entries than levels, a value or a domain that nothing names: not limited', async () => {
    expect(await passed(20, 'per_ip', 'remote_address=50.0.0.5, path=/')).toBe(20);
    expect(await passed(20, 'messaging', 'message_type=marketing')).toBe(20);
    expect(await passed(20, 'nobody', 'remote_address=50.0.0.5')).toBe(20);
  });

  test('unlimited is never over', async () => {
    expect(await passed(20, 'internal', 'ldap=x')).toBe(20);
    expect(await passed(5, 'internal', 'azure=x', 'ldap=x')).toBe(2);
  });

  test('a limit of the descriptor goes before the rules, where a template of its name allows limits', async () => {
    expect(await passed(12, 'tiers', 'user=alice | 5')).toBe(5);
    expect(await passed(12, 'tiers', 'user=bob')).toBe(2);
    // No rule has it, and the limit holds.
    expect(await passed(12, 'tiers', 'app=x, path=/ | 3')).toBe(3);
    // More than is allowed: the template's own.
    expect(await passed(12, 'tiers', 'user=carol | 11')).toBe(1);
    // No template allows any: the rule.
    expect(await passed(12, 'per_ip', 'remote_address=50.0.0.9 | 3')).toBe(10);
  });

  test('a refusal tells file and line of its rule, domain and descriptor, and its bucket', async () => {
    const descriptors = [{ entries: entriesOf('remote_address=50.0.0.5') }];
    const request = RateLimitRequest.encode({ domain: 'per_ip', descriptors }).finish();
    const { messages } = await client.ask(SHOULD_RATE_LIMIT, request);
    const { dynamicMetadata } = RateLimitResponse.decode(messages[0] as Buffer);
    expect(metadataIn(dynamicMetadata ?? {})).toMatchObject({
      rule: 'per_ip: remote_address=50.0.0.5',
      place: `${join(folder, 'per_ip.yaml')}:4`,
      bucket: 'per_ip/remote_address:50.0.0.5',
    });
  });

  test('metadata of rules that let pass comes back, joined, the first before the second', async () => {
    const told: unknown[] = [];
    for (let asked = 0; asked < 3; asked++) {
      const descriptors = ['model=a', 'model=b'].map((text) => ({ entries: entriesOf(text) }));
      const request = RateLimitRequest.encode({ domain: 'routed', descriptors }).finish();
      const { messages } = await client.ask(SHOULD_RATE_LIMIT, request);
      const { dynamicMetadata } = RateLimitResponse.decode(messages[0] as Buffer);
      const { metadata = null } = dynamicMetadata == null ? {} : metadataIn(dynamicMetadata);
      told.push(metadata);
    }
    // Both have quota; then only the second; then none.
    const both = { model: { name: 'a', cost: 2, spare: 'yes' } };
    expect(told).toEqual([both, { model: { name: 'b', spare: 'yes' } }, null]);
  });

  test('shadow_mode is always OK', async () => {
    expect(await passed(20, 'shadowed', 'service=auth, user=user-a')).toBe(20);
    expect(await passed(5, 'shadowed', 'service=auth, user=user-b')).toBe(2);
  });

  test('a rule that replaces another one counts alone, and leaves the other one as it was', async () => {
    const [specific, wide] = ['key_1=value_1, user=bk', 'key_2=value_2, user=bk'];
    expect(await passed(12, 'replaced', specific, wide)).toBe(10);
    expect(await passed(8, 'replaced', specific)).toBe(5);
  });

  test('share_threshold: all values of a wildcard have one limit, others each their own', async () => {
    expect(await passed(5, 'shared', 'files=files/a.pdf')).toBe(5);
    expect(await passed(5, 'shared', 'files=files/b.csv')).toBe(5);
    expect(await passed(1, 'shared', 'files=files/c.txt')).toBe(0);
    expect(await passed(12, 'shared', 'own=own/a.pdf')).toBe(10);
    expect(await passed(12, 'shared', 'own=own/b.pdf')).toBe(10);
  });

  test('a week, a month and a year are units, too', async () => {
    expect(await passed(8, 'units', 'a=w')).toBe(3);
    expect(await passed(8, 'units', 'a=m')).toBe(4);
    expect(await passed(8, 'units', 'a=y')).toBe(5);
    expect(await passed(3, 'units', 'a=other')).toBe(1);
  });

  test('quota_mode: over where all such descriptors are', async () => {
    expect(await passed(8, 'quotas', 'model=a', 'model=b')).toBe(4);
  });
});
