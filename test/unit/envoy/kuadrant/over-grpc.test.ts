import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Access } from '../../../../src/base/access/access.js';
import { silentTelemetry } from '../../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../../src/config/read/resolve-config.js';
import type { ListenAddress } from '../../../../src/config/resolved/resolved-config.js';
import { EnvoyDoor } from '../../../../src/doors/envoy/envoy-door.js';
import { ENVOY_STATUS, envoyStatus } from '../../../../src/doors/envoy/envoy-status.js';
import { envoy, kuadrant } from '../../../../src/doors/envoy/generated/messages.js';
import { KUADRANT_SERVICE } from '../../../../src/doors/envoy/kuadrant/kuadrant-service.js';
import { RuleFiles } from '../../../../src/doors/envoy/rules/rule-files.js';
import { ENVOY_METRICS } from '../../../../src/doors/telemetry/metric-table.js';
import { createMetrics } from '../../../../src/doors/telemetry/metrics.js';
import { startParts } from '../../../../src/node/loop/start-node.js';
import { wholeNode } from '../../../whole-node.js';
import { GrpcClient } from '../grpc-client.js';
import { entriesOf } from '../rules/rules-of.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;
const { ReserveRequest, ReserveResponse } = kuadrant.service.ratelimit.v1;
const RULES = 'domain: models\ndescriptors:\n  - key: user\n    rate_limit: { unit: day, requests_per_unit: 10 }\n';

test('rules of a file limit what a gateway asks, and status and metrics tell of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-kuadrant-'));
  writeFileSync(join(folder, 'models.yaml'), RULES);
  const raw = { cluster: `grpc-${process.pid}`, node: 'a', topic: 'memory' };
  const config = resolveConfig({ ...raw, envoy: { listen: '127.0.0.1:0', rules: folder } }, { source: 'node.yaml' });
  const rules = new RuleFiles(config, folder, silentTelemetry);
  const node = await wholeNode(rules.book.config, silentTelemetry);
  const access = new Access(null, node.clock, silentTelemetry);
  const door = new EnvoyDoor(node, config.envoy.listen as ListenAddress, silentTelemetry, access, rules.book);
  const client = await GrpcClient.open(await door.listen());
  rules.start(node.yaml);
  onTestFinished(async () => {
    rules.close();
    await client.close();
    await door.close();
    await node.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const descriptors = [{ entries: entriesOf('user=alice') }];
  const check = async () => {
    const request = RateLimitRequest.encode({ domain: 'models', descriptors }).finish();
    return await client.ask(`/${KUADRANT_SERVICE}/CheckRateLimit`, request);
  };
  // Before the node decides, the gateway has to know that nobody has: failure_mode_deny says what then.
  expect(await check()).toMatchObject({ status: 14 });
  await startParts(node);
  const codeNow = async () => RateLimitResponse.decode((await check()).messages[0] as Buffer).overallCode;
  expect(await codeNow()).toBe(RateLimitResponse.Code.OK);
  const request = ReserveRequest.encode({ domain: 'models', descriptors, amount: 10 }).finish();
  const { messages } = await client.ask(`/${KUADRANT_SERVICE}/Reserve`, request);
  expect(ReserveResponse.decode(messages[0] as Buffer).reservationId).not.toBe('');
  expect(await codeNow()).toBe(RateLimitResponse.Code.OVER_LIMIT);
  const status = ENVOY_STATUS.parse(envoyStatus(door, rules));
  expect(status.rules).toMatchObject({ source: folder, domains: 1, rules: 1, refusedBecause: null });
  expect(status).toMatchObject({ xds: null, reservations: { open: 1, committed: 0, expired: 0 } });
  const { text } = await createMetrics({ node, envoy: () => envoyStatus(door, rules) }).scrape(undefined);
  for (const name of Object.keys(ENVOY_METRICS)) expect(text).toContain(`# HELP ${name} `);
  expect(text).toContain('quotamesh_envoy_rules 1');
  expect(text).toContain('quotamesh_envoy_reservations 1');
});
