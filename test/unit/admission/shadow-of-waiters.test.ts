import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { laneOf, slotOf } from '../../../src/core/base/vocabulary.js';
import type { Decision } from '../../../src/node/api/decision.js';
import { runs } from '../../property/seed.js';
import { attach, type Gated, gateOf, quotaOf } from './shadow-scene.js';

const BEGAN_MS = 1_000_000;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: BEGAN_MS });
});
afterEach(() => void vi.useRealTimers());
const clock = () => Date.now();

const messages = (quota: number) => ({ quota: { publish: { messagesPerSecond: quota } } });
const admitted = ({ limiter }: Gated, lane: number) => limiter.admitted.at(slotOf(lane, 0));
const SCOPE = { tenant: 'acme' };

const step = fc.record({
  way: fc.constantFrom('acquire', 'acquire', 'take', 'try', 'part', 'reserve', 'joint'),
  retry: fc.constantFrom(false, false, true),
  messages: fc.integer({ min: 1, max: 12 }),
  bytes: fc.integer({ min: 0, max: 300 }),
  client: fc.constantFrom('x', 'y'),
  topic: fc.constantFrom('t', 'u'),
  waitMs: fc.constantFrom(0, 50, 400),
  passMs: fc.constantFrom(0, 0, 1, 20, 150),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** When each was answered, and how; without what shadows say. */
async function play(gated: readonly Gated[], steps: readonly Step[]): Promise<unknown[][]> {
  const answers: unknown[][] = gated.map(() => []);
  for (const one of steps) {
    await vi.advanceTimersByTimeAsync(one.passMs);
    gated.forEach((each, at) => {
      const told = answers[at];
      const place = told.push(null) - 1;
      ask(each, one).then(
        ({ shadow: _, id: _own, ...said }: Record<string, unknown>) => {
          told[place] = JSON.stringify([Date.now(), said]);
        },
        (error: Error) => {
          told[place] = error.message;
        },
      );
    });
    await vi.advanceTimersByTimeAsync(0);
  }
  await vi.advanceTimersByTimeAsync(1000);
  return answers;
}

async function ask({ gate }: Gated, one: Step): Promise<Record<string, unknown>> {
  const { way, messages, bytes, ...options } = one;
  const amounts = { messages, bytes };
  if (way === 'take') return { ...(await gate.batches.take('orders', amounts, options)) };
  if (way === 'reserve') {
    const reservation = gate.reserve('orders', amounts, options);
    if (reservation.granted) reservation.commit({ messages: 1 });
    return { ...reservation };
  }
  if (way === 'acquire') return { ...(await gate.acquire('orders', amounts, options)) };
  if (way === 'joint') return { ...(await gate.acquire(SCOPE, amounts, options)) };
  return { ...gate.tryAcquire('orders', amounts, { ...options, atMost: way === 'part' }) };
}

describe('a plan beside a group for which work waits', () => {
  test.each([
    ['with a quota alone', {}, {}],
    ['of clients and topics', { perClient: quotaOf(30), perTopic: quotaOf(60) }, {}],
    ['at a node with a limit', {}, { publish: { messagesPerSecond: 70 } }],
  ])('changes no answer and no time of one: %s', async (_, form, limits) => {
    let differences = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
      const orders = { quota: quotaOf(100, 3000), ...form };
      const gates = [
        gateOf(orders, { clock, limits }),
        gateOf({ ...orders, shadow: { quota: quotaOf(40) } }, { clock, limits }),
      ];
      for (const each of gates) attach(each);
      const [alone, beside] = await play(gates, steps);
      expect(beside).toEqual(alone);
      const [first, second] = gates as [Gated, Gated];
      for (const lane of [0, laneOf(1, 0)]) {
        expect(admitted(second, lane)).toBe(admitted(first, lane));
        expect(second.limiter.attempted.at(slotOf(lane, 0))).toBe(first.limiter.attempted.at(slotOf(lane, 0)));
      }
      const { counts } = second.gate.shadows;
      const lane = second.gate.shadows.shadowLaneOf(0) as number;
      differences += counts.of(lane).wouldRefuse.requests + counts.of(lane).wouldGrant.requests;
      for (const { gate } of gates) gate.close();
    });
    await fc.assert(property, runs(30));
    expect(differences).toBeGreaterThan(runs(20).numRuns);
  });

  test('is asked about work that has waited for another group, once', async () => {
    // Seven per second of the other group: the first takes what is there, and the second waits for some.
    const gated = gateOf({ ...messages(1000), shadow: messages(500) }, { clock });
    attach(gated);
    const planned = gated.gate.shadows.shadowLaneOf(0) as number;
    const asked = [1, 1, 1].map(() => gated.gate.acquire(SCOPE, { messages: 1 }, { waitMs: 5000 }));
    await vi.advanceTimersByTimeAsync(4000);
    for (const decision of await Promise.all(asked)) expect(decision.granted).toBe(true);
    expect([admitted(gated, 0), admitted(gated, planned)]).toEqual([3, 3]);
    gated.gate.close();
  });

  test('is asked about work that has waited until the node was ready, once', async () => {
    const gated = gateOf({ ...messages(1000), shadow: messages(500) }, { clock });
    const { gate, limiter, loop } = gated;
    const planned = gate.shadows.shadowLaneOf(0) as number;
    Object.assign(loop, { isReady: false });
    for (const lane of [0, planned]) limiter.validUntilMs.set(lane, -Infinity);
    const asked = gate.acquire('orders', { messages: 1 }, { waitMs: 5000 });
    await vi.advanceTimersByTimeAsync(100);
    Object.assign(loop, { isReady: true });
    for (const lane of [0, planned]) limiter.validUntilMs.set(lane, Infinity);
    gate.waiting.wakeAll();
    await vi.advanceTimersByTimeAsync(4000);
    expect((await asked).granted).toBe(true);
    expect([admitted(gated, 0), admitted(gated, planned)]).toEqual([1, 1]);
    gate.close();
  });
});

describe('a group with mode: shadow', () => {
  test('hears of work that has waited for another group as demand', async () => {
    const gated = gateOf({ ...messages(1000), mode: 'shadow' }, { clock });
    attach(gated);
    const asked: Promise<Decision>[] = [1, 1, 1].map(() =>
      gated.gate.acquire(SCOPE, { messages: 1 }, { waitMs: 5000 }),
    );
    await vi.advanceTimersByTimeAsync(4000);
    for (const decision of await Promise.all(asked)) expect(decision.granted).toBe(true);
    expect([admitted(gated, 0), gated.limiter.attempted.at(0)]).toEqual([3, 3]);
    gated.gate.close();
  });

  test('leaves nothing out of a part that another group has cut', () => {
    // Ten are asked for, and the other group has a tenth of a second of 30/s.
    const gated = gateOf({ ...messages(10), mode: 'shadow' }, { clock, further: messages(30) });
    attach(gated);
    const decision = gated.gate.tryAcquire(SCOPE, { messages: 10 }, { atMost: true });
    expect(decision).toMatchObject({ granted: true, messages: 3, shadow: 'refused' });
    const { inForce, counts } = gated.gate.shadows;
    expect([inForce.admitted.at(0), inForce.refused.at(0), admitted(gated, 0)]).toEqual([3, 0, 1]);
    expect(counts.of(0).wouldRefuse).toMatchObject({ requests: 1, messages: 2 });
  });

  test('counts what it lets pass before the node knows a share', () => {
    const gated = gateOf({ ...messages(1000), mode: 'shadow' }, { clock });
    Object.assign(gated.loop, { isReady: false });
    gated.limiter.validUntilMs.set(0, -Infinity);
    expect(gated.gate.tryAcquire('orders', { messages: 2 })).toEqual({ granted: true });
    const { inForce, counts } = gated.gate.shadows;
    expect([inForce.admitted.at(0), inForce.attempted.at(0), counts.of(0).wouldRefuse.requests]).toEqual([2, 2, 0]);
  });

  test('counts of a reservation what has been done', () => {
    const gated = gateOf({ ...messages(0), maxRequest: { messages: 100 }, mode: 'shadow' }, { clock });
    const done = [0, 3, 10, 20].map((used) => {
      const reservation = gated.gate.reserve('orders', { messages: 10 });
      if (reservation.granted) reservation.commit({ messages: used });
      return gated.gate.shadows.inForce.admitted.at(0);
    });
    expect(done).toEqual([0, 3, 13, 33]);
    expect(gated.gate.shadows.counts.of(0).wouldRefuse).toMatchObject({ requests: 4, messages: 40 });
  });
});
