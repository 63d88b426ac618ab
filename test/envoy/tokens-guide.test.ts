import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../src/tools/processes/node-process.js';
import { blocksOf } from '../guides/page-blocks.js';
import { startEnvoyFrom } from './envoy.js';
import { findEnvoy } from './envoy-package.js';

const isHere = (await findEnvoy()) !== null;
const QUOTA = 1_000_000;

/** The Envoy of the first page, with the filter, the domain and the limits of the other one. */
function bootstrapWith(whole: string, limits: string, filters: string) {
  const bootstrap = parse(whole);
  const manager = bootstrap.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  manager.http_filters[0].typed_config.domain = 'llm';
  manager.http_filters.unshift(...parse(filters).http_filters);
  const [route] = manager.route_config.virtual_hosts[0].routes;
  delete route.route.rate_limits;
  Object.assign(route, parse(limits));
  return bootstrap;
}

it.runIf(isHere)(
  'the page’s Envoy looks first, charges at the end, and what is too much is owed',
  async ({ onTestFinished }) => {
    const [http = 0, grpc = 0, front = 0, admin = 0, service = 0] = await freePorts(5);
    const ports = { 8081: grpc, 8000: front, 9901: admin, 9000: service };
    const yamlOf = (page: string) =>
      blocksOf(page, ports).flatMap(({ language, text }) => (language === 'yaml' ? [text] : []));
    const [config = '', whole = ''] = yamlOf('docs/guide/envoy.md');
    const [rules = '', limits = '', filters = ''] = yamlOf('docs/guide/envoy-tokens.md');
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-guide-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, 'rules'));
    await writeFile(join(folder, 'rules/llm.yaml'), rules);
    const { keys: _, envoy: listen, ...others } = parse(config);
    const configFile = join(folder, 'node.yaml');
    await writeFile(configFile, JSON.stringify({ ...others, envoy: { ...listen, rules: './rules' } }));
    const node = new NodeProcess({ id: 'a', port: http, configFile });
    onTestFinished(async () => void (await node.child.stop(8000)));
    await node.ready();
    const upstream = createServer(({ headers }, response) => {
      if (headers['x-breaks'] !== undefined) return void response.destroy();
      response.setHeader('x-tokens-used', headers['x-costs'] ?? '0').end('answer');
    }).listen(service, '127.0.0.1');
    onTestFinished(() => void upstream.close());
    const envoy = await startEnvoyFrom(bootstrapWith(whole, limits, filters), { front, admin });
    onTestFinished(() => envoy.stop());

    const counts = async () =>
      (await (await fetch(`${node.url}/v1/envoy`)).json()) as { descriptors: Record<string, number> };
    const ask = async (tenant: string, costs: number, more: Record<string, string> = {}) => {
      const { descriptors: before } = await counts();
      const total = ({ granted = 0, owed = 0, refused = 0 }: Record<string, number>) => granted + owed + refused;
      const { status, headers } = await fetch(envoy.url, {
        headers: { 'x-tenant': tenant, 'x-costs': `${costs}`, ...more },
      });
      // The look, and, unless it was refused, the charge that nobody waits for.
      const asked = total(before) + (status === 429 ? 1 : 2);
      if (more['x-breaks'] === undefined) while (total((await counts()).descriptors) < asked) await sleep(20);
      return [status, Number(headers.get('x-ratelimit-remaining'))];
    };
    expect(await ask('alice', 600_000)).toEqual([200, QUOTA]);
    expect((await ask('alice', 900_000))[0]).toBe(200);
    expect((await counts()).descriptors).toMatchObject({ owed: 1 });
    expect(await ask('alice', 1)).toEqual([429, 0]);
    // Another tenant, whose stream breaks without a count: nothing is charged.
    expect((await ask('bob', 700_000, { 'x-breaks': 'yes' }))[0]).toBe(503);
    expect(await ask('bob', 1)).toEqual([200, QUOTA]);
  },
);
