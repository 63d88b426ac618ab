import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../src/tools/processes/node-process.js';
import { blocksOf } from '../guides/page-blocks.js';
import { startEnvoyFrom } from './envoy.js';
import { findEnvoy } from './envoy-package.js';

const PAGE = 'docs/guide/envoy.md';
const isHere = (await findEnvoy()) !== null;

it.runIf(isHere)(
  'the page’s Envoy asks the page’s node, and tells clients what is left',
  async ({ onTestFinished }) => {
    const [http = 0, grpc = 0, front = 0, admin = 0, service = 0] = await freePorts(5);
    const blocks = blocksOf(PAGE, { 7070: http, 8081: grpc, 8000: front, 9901: admin, 9000: service });
    const [config = '', bootstrap = ''] = blocks.filter(({ language }) => language === 'yaml').map(({ text }) => text);
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-guide-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const configFile = join(folder, 'node.yaml');
    await writeFile(configFile, config);
    const node = new NodeProcess({ id: 'a', port: http, configFile });
    onTestFinished(async () => void (await node.child.stop(8000)));
    await node.ready();
    const upstream = createServer((_, response) => response.end('ok')).listen(service, '127.0.0.1');
    onTestFinished(() => void upstream.close());
    const envoy = await startEnvoyFrom(parse(bootstrap), { front, admin });
    onTestFinished(() => envoy.stop());
    const ask = (user: string) => fetch(envoy.url, { headers: { 'x-user': user } });
    const { status, headers } = await ask('alice');
    expect(status).toBe(200);
    expect(headers.get('x-ratelimit-limit')).toBe('600, 600;w=60;name="edge/user:{id}"');
    expect(headers.get('x-ratelimit-remaining')).toBe('599');
    const answers: Response[] = [];
    while (answers.length < 700) answers.push(...(await Promise.all(Array.from({ length: 20 }, () => ask('alice')))));
    const refused = answers.filter(({ status }) => status === 429);
    // All of a minute at once, and ten a second while they were sent.
    expect(refused.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(599);
    expect(refused[0]?.headers.get('x-ratelimit-remaining')).toBe('0');
    expect((await ask('bob')).status).toBe(200);
    expect(await envoy.stat('cluster.service.ratelimit.over_limit')).toBe(refused.length);
  },
);
