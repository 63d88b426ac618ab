import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Access } from '../../src/base/access/access.js';
import { createAcquireOutcomes } from '../../src/doors/http/acquire/acquire-answers.js';
import { createNode } from '../../src/doors/library/create-node.js';
import { admissionOf } from '../../src/doors/services/admission.js';
import { createMetrics } from '../../src/doors/telemetry/metrics.js';
import type { BudgetStatus } from '../../src/node/api/node-status.js';
import type { BudgetSpent, QuotaNode } from '../../src/node/api/quota-node.js';
import { partsOf } from '../../src/node/loop/parts-of.js';
import { explanationText } from '../../src/tools/cli/look/explanation-text.js';
import { runInProcess } from '../unit/cli/run-in-process.js';

const BUDGET = 1000;
const PLAN = { budget: { messages: BUDGET, per: 'total' } };
const groups = {
  plan: PLAN,
  bytes: { budget: { bytes: 4096, per: 'year', timezone: 'Asia/Kathmandu' } },
  rated: { budget: { messages: 100, per: 'month' }, quota: { publish: { messagesPerSecond: '5/h' } } },
  strict: { budget: { messages: 8, per: 'week' }, promise: 'strict', quota: { publish: { messagesPerSecond: 50 } } },
  model: { budget: { tokens: 10_000, per: 'month', timezone: 'Europe/Berlin' } },
  prepaid: { budget: { cents: 20, per: 'total' }, concurrency: 4, quota: { publish: { messagesPerSecond: '60/min' } } },
  free: {},
};

/** Lines of all nodes’ logs. */
const lines: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'quotamesh-budget-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function optionsOf(nodeId: string) {
  const metrics = { perGroup: 'all' };
  const config = { cluster: 'budgets', topic: { kind: 'embedded', path: folder }, groups, metrics };
  const telemetry = { log: (_: string, message: string) => void lines.push(message) };
  return { config, nodeId, telemetry } as Parameters<typeof createNode>[0];
}

async function nodeOf(nodeId: string): Promise<QuotaNode> {
  return createNode(optionsOf(nodeId));
}

async function metricsOf(quotaNode: QuotaNode): Promise<string> {
  const node = partsOf(quotaNode);
  const access = new Access(node.config.auth, node.clock, { log: () => {} });
  const sources = { node, access, outcomes: createAcquireOutcomes(), incidents: { unhandledRejections: 0 } };
  return (await createMetrics(sources).scrape(undefined)).text;
}

function budgetOf(node: QuotaNode, group = 'plan'): BudgetStatus {
  return node.groupStatus(group).budget as BudgetStatus;
}

async function untilKept(nodes: readonly QuotaNode[]): Promise<void> {
  const isKept = (node: QuotaNode) =>
    ['plan', 'bytes', 'rated', 'strict', 'model', 'prepaid'].every((name) => budgetOf(node, name).state === 'kept') &&
    node.groupStatus('strict').directions.publish.strict?.state === 'kept';
  await vi.waitUntil(() => nodes.every(isKept), { timeout: 30_000 });
}

/** Asks in turn until nobody gets anything; returns how much was granted. */
async function spendAll(nodes: readonly QuotaNode[], group = 'plan', messages = 7): Promise<number> {
  let granted = 0;
  let refused = 0;
  for (let at = 0; refused < 4 * nodes.length; at++) {
    const amount = refused > nodes.length ? 1 : messages;
    const decision = await nodes[at % nodes.length].acquire(group, { messages: amount }, { waitMs: 500 });
    refused = decision.granted ? 0 : refused + 1;
    granted += decision.granted ? amount : 0;
  }
  return granted;
}

describe('two nodes of one folder', () => {
  let nodes: QuotaNode[] = [];
  beforeAll(async () => {
    nodes = await Promise.all(['a', 'b'].map(nodeOf));
    await untilKept(nodes);
  }, 60_000);
  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  test('spend a budget once, say what is left, and begin none anew by a redeploy', async () => {
    await vi.waitUntil(() => lines.includes('budget begins full: no node and no log knew what was spent'), 10_000);
    const first = await nodes[0].acquire('plan', { messages: 400 }, { waitMs: 5000 });
    expect(first).toMatchObject({ granted: true, budget: { unit: 'messages', limit: BUDGET, remaining: 600 } });
    for (const node of nodes.splice(0)) await node.close();
    nodes = await Promise.all(['a', 'c'].map(nodeOf));
    await untilKept(nodes);
    expect(budgetOf(nodes[1])).toMatchObject({ remaining: 600, limit: BUDGET, from: null, until: null });
    const told: BudgetSpent[] = [];
    nodes[0].onBudget = (spent) => told.push(spent);
    const granted = 400 + (await spendAll(nodes));
    const whole = { group: 'plan', percent: 100, limit: BUDGET, unit: 'messages' };
    await expect.poll(() => told, { timeout: 5000 }).toContainEqual(expect.objectContaining(whole));
    expect(granted).toBeLessThanOrEqual(BUDGET);
    expect(granted).toBeGreaterThanOrEqual(0.995 * BUDGET);
    expect(lines.filter((line) => line.endsWith('%'))).toEqual(
      expect.arrayContaining(['budget is spent to 80 %', 'budget is spent to 100 %']),
    );
    const text = await metricsOf(nodes[0]);
    for (const metric of [
      'kept{group="plan"} 1',
      `limit{group="plan"} ${BUDGET}`,
      'remaining{group="plan"} 0',
      'warned_ratio{group="plan"} 1',
    ])
      expect(text).toContain(`quotamesh_group_budget_${metric}`);
    expect(text).toMatch(/budget_period_end_seconds\{group="bytes"\} 1\d{9}\n/);
    const refused = nodes[1].tryAcquire('plan', { messages: 50 });
    expect(refused).toMatchObject({ granted: false, reason: 'quota', level: 'budget', dimension: 'messages' });
    expect(explanationText(nodes[1].explain('plan'))).toMatch(
      /^ +budget +0 of 1000 messages per total left without end: /m,
    );
    expect(nodes[1].tryAcquire('free', { messages: 50 })).toEqual({ granted: true });
  });

  test('a budget in bytes ends with the year of its zone', async () => {
    const decision = await nodes[0].acquire('bytes', { messages: 1, bytes: 4000 }, { waitMs: 5000 });
    expect(decision).toMatchObject({ granted: true, budget: { unit: 'bytes', remaining: 96 } });
    const refused = await nodes[1].acquire('bytes', { messages: 1, bytes: 97 }, { waitMs: 50 });
    expect(refused).toMatchObject({ granted: false, level: 'budget', dimension: 'bytes' });
    // Midnight there is 18:15 UTC.
    expect(budgetOf(nodes[1], 'bytes').until).toMatch(/-12-31T18:15:00.000Z$/);
    expect(await nodes[0].acquire('bytes', { messages: 1 }, { waitMs: 0 })).toMatchObject({ granted: true });
  });

  test('what the rate refuses costs nothing of the budget', async () => {
    const ask = () => nodes[0].acquire('rated', { messages: 1 }, { waitMs: 50 });
    let granted = 0;
    for (let at = 0; at < 20; at++) granted += (await ask()).granted ? 1 : 0;
    expect(granted).toBeGreaterThan(0);
    expect(granted).toBeLessThanOrEqual(6);
    expect(await ask()).toMatchObject({ granted: false, level: 'group' });
    await expect.poll(() => budgetOf(nodes[0], 'rated').remaining, { timeout: 10_000 }).toBe(100 - granted);
  });

  test('a request names its tokens for the budget alone, and none at a budget in tokens is a mistake', async () => {
    const asked = { messages: 1, tokens: 1830 };
    const granted = await nodes[0].acquire('model', asked, { waitMs: 5000 });
    expect(granted).toMatchObject({ granted: true, budget: { unit: 'tokens', limit: 10_000, remaining: 8170 } });
    expect(nodes[0].tryAcquire('free', asked)).toEqual({ granted: true });
    const above = await nodes[1].acquire('model', { messages: 1, tokens: 8171 }, { waitMs: 50 });
    expect(above).toMatchObject({ granted: false, level: 'budget', dimension: 'tokens' });
    const never = nodes[1].tryAcquire('model', { messages: 1, tokens: 2 ** 53 - 1 });
    expect(never).toMatchObject({ granted: false, level: 'budget' });
    expect(() => nodes[1].tryAcquire('model', { messages: 1, cents: 3 })).toThrow(/budget in tokens, and the request/);
    expect(() => nodes[1].tryAcquire('model', { messages: 1, tokens: 1.5 })).toThrow(/tokens must be a whole number/);
    expect(() => nodes[1].tryAcquire('model', { messages: 2, tokens: 5 }, { atMost: true })).toThrow(/atMost/);
    const admit = (tokens: number) => admissionOf(nodes[0], { group: 'model', tokens: () => tokens })({});
    expect(await admit(70)).toMatchObject({ refusal: null });
    await expect.poll(() => budgetOf(nodes[1], 'model').remaining, { timeout: 10_000 }).toBe(8100);
    expect(await admit(0.5)).toMatchObject({ refusal: { status: 422 } });
    expect(nodes[0].explain('model').directions.publish.local.refusedBecause).toEqual([]);
    expect(nodes[1].explain('model').directions.publish.local.refusedBecause).toMatchObject([
      { level: 'budget', dimension: 'tokens', count: 2 },
    ]);
  });

  test('cents are exact to the sixth decimal, over nodes, slots and gifts', async () => {
    const spent = [0.1, 0.2, 0.000001, 12.345678, 1.4];
    for (const [at, cents] of spent.entries()) {
      const slot = await nodes[at % 2].enter('prepaid', { messages: 1, cents }, { waitMs: 5000 });
      expect(slot.granted).toBe(true);
      if (slot.granted) slot.release();
    }
    const left = 5.954321;
    await expect.poll(() => budgetOf(nodes[0], 'prepaid').spent, { timeout: 10_000 }).toBe(14.045679);
    expect(budgetOf(nodes[1], 'prepaid')).toMatchObject({ unit: 'cents', limit: 20, remaining: left });
    const one = await nodes[1].enter('prepaid', { messages: 1, cents: left + 0.000001 }, { waitMs: 50 });
    expect(one).toMatchObject({ granted: false, decision: { level: 'budget', dimension: 'cents' } });
    expect(() => nodes[1].tryEnter('prepaid', { messages: 1, cents: 0.0000001 })).toThrow(/at most six decimals/);
    const gift = nodes[0].giveBudget('prepaid', { id: 'card', amount: 0.000001 });
    expect(await gift).toMatchObject({ isCounted: true, budget: { limit: 20.000001 } });
    await expect(nodes[0].giveBudget('prepaid', { id: 'odd', amount: 0.0000001 })).rejects.toThrow(/six decimals/);
    await expect(nodes[0].giveBudget('prepaid', { id: 'all', amount: 2_251_799_813 })).rejects.toThrow(/raise/);
    const all = await nodes[1].enter('prepaid', { messages: 1, cents: left + 0.000001 }, { waitMs: 5000 });
    expect(all.granted).toBe(true);
    if (all.granted) all.release();
    expect(nodes[0].budgetOf('prepaid').gifts).toMatchObject([{ id: 'card', amount: 0.000001, counts: 0.000001 }]);
    await expect.poll(() => metricsOf(nodes[0])).toContain('budget_spent{group="prepaid"} 20.000001\n');
  });

  test('who enters with an estimate is charged what was used, also where no slots are limited', async () => {
    const enter = async (group: string, amounts: object) => {
      const slot = await nodes[0].enter(group, { messages: 1, ...amounts }, { waitMs: 5000 });
      if (!slot.granted) throw new Error(slot.because);
      return slot;
    };
    const before = { model: budgetOf(nodes[0], 'model').spent, card: 20.000001 };
    await nodes[0].giveBudget('prepaid', { id: 'more', amount: 100 });
    const [one, two, three] = [
      await enter('prepaid', { cents: 60 }),
      await enter('model', { tokens: 500 }),
      await enter('model', { tokens: 700 }),
    ];
    // Nobody else may spend what is held.
    expect(await nodes[1].enter('prepaid', { messages: 1, cents: 41 }, { waitMs: 50 })).toMatchObject({
      granted: false,
    });
    expect(() => one.release({ cents: 60.000001 })).toThrow(/cents must be at most the 60 that were entered with/);
    expect(() => one.release({ cents: -1 })).toThrow(/cents must be a number of at most six decimals/);
    expect([one.release({ cents: 19.999999 }), one.release({ cents: 0 })]).toEqual(['released', 'released-before']);
    expect([two.release({ tokens: 0 }), three.release()]).toEqual(['released', 'released']);
    await expect.poll(() => budgetOf(nodes[1], 'prepaid').spent, { timeout: 10_000 }).toBe(before.card + 19.999999);
    await expect.poll(() => budgetOf(nodes[1], 'model').spent, { timeout: 10_000 }).toBe(before.model + 700);
    // Work that a node leaves behind as it stops is charged whole.
    const third = await nodeOf('left-behind');
    await untilKept([third]);
    const left = await third.enter('model', { messages: 1, tokens: 7 }, { waitMs: 20_000 });
    expect(left.granted).toBe(true);
    await third.close();
    await expect.poll(() => budgetOf(nodes[1], 'model').spent, { timeout: 10_000 }).toBe(before.model + 707);
    expect(budgetOf(nodes[1], 'model').lost).toBe(0);
    const rest = await nodes[1].enter('prepaid', { messages: 1, cents: 80.000001 }, { waitMs: 5000 });
    expect(rest).toMatchObject({ granted: true });
    if (rest.granted) rest.release();
  });

  test('a strict rate and a budget decide together', async () => {
    expect(await spendAll(nodes, 'strict', 1)).toBe(8);
  });

  test('work that is not asked for, or ends later, is refused by name', () => {
    for (const act of [
      () => nodes[0].consume('plan', { messages: 1 }),
      () => nodes[0].reserve('plan', { messages: 1 }),
    ])
      expect(act).toThrow(/plan has a budget/);
  });

  test('a budget that is raised at run time has more at once', async () => {
    await nodes[0].groups.patch('plan', { budget: { messages: BUDGET + 50, per: 'total' } });
    await expect.poll(() => budgetOf(nodes[1]).limit, { timeout: 10_000 }).toBe(BUDGET + 50);
    const more = await spendAll(nodes);
    expect(more).toBeLessThanOrEqual(55);
    expect(more).toBeGreaterThanOrEqual(50);
    await nodes[0].groups.delete('plan');
    await expect.poll(() => budgetOf(nodes[1]).limit, { timeout: 10_000 }).toBe(BUDGET);
    expect(budgetOf(nodes[1]).remaining).toBe(0);
  });

  test('gifts count once, and a reset is another', async () => {
    const listening = await createNode({ ...optionsOf('d'), http: '127.0.0.1:0' });
    nodes.push(listening);
    const url = listening.http?.url;
    const give = async (gift: object, group = 'bytes') => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}/v1/groups/${group}/budget`, {
        method: 'POST',
        headers,
        body: JSON.stringify(gift),
      });
      return [answer.status, await answer.json()];
    };
    const before = budgetOf(nodes[0], 'bytes').limit;
    await vi.waitUntil(async () => (await give({ id: 'invoice 7', amount: 100 }))[0] === 200, { timeout: 20_000 });
    expect(await give({ id: 'invoice 7', amount: 100 })).toMatchObject([200, { isCounted: false }]);
    await expect.poll(() => budgetOf(nodes[0], 'bytes').limit).toBe(before + 100);
    expect(await give({ id: 'reset 1', reset: true })).toMatchObject([200, { isCounted: true }]);
    expect(budgetOf(nodes[0], 'bytes').remaining).toBeGreaterThan(3900);
    for (const wrong of [{ id: 'x' }, { id: 'x', amount: 5, reset: true }, { amount: 5 }])
      expect((await give(wrong))[0]).toBe(422);
    expect((await give({ id: 'x', amount: 1 }, 'free'))[0]).toBe(422);
    const given = await nodes[0].giveBudget('bytes', { id: 'case 3', amount: 10 }, { by: 'support' });
    expect(given).toMatchObject({ id: 'case 3', isCounted: true, budget: { unit: 'bytes' } });
    const budget = (...args: string[]) => runInProcess(['budget', ...args, '--url', String(url)]);
    const raised = await budget('top-up', 'bytes', '2k', '--id', 'invoice 8');
    expect(raised).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^invoice 8 counts\. bytes: \d+ of \d+ bytes per/),
    });
    const again = await budget('top-up', 'bytes', '2k', '--id', 'invoice 8');
    expect(again.stdout).toMatch(/^invoice 8 had counted before/);
    expect(await budget('top-up', 'bytes', '-1')).toMatchObject({ code: 2, stderr: expect.stringMatching(/above 0/) });
    expect((await budget('reset', 'free')).code).toBe(78);
    // Every node knows who gave what.
    const known = (id: string) => nodes[0].budgetOf('bytes').gifts.some((gift) => gift.id === id);
    await vi.waitUntil(() => known('invoice 8'), { timeout: 10_000 });
    const gifts = nodes[0].budgetOf('bytes').gifts.map(({ id, amount, who }) => [id, amount, who]);
    expect(gifts).toEqual([
      ['invoice 7', 100, 'loopback (open)'],
      ['reset 1', null, 'loopback (open)'],
      ['case 3', 10, 'support (library)'],
      ['invoice 8', 2000, 'loopback (open)'],
    ]);
    const shown = await budget('show', 'bytes');
    expect(shown.stdout).toMatch(/\n\d{4}-\S+Z support \(library\) case 3: 10 given\n/);
    expect(shown.stdout).toMatch(/ reset 1: reset, \d+ counted\n/);
  });

  test('over HTTP a request names its tokens, and another unit is another budget, which is told', async () => {
    const [url] = nodes.flatMap(({ http }) => http?.url ?? []);
    const send = async (path: string, body: object, method = 'POST'): Promise<Readonly<Record<string, unknown>>> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
      const told = (await answer.json()) as object;
      return { status: answer.status, field: answer.headers.get('ratelimit'), ...told };
    };
    const ask = (more: object) => send('/v1/acquire', { group: 'model', messages: 1, ...more });
    const before = budgetOf(nodes[0], 'model').remaining;
    await vi.waitUntil(async () => (await ask({ tokens: 10 })).granted === true, { timeout: 20_000 });
    const granted = await ask({ tokens: 10, cents: 0.5 });
    expect(granted).toMatchObject({ status: 200, budget: { unit: 'tokens', remaining: before - 20 } });
    expect(granted.field).toMatch(new RegExp(`"model-budget-tokens";r=${before - 20};t=`));
    expect(await ask({})).toMatchObject({ status: 400, code: 'BUDGET_AMOUNT_MISSING' });
    expect(await ask({ tokens: -1 })).toMatchObject({ status: 422, code: 'AMOUNT_INVALID' });
    const refused = await ask({ tokens: before });
    expect(refused).toMatchObject({ status: 429, level: 'budget', dimension: 'tokens' });
    expect(refused['violated-policies']).toEqual(['model-budget-tokens']);
    const slot = await send('/v1/slots', { group: 'prepaid', cents: 21, waitMs: 5000 });
    expect(slot).toMatchObject({ status: 429, dimension: 'cents', budget: { remaining: 0 } });
    await nodes[0].giveBudget('prepaid', { id: 'last', amount: 5 });
    const held = await send('/v1/slots', { group: 'prepaid', cents: 5, waitMs: 5000 });
    expect(held).toMatchObject({ status: 200, granted: true });
    const release = (cents: number) => send('/v1/slots/release', { id: held.id, cents });
    expect(await release(5.1)).toMatchObject({ status: 422, code: 'AMOUNT_INVALID' });
    expect(await release(1.25)).toMatchObject({ status: 200, ended: 'released' });
    await expect.poll(() => budgetOf(nodes[0], 'prepaid').remaining, { timeout: 10_000 }).toBe(3.75);
    const cents = { budget: { tokens: null, cents: 100 } };
    const warning = expect.stringMatching(/budget in cents is another one than that in tokens: it begins full/);
    const preview = await send('/v1/groups/model?dryRun=true', cents, 'PATCH');
    expect(preview).toMatchObject({ status: 200, warnings: [warning] });
    expect(await send('/v1/groups/model', cents, 'PATCH')).toMatchObject({ status: 200, warnings: [warning] });
    await vi.waitUntil(() => lines.includes('budget begins full in another unit'), { timeout: 10_000 });
    await vi.waitUntil(async () => JSON.stringify(await ask({ cents: 0.42 })).includes('"remaining":99.58,'), {
      timeout: 20_000,
    });
    const topped = await runInProcess(['budget', 'top-up', 'model', '0.5', '--id', 'half', '--url', String(url)]);
    expect(topped.stdout).toMatch(/^half counts\. model: 100\.08 of 100\.5 cents per month left/);
  });
});
