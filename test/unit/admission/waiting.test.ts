import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import { windowedNode } from '../../simulation/windowed-node.js';
import type { WholeNode } from '../../whole-node.js';
import { answerOf, type HttpScene, readyScene } from '../http/http-scene.js';

const WINDOW_MS = 1000;

/** Ten messages per window of one second, in virtual time; nothing is left of the first one. */
describe('whoever waits', () => {
  let node: WholeNode;
  let beganMs: number;
  const nowMs = () => Date.now() - beganMs;
  const setLimit = (perWindow: number) => node.limiter.setLimit(0, MESSAGES, perWindow, perWindow, nowMs());
  /** When they were served, by name. */
  let servedMs: Record<string, number>;
  const wait = (client: string, messages: number, more: { signal?: AbortSignal } = {}) => {
    const waiting = node.acquire('a', { messages }, { client, waitMs: 60_000, ...more });
    void waiting.then(
      ({ granted }) => {
        if (granted) servedMs[`${client} ${messages}`] = nowMs();
      },
      () => undefined,
    );
    return waiting;
  };

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    beganMs = Date.now();
    servedMs = {};
    node = windowedNode(WINDOW_MS, nowMs);
    setLimit(10);
    expect(node.tryAcquire('a', { messages: 10 }).granted).toBe(true);
  });
  afterEach(() => vi.useRealTimers());

  test('is served when there is enough, whoever joins behind him and whatever that one asks for', async () => {
    void wait('small', 1);
    for (const messages of [9, 10, 10, 10]) void wait('small', messages);
    await vi.advanceTimersByTimeAsync(5 * WINDOW_MS);
    expect(Object.keys(servedMs)).toEqual(['small 1', 'small 9', 'small 10']);
    expect(servedMs['small 1']).toBe(WINDOW_MS);
    expect(servedMs['small 9']).toBe(WINDOW_MS);
    expect(servedMs['small 10']).toBe(4 * WINDOW_MS);
    expect(node.gate.waiting.count).toBe(0);
  });

  test('is served as soon as his tokens are there, though who joins behind him needs more time', async () => {
    // A bucket of 10/s that is empty now.
    node.limiter.buckets.setWindow(0, 0, nowMs());
    setLimit(10);
    node.limiter.tokens.set(0, 0);
    void wait('a', 1);
    void wait('a', 9);
    await vi.advanceTimersByTimeAsync(150);
    expect(servedMs).toEqual({ 'a 1': 100 });
    await vi.advanceTimersByTimeAsync(1000);
    expect(servedMs).toEqual({ 'a 1': 100, 'a 9': 1000 });
  });

  test('shares timers with all who wait in the line: a thousand who join set a few', () => {
    // By hand: a spy on a clock that is faked is put back by any later vi.restoreAllMocks of the worker, and time stands still then.
    const set = globalThis.setTimeout;
    let sets = 0;
    globalThis.setTimeout = ((...given: Parameters<typeof set>) => {
      sets++;
      return set(...given);
    }) as typeof set;
    for (let joined = 0; joined < 1000; joined++) void wait('a', 1);
    globalThis.setTimeout = set;
    expect(node.gate.waiting.count).toBe(1000);
    expect(sets).toBeGreaterThan(0);
    expect(sets).toBeLessThan(10);
  });

  test.each([
    ['waitMs', [-1, 600_001, Number.NaN, '5', null], [0, 600_000]],
    ['weight', [0, 0.5, 1001, Number.NaN, '5', null], [1, 1000]],
  ])('says for how long and with what weight within bounds: %s', async (field, wrong, right) => {
    setLimit(1000);
    const ask = (value: unknown) => node.acquire('a', { messages: 1 }, { waitMs: 10, [field]: value });
    const refused = expect.objectContaining({ code: 'FIELD_INVALID', facts: expect.objectContaining({ field }) });
    for (const value of wrong) await expect(ask(value)).rejects.toEqual(refused);
    await vi.advanceTimersByTimeAsync(WINDOW_MS);
    for (const value of right) expect(await ask(value)).toMatchObject({ granted: true });
  });

  test('is served at once when the limit rises', async () => {
    void wait('a', 5);
    await vi.advanceTimersByTimeAsync(100);
    expect(servedMs).toEqual({});
    setLimit(20);
    node.gate.waiting.limitsChanged([1]);
    await vi.advanceTimersByTimeAsync(0);
    expect(servedMs).toEqual({});
    node.gate.waiting.limitsChanged([0]);
    await vi.advanceTimersByTimeAsync(0);
    expect(servedMs).toEqual({ 'a 5': 100 });
  });

  test('and whose signal ends leaves at once; the others under that signal, too, and nobody else', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const left = [wait('a', 1, { signal: one.signal }), wait('b', 2, { signal: one.signal })];
    const stays = [wait('c', 3, { signal: other.signal }), wait('d', 4)];
    one.abort(new Error('over'));
    for (const each of left) await expect(each).rejects.toThrow('over');
    expect(node.gate.waiting.count).toBe(2);
    await vi.advanceTimersByTimeAsync(WINDOW_MS);
    expect(await Promise.all(stays)).toMatchObject([{ granted: true }, { granted: true }]);
    // What has been served hears of no signal any more.
    other.abort(new Error('late'));
    expect(node.gate.waiting.ended).toMatchObject({ granted: 2, otherwise: 2 });
  });
});

describe('a group that goes', () => {
  let scene: HttpScene;
  afterEach(() => scene.close());

  test('sends those away who wait for it, by name, and no others', async () => {
    scene = await readyScene();
    const { node, app } = scene;
    const quota = { publish: { messagesPerSecond: 0.001 } };
    const definition = { quota, burst: { start: 'empty' }, maxRequest: { messages: 100 } };
    for (const name of ['goes', 'stays']) {
      const made = await answerOf(app, { method: 'PUT', url: `/v1/groups/${name}`, payload: definition });
      expect(made.status).toBe(201);
    }
    const stop = new AbortController();
    const waitFor = (group: string, client: string) =>
      node.acquire(group, { messages: 1 }, { client, waitMs: 60_000, signal: stop.signal }).catch(({ code }) => code);
    const goes = ['one', 'one', 'other'].map((client) => waitFor('goes', client));
    const stays = waitFor('stays', 'one');
    await vi.waitFor(() => expect(node.gate.waiting.count).toBe(4), 10_000);
    expect((await answerOf(app, { method: 'DELETE', url: '/v1/groups/goes' })).status).toBe(204);
    expect(await Promise.all(goes)).toEqual(Array(3).fill('GROUP_UNKNOWN'));
    expect(node.gate.waiting.count).toBe(1);
    stop.abort();
    await stays;
  });
});

test('a refusal names the group where a place was asked for, and not where the group was', async () => {
  const scene = await readyScene({
    groups: { none: { quota: { publish: { messagesPerSecond: 0 } } } },
    attachments: { scopes: { acme: 'none' } },
  });
  const refusals = ['none', { tenant: 'acme' }, 'none'].map((where) => scene.node.tryAcquire(where, { messages: 1 }));
  expect(refusals.map((refusal) => ('group' in refusal ? refusal.group : null))).toEqual([null, 'none', null]);
  await scene.close();
});

describe('work that nothing limits', () => {
  let scene: HttpScene;
  afterEach(() => scene.close());

  test('is counted by direction, and begins anew before a sum loses a unit', async () => {
    const scopes = { acme: { exempt: true } };
    scene = await readyScene({ attachments: { scopes } });
    const { node } = scene;
    const tenant = { tenant: 'acme' };
    for (const messages of [3, 4]) node.tryAcquire(tenant, { messages, bytes: 10 });
    node.tryAcquire(tenant, { messages: 5 }, { direction: 'dispatch' });
    const [publish, dispatch] = node.gate.scopes.exempt;
    expect(publish).toEqual({ requests: 2, messages: 7, bytes: 20 });
    expect(dispatch).toEqual({ requests: 1, messages: 5, bytes: 0 });
    node.gate.scopes.countExempt(0, { messages: Number.MAX_SAFE_INTEGER - 7 });
    expect(publish?.messages).toBe(Number.MAX_SAFE_INTEGER);
    node.gate.scopes.countExempt(0, { messages: 2 });
    expect(publish?.messages).toBe(2);
  });
});
