import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createNode } from '../../src/doors/library/create-node.js';
import { folder, listening, served, type TraceRow, traceRows } from '../integration/example-programs.js';

test('llm-prepaid.mjs: three processes and a rolling deploy charge a key what its answers cost, to the millionth of a cent', async () => {
  const state = await folder();
  const model = await pricedModel();
  const start = (id: string) => served('llm-prepaid.mjs', state, { UPSTREAM: model.url, id });
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
