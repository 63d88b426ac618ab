import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createNode } from '../../src/doors/library/create-node.js';
import { Child } from '../../src/tools/processes/child.js';

const EXAMPLES = new URL('../../examples/', import.meta.url);

test('llm-prepaid.mjs: three processes and a rolling deploy charge a key what its answers cost, to the millionth of a cent', async () => {
  const state = await folder();
  const model = await pricedModel();
  const start = (id: string) => served('llm-prepaid.mjs', state, { UPSTREAM: model.url }, id);
  const gateways = await Promise.all(['a', 'b', 'c'].map(start));
  const rows = await traceRows(400);
  const told = { trial: { cents: 0, granted: 0, most: 0 }, alice: { cents: 0, granted: 0, most: 0 } };
  const startedMs = performance.now();
  let isOver = false;
  const client = async (key: 'trial' | 'alice', first: number) => {
    for (let at = first; !isOver; at++) {
      const { prompt, ...row } = rows[at % rows.length];
      const body = JSON.stringify({ user: key, messages: { prompt, ...row }, max_tokens: row.most });
      const headers = { authorization: `Bearer ${key}` };
      const { url } = gateways[at % 3];
      // A process that is replaced takes no new connections.
      const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
      const { cents = 0 } = ((await answer?.json()) ?? {}) as { cents?: number };
      if (answer?.status === 200) {
        told[key].cents += Math.round(1e6 * cents);
        told[key].granted++;
        told[key].most = Math.max(told[key].most, (body.length / 4) * 250 + row.most * 1000);
      } else await sleep(100);
    }
  };
  const clients = [0, 1, 2, 3, 4, 5].flatMap((at) => [client('trial', 7 * at), client('alice', 11 * at)]);
  await until(() => told.trial.granted > 2 && told.alice.granted > 2);
  for (const at of [0, 1, 2]) {
    const before = told.alice.granted;
    expect(await gateways[at].child.stop(10_000)).toMatchObject({ code: 0 });
    gateways[at] = await start('abc'[at]);
    await until(() => told.alice.granted > before);
  }
  const spent = () => 20e6 - told.trial.cents;
  await until(() => spent() < told.trial.most);
  await sleep(500);
  isOver = true;
  await Promise.all(clients);
  for (const { child } of gateways) await child.stop(10_000);
  const seconds = (performance.now() - startedMs) / 1000;

  console.log(`llm-prepaid.mjs: ${JSON.stringify(told)} in ${seconds.toFixed(1)} s, at once ${model.mostAtOnce()}`);
  const left = await leftIn(state, ['trial', 'alice']);
  expect(model.mostAtOnce()).toBeLessThanOrEqual(4);
  for (const [key, budget] of [
    ['trial', 20e6],
    ['alice', 2000e6],
  ] as const) {
    expect(told[key].cents).toBeLessThanOrEqual(budget);
    expect(told[key].granted).toBeLessThanOrEqual(3 * 60 + seconds);
    expect(Math.round(1e6 * (left.get(key) ?? 0))).toBe(budget - told[key].cents);
  }
}, 120_000);

interface TraceRow {
  readonly prompt: string;
  readonly context: number;
  readonly generated: number;
  readonly most: number;
}

/** The bundled trace: a prompt of as many tokens as each request had, and at most 2,000 to be generated. */
async function traceRows(count: number): Promise<TraceRow[]> {
  const text = await readFile(new URL('traces/azure-llm-code-2023.csv', EXAMPLES), 'utf8');
  return text
    .trim()
    .split('\n')
    .slice(1, count + 1)
    .map((line) => {
      const [, context, generated] = line.split(',').map(Number) as [number, number, number];
      return { prompt: 'word'.repeat(context), context, generated, most: 2000 };
    });
}

/** Answers after 30 ms with the usage of the trace, and counts requests of a user at once. */
async function pricedModel() {
  const atOnce = new Map<string, number>();
  let most = 0;
  const url = await listening(
    createServer(async (request, response) => {
      const { user, messages } = (await json(request)) as { user: string; messages: TraceRow };
      const running = (atOnce.get(user) ?? 0) + 1;
      atOnce.set(user, running);
      most = Math.max(most, running);
      await sleep(30);
      atOnce.set(user, (atOnce.get(user) ?? 0) - 1);
      const usage = { prompt_tokens: messages.context, completion_tokens: messages.generated };
      response.end(JSON.stringify({ usage }));
    }),
  );
  return { url, mostAtOnce: () => most };
}

/** Asks a node of its own what is left of the keys' budgets, when no other holds any of it. */
async function leftIn(state: string, keys: readonly string[]): Promise<Map<string, number>> {
  const budget = { cents: 2000, per: 'month', timezone: 'Europe/Berlin' };
  const templates = { 'llm:{key}': { budget, overrides: { trial: { budget: { cents: 20 } } } } };
  const topic = { kind: 'embedded', path: state };
  const config = { cluster: 'prepaid', topic, groups: {}, keys: templates };
  const node = await createNode({ nodeId: 'watcher', config });
  try {
    const left = new Map<string, number>();
    for (const key of keys) {
      await until(() => {
        const isThere = node.containsTokens(`llm:${key}`, { messages: 1, cents: 0 });
        const { budget } = node.budgetOf(`llm:${key}`);
        if (isThere && budget?.state === 'kept' && budget.held === 0) left.set(key, budget.remaining);
        return left.has(key);
      });
    }
    return left;
  } finally {
    await node.close();
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let left = 1200; !isSo(); left--) {
    if (left === 0) throw new Error('not so after a minute');
    await sleep(50);
  }
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

async function served(program: string, state: string, env: Readonly<Record<string, string>>, id: string) {
  const child = new Child([path(program), id, '0', state], { env: { ...process.env, ...env } });
  onTestFinished(() => child.stop(8000).then(() => undefined));
  await until(() => child.stdout.includes('http:') || !child.isRunning);
  const url = /http:\S+/.exec(child.stdout)?.[0];
  if (url === undefined) throw new Error(child.logEnd());
  return { url, child };
}

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'quotamesh-example-'));
  onTestFinished(() => rm(made, { recursive: true, force: true, maxRetries: 5 }));
  return made;
}

function path(program: string): string {
  return fileURLToPath(new URL(program, EXAMPLES));
}
