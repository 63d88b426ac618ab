import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { envoy } from '../../../src/doors/envoy/generated/messages.js';
import { createNode } from '../../../src/doors/library/create-node.js';
import { GrpcClient } from '../envoy/grpc-client.js';
import { nameOf, SHOULD_RATE_LIMIT } from '../envoy/rls-scene.js';

const { RateLimitRequest, RateLimitResponse } = envoy.service.ratelimit.v3;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A node of `createNode` that listens for Envoy, and a client of it. */
async function start(settings: object, keys: object = {}) {
  let address = '';
  const telemetry = {
    log: (_: string, message: string, facts: { url?: string } = {}) => {
      if (message === 'envoy listening') address = facts.url!;
    },
  };
  const config = { cluster: 'envoy-inside', node: 'a', topic: 'memory', keys };
  const node = await createNode({
    config: { ...config, envoy: { listen: '127.0.0.1:0', ...settings } },
    env: {},
    telemetry,
    http: '127.0.0.1:0',
  });
  const client = await GrpcClient.open(address);
  open.push(
    () => node.close(),
    () => client.close(),
  );
  const ask = async () => {
    const entries = [{ key: 'user', value: 'alice' }];
    const request = RateLimitRequest.encode({ domain: 'edge', descriptors: [{ entries }] }).finish();
    const { messages, text } = await client.ask(SHOULD_RATE_LIMIT, request);
    return messages[0] === undefined ? text : nameOf(RateLimitResponse.decode(messages[0]).overallCode);
  };
  return { node, ask, status: async () => (await fetch(`${node.http!.url}/v1/envoy`)).json() };
}

describe('a node inside of a service that Envoy asks', () => {
  test('answers gRPC as the configuration says, tells so over HTTP, and ends with the node', async () => {
    const { node, ask, status } = await start(
      {},
      { 'edge/user:{id}': { quota: { publish: { messagesPerSecond: '1/d' } } } },
    );
    expect([await ask(), await ask()]).toEqual(['OK', 'OVER_LIMIT']);
    expect(await status()).toMatchObject({ requests: { ok: 1, overLimit: 1 }, connections: 1, rules: null });
    await node.close();
    await expect(ask()).rejects.toThrow();
  });

  test('follows rules of ratelimit', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quotamesh-inside-'));
    open.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'edge.yaml');
    const write = (limit: number) => {
      const rule = `{ key: user, rate_limit: { unit: day, requests_per_unit: ${limit} } }`;
      writeFileSync(file, `domain: edge\ndescriptors:\n  - ${rule}\n`);
    };
    write(0);
    const { ask } = await start({ rules: folder });
    expect(await ask()).toBe('OVER_LIMIT');
    write(1000);
    while ((await ask()) !== 'OK') await sleep(50);
  });

  test('is refused by name where somebody listens already', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    open.push(() => server.close());
    const { port } = server.address() as { port: number };
    await expect(start({ listen: `127.0.0.1:${port}` })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
  });
});
