import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../src/tools/processes/node-process.js';
import { blocksOf } from '../guides/page-blocks.js';
import { startEnvoyFrom } from './envoy.js';
import { findEnvoy } from './envoy-package.js';

const PAGE = 'docs/guide/envoy-quotas.md';
const isHere = (await findEnvoy()) !== null;

it.runIf(isHere)(
  'the page’s Envoy asks the page’s node, and passes what is below the quota',
  async ({ onTestFinished }) => {
    const [http = 0, grpc = 0, front = 0, admin = 0, service = 0] = await freePorts(5);
    const ports = { 7070: http, 8081: grpc, 8000: front, 9901: admin, 9000: service };
    const blocks = blocksOf(PAGE, ports);
    const textOf = (language: string) => blocks.find((block) => block.language === language)?.text ?? '';
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-guide-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const configFile = join(folder, 'node.yaml');
    await writeFile(configFile, textOf('yaml'));
    const node = new NodeProcess({ id: 'a', port: http, configFile });
    onTestFinished(async () => void (await node.child.stop(8000)));
    await node.ready();
    const upstream = createServer((_, response) => response.end('ok')).listen(service, '127.0.0.1');
    onTestFinished(() => void upstream.close());
    const envoy = await startEnvoyFrom(JSON.parse(textOf('json')), { front, admin });
    onTestFinished(() => envoy.stop());
    const ask = async (tenant: string) => (await fetch(envoy.url, { headers: { 'x-tenant': tenant } })).status;
    for (const tenant of ['alice', 'alice', 'bob']) expect(await ask(tenant)).toBe(200);
    const quotaOf = async () => {
      const status = await (await fetch(`${node.url}/v1/envoy`)).json();
      return (status as { quota: object }).quota;
    };
    while (((await quotaOf()) as { buckets: number }).buckets < 2) await sleep(50);
    expect(await quotaOf()).toMatchObject({ streams: 1, refused: {} });
    const listed = await (await fetch(`${node.url}/v1/enforcers`)).json();
    expect(listed).toMatchObject({
      enforcers: [{ enforcer: expect.stringMatching(/^envoy-1 127\.0\.0\.1:\d+ #1$/), groups: 2 }],
    });
  },
);
