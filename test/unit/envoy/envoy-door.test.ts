import { afterEach, expect, test } from 'vitest';
import { Access } from '../../../src/base/access/access.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import type { ListenAddress } from '../../../src/config/resolved/resolved-config.js';
import { EnvoyDoor } from '../../../src/doors/envoy/envoy-door.js';
import { ENVOY_STATUS, envoyStatus } from '../../../src/doors/envoy/envoy-status.js';
import { grpc } from '../../../src/doors/envoy/generated/messages.js';
import { ENVOY_METRICS } from '../../../src/doors/telemetry/metric-table.js';
import { createMetrics } from '../../../src/doors/telemetry/metrics.js';
import { startParts } from '../../../src/node/loop/start-node.js';
import { prepareWholeNode } from '../../whole-node.js';
import { GrpcClient } from './grpc-client.js';

let close = async (): Promise<void> => undefined;
afterEach(() => close());

test('the door tells the health of its node, its status, and its metrics', async () => {
  const config = { cluster: `door-${process.pid}`, node: 'a', topic: 'memory', envoy: { listen: '127.0.0.1:0' } };
  const node = await prepareWholeNode({ config });
  const access = new Access(null, node.clock, silentTelemetry);
  const door = new EnvoyDoor(node, node.config.envoy.listen as ListenAddress, silentTelemetry, access);
  const client = await GrpcClient.open(await door.listen());
  close = async () => {
    await client.close();
    await door.close();
    await node.close();
  };
  const { HealthCheckResponse } = grpc.health.v1;
  const health = async () => {
    const { messages } = await client.ask('/grpc.health.v1.Health/Check', Buffer.alloc(0));
    return HealthCheckResponse.decode(messages[0]!).status;
  };
  expect(await health()).toBe(HealthCheckResponse.ServingStatus.NOT_SERVING);
  await startParts(node);
  expect(await health()).toBe(HealthCheckResponse.ServingStatus.SERVING);
  await client.ask('/envoy.Unknown/Method', Buffer.alloc(0));
  const status = ENVOY_STATUS.parse(envoyStatus(door));
  expect(status).toMatchObject({ connections: 1, openCalls: 0, failed: { GRPC_METHOD_UNKNOWN: 1 } });
  expect(status.url).toMatch(/^grpc:\/\/127\.0\.0\.1:\d+$/);
  const { text } = await createMetrics({ node, envoy: () => envoyStatus(door) }).scrape(undefined);
  for (const name of Object.keys(ENVOY_METRICS)) expect(text).toContain(`# HELP ${name} `);
  expect(text).toContain('quotamesh_envoy_connections 1');
  expect(text).toContain('quotamesh_envoy_failed_calls_total{code="GRPC_METHOD_UNKNOWN"} 1');
});
