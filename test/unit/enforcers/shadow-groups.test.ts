import { afterEach, describe, expect, test } from 'vitest';
import { Enforcers } from '../../../src/node/enforcers/enforcers.js';
import { gateOf } from '../admission/shadow-scene.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const publish = (messagesPerSecond: number) => ({ quota: { publish: { messagesPerSecond } } });

/** One that admits 300/s and tells it every 100 ms, for five seconds, at a node in virtual time. */
async function admit(orders: Readonly<Record<string, unknown>>, { isReady = true, isHeldBack = false } = {}) {
  const gated = gateOf(orders);
  const { gate, limiter, groups, loop, time } = gated;
  Object.assign(loop, { isReady });
  const shadows = gate.shadows;
  const enforcers = new Enforcers({ limiter, clock: () => time.nowMs, groups, loop, shadows });
  const patience = { seen: null, waitMs: 0, signal: new AbortController().signal };
  const report = (messages: number) => {
    const lanes = [{ lane: 0, admitted: [messages, 0] as const, isHeldBack }];
    return enforcers.report({ enforcer: 'p', life: 1, ttlMs: 3000, lanes }, patience);
  };
  let told = await report(0);
  for (let turn = 1; turn <= 50; turn++) {
    for (let round = 0; round < 2; round++) {
      time.nowMs += 50;
      enforcers.keep(time.nowMs);
    }
    told = await report(30 * turn);
  }
  return { ...gated, told };
}

describe('enforcers of a group with mode: shadow', () => {
  test('are told no limit, and the shadow is charged what it has granted', async () => {
    const { gate, limiter, time, told } = await admit({ ...publish(100), mode: 'shadow' });
    expect(told.parts[0]).toMatchObject({ isKnown: true, rate: Float64Array.of(Infinity, Infinity) });
    const { inForce, counts } = gate.shadows;
    // 1,500 in five seconds, of which the quota and its tenth of a second in the beginning have 510.
    expect(inForce.admitted.at(0)).toBe(1500);
    expect(limiter.admitted.at(0)).toBeGreaterThanOrEqual(0.98 * 510);
    expect(limiter.admitted.at(0)).toBeLessThanOrEqual(510);
    expect(counts.of(0).wouldRefuse.messages + limiter.admitted.at(0)).toBe(1500);
    expect([limiter.attempted.at(0), inForce.refused.at(0), inForce.refusedOnce.at(0)]).toEqual([1500, 0, 0]);
    // Charged with what was done, it would owe ten seconds by now.
    expect(limiter.buckets.debt(0, 0, time.nowMs)).toBe(0);
  });

  test('are told so by a node that knows no share yet, and hold nothing back', async () => {
    const { told, limiter } = await admit({ ...publish(100), mode: 'shadow' }, { isReady: false, isHeldBack: true });
    expect(told.parts[0]).toMatchObject({ isKnown: true, rate: Float64Array.of(Infinity, Infinity) });
    expect([...limiter.heldBackElsewhere]).toEqual([]);
  });
});

test('what enforcers admit is offered to a plan, which is charged what it would have granted', async () => {
  const { gate, limiter } = await admit({ ...publish(1e6), shadow: publish(100) });
  const planned = gate.shadows.shadowLaneOf(0) as number;
  const granted = limiter.admitted.at(2 * planned);
  expect(limiter.admitted.at(0)).toBe(1500);
  expect(granted).toBeGreaterThanOrEqual(0.98 * 510);
  expect(granted).toBeLessThanOrEqual(510);
  expect(gate.shadows.counts.of(planned).wouldRefuse.messages).toBe(1500 - granted);
});

describe('POST /v1/enforce', () => {
  let scene: HttpScene;
  afterEach(() => scene.close());

  test('ends a wait when the mode of a group changes, and tells a shadow neither a limit nor a quota', async () => {
    scene = await readyScene({ groups: { orders: publish(500) } });
    const enforce = async (body: object) => {
      const groups = [{ group: 'orders' }];
      const payload = { enforcer: 'p', life: 1, ttlMs: 60_000, groups, ...body };
      const answer = await scene.ask('POST', '/v1/enforce', payload);
      return answer.body as { readonly version: number; readonly groups: readonly object[] };
    };
    const change = (mode: string) => scene.ask('PATCH', '/v1/groups/orders', { mode });
    const first = await enforce({});
    expect(first.groups).toMatchObject([{ quota: { messagesPerSecond: 500 } }]);
    const second = enforce({ seen: first.version, waitMs: 20_000 });
    await change('shadow');
    const nothing = { messagesPerSecond: null, bytesPerSecond: null };
    expect((await second).groups).toEqual([
      { status: 200, ...nothing, messagesDepth: null, bytesDepth: null, quota: nothing },
    ]);
    const third = enforce({ seen: (await second).version, waitMs: 20_000 });
    await change('enforce');
    // A half each of the quota, for the enforcer and for requests of the node itself.
    expect((await third).groups).toMatchObject([{ messagesPerSecond: 250, quota: { messagesPerSecond: 500 } }]);
  });
});
