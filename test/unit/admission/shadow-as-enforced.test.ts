import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { slotOf } from '../../../src/core/base/vocabulary.js';
import type { Batch, Decision, Reservation } from '../../../src/node/api/decision.js';
import { runs } from '../../property/seed.js';
import { type Gated, gateOf, quotaOf } from './shadow-scene.js';

/**
 * What a shadow counts beside what a gate counts that enforces the same: the same streams of requests, in one virtual
 * time. Work that is held is all done, or a part of a reservation, and the same in both gates.
 */
const step = fc.record({
  way: fc.constantFrom('try', 'try', 'part', 'consume', 'passBy', 'reserve', 'batch'),
  retry: fc.constantFrom(false, false, true),
  messages: fc.integer({ min: 1, max: 12 }),
  bytes: fc.integer({ min: 0, max: 300 }),
  client: fc.constantFrom('', 'x', 'y'),
  topic: fc.constantFrom('', 't', 'u'),
  waitMs: fc.constantFrom(0, 0, 0, 1, 5, 40, 200),
  /** So many steps later what is held is settled, with so much of it. */
  heldFor: fc.integer({ min: 0, max: 5 }),
  used: fc.constantFrom(0, 0.5, 1, 2),
});
type Step = { readonly [Field in keyof Drawn]: Drawn[Field] extends number ? number : Drawn[Field] };
type Drawn = typeof step extends fc.Arbitrary<infer One> ? One : never;
const steps = fc.array(step, { minLength: 1, maxLength: 60 });

interface Asked {
  readonly one: Step;
  /** Messages and bytes that were granted. */
  readonly granted: readonly [number, number];
  /** What was done of it in the end. */
  done: readonly [number, number];
}

/** @param isAsked false = the step passes, and nothing is asked */
function play({ gate, time }: Gated, stream: readonly Step[], isAsked = (_: Step) => true): readonly Asked[] {
  const due: (() => void)[][] = Array.from({ length: stream.length + 6 }, () => []);
  const asked = stream.map((one, at): Asked => {
    time.nowMs += one.waitMs;
    for (const settle of due[at]) settle();
    if (!isAsked(one)) return { one, granted: NONE, done: NONE };
    const { way, messages, bytes, client, topic, retry } = one;
    const [amounts, options] = [
      { messages, bytes },
      { client, topic, retry },
    ];
    const all = [messages, bytes] as const;
    if (way === 'consume' || way === 'passBy') {
      gate[way]('orders', amounts, { client, topic });
      return { one, granted: all, done: all };
    }
    if (way === 'reserve' || way === 'batch') {
      const held =
        way === 'reserve' ? gate.reserve('orders', amounts, options) : gate.batches.tryTake('orders', amounts, options);
      if (!held.granted) return { one, granted: NONE, done: NONE };
      const granted = 'id' in held ? ([held.messages, held.bytes] as const) : all;
      const took: Asked = { one, granted, done: granted };
      due[at + 1 + one.heldFor].push(() => settle(held, took));
      return took;
    }
    const decision: Decision = gate.tryAcquire('orders', amounts, { ...options, atMost: way === 'part' });
    if (!decision.granted) return { one, granted: NONE, done: NONE };
    const part = decision as { readonly messages?: number; readonly bytes?: number };
    const granted = [part.messages ?? messages, part.bytes ?? bytes] as const;
    return { one, granted, done: granted };
  });
  for (const settle of due.slice(stream.length).flat()) settle();
  return asked;
}

/** A batch is all used: a gate that enforces has granted a smaller one. */
function settle(held: Reservation | Batch, asked: Asked): void {
  if ('id' in held) {
    held.refund({});
    return;
  }
  const { messages, bytes, used } = asked.one;
  asked.done = [Math.ceil(messages * used), Math.ceil(bytes * used)];
  held.commit({ messages: asked.done[0], bytes: asked.done[1] });
}

const NONE = [0, 0] as const;

function sumOf(all: readonly Asked[], amount: (one: Asked, dimension: number) => number): readonly number[] {
  return [0, 1].map((dimension) => all.reduce((sum, one) => sum + amount(one, dimension), 0));
}

/** All that a lane counts, and what it holds. */
function countsOf({ limiter, time }: Gated, lane: number) {
  const each = (read: (slot: number, dimension: number) => number) =>
    [0, 1].map((dimension) => read(slotOf(lane, dimension), dimension));
  return {
    admitted: each((slot) => limiter.admitted.at(slot)),
    attempted: each((slot) => limiter.attempted.at(slot)),
    refused: each((slot) => limiter.refused.at(slot)),
    refusals: [limiter.refusals.at(lane), limiter.retryRefusals.at(lane)],
    held: each((slot) => limiter.taken(slot) - limiter.admitted.at(slot)),
    // Refilled at other instants, which rounds differently.
    tokens: each((_, at) => limiter.available(lane, at, time.nowMs) - limiter.buckets.debt(lane, at, time.nowMs)).map(
      (tokens) => Math.round(tokens * 1e4) / 1e4 + 0,
    ),
  };
}

const QUOTA = { quota: quotaOf(100, 3000), maxRequest: { messages: 1000, bytes: 100_000 } };
const FORMS = [
  {},
  { perClient: quotaOf(30) },
  { perTopic: quotaOf(40) },
  { limiter: 'window', windowMs: 500 },
] as const;

describe('a group with mode: shadow, and the same group enforced', () => {
  test('count the same, whatever is asked in whatever way, retries among it', () => {
    let refused = 0;
    fc.assert(
      fc.property(steps, fc.constantFrom(...FORMS), (stream, form) => {
        // A window ends what it holds; the two settle at other instants of it.
        const isWindow = 'limiter' in form;
        const played = isWindow ? stream.filter(({ way }) => way !== 'reserve' && way !== 'batch') : stream;
        const shadow = gateOf({ ...QUOTA, ...form, mode: 'shadow' });
        const enforced = gateOf({ ...QUOTA, ...form });
        const done = play(shadow, played);
        const answers = withoutAboveWindow(enforced, played);
        expect(countsOf(shadow, 0)).toEqual(countsOf(enforced, 0));
        // Nothing was refused, and all that was done is counted as admitted.
        const { inForce, counts } = shadow.gate.shadows;
        for (const { one, granted } of done) expect(granted).toEqual([one.messages, one.bytes]);
        expect([0, 1].map((dimension) => inForce.admitted.at(slotOf(0, dimension)))).toEqual(
          sumOf(done, (each, at) => each.done[at]),
        );
        expect([inForce.refused.at(0), inForce.refused.at(1), inForce.refusedOnce.at(0)]).toEqual([0, 0, 0]);
        // What it would have refused is what was granted less what the other has granted.
        const { wouldRefuse } = counts.of(0);
        const missing = sumOf(answers, ({ one, granted }, at) => [one.messages, one.bytes][at] - granted[at]);
        expect([wouldRefuse.messages, wouldRefuse.bytes]).toEqual(missing);
        expect(wouldRefuse.requests).toBe(answers.filter(isLess).length);
        refused += wouldRefuse.requests;
      }),
      runs(150),
    );
    expect(refused).toBeGreaterThan(runs(200).numRuns);
  });
});

describe('what is planned for a group, and the same in force', () => {
  test.each([
    ['beside a quota that refuses nothing', { quota: quotaOf(1e9, 1e9) }],
    ['beside a quota that refuses more', { quota: quotaOf(20, 1000) }],
    ['beside a quota that refuses at other times', { quota: quotaOf(150, 1500) }],
  ])('count the same of the first attempts, and nothing of the further ones: %s', (_, inForce) => {
    fc.assert(
      fc.property(steps, (stream) => {
        const played = stream.map((one) => (one.way === 'reserve' ? { ...one, used: 1 } : one));
        const beside = gateOf({ ...QUOTA, ...inForce, shadow: { quota: QUOTA.quota } });
        const enforced = gateOf(QUOTA);
        const lane = beside.gate.shadows.shadowLaneOf(0) as number;
        const answers = play(beside, played);
        const isFirst = ({ way, retry }: Step) => !retry || way === 'consume' || way === 'passBy';
        const others = play(enforced, played, isFirst);
        expect(countsOf(beside, lane)).toEqual(countsOf(enforced, 0));
        const { wouldRefuse, wouldGrant } = beside.gate.shadows.counts.of(lane);
        // What was granted of each first attempt in force, and what it would have granted.
        const firsts = answers.flatMap((here, at) => (isFirst(here.one) ? [[here.granted, others[at].granted]] : []));
        const sums = (differing: (here: number, there: number, isGranted: boolean) => number) =>
          [0, 1].map((at) =>
            firsts.reduce((sum, [here, there]) => sum + differing(here[at], there[at], here[0] + here[1] > 0), 0),
          );
        expect([wouldRefuse.messages, wouldRefuse.bytes]).toEqual(sums((here, there) => Math.max(0, here - there)));
        expect([wouldGrant.messages, wouldGrant.bytes]).toEqual(sums((_, there, isGranted) => (isGranted ? 0 : there)));
      }),
      runs(60),
    );
  });
});

test('a plan is asked on tokens that are late by less than a millisecond, and never too many', () => {
  // 10,000/s with 1,000 of depth: ten per millisecond come back, and 30 per millisecond are asked for.
  const beside = gateOf({ quota: quotaOf(1e9), shadow: { quota: { publish: { messagesPerSecond: 10_000 } } } });
  const lane = beside.gate.shadows.shadowLaneOf(0) as number;
  const admitted: number[] = [];
  for (let at = 1; at <= 3000; at++) {
    beside.time.nowMs += 1 / 30;
    beside.gate.tryAcquire('orders', { messages: 1 });
    const mostMs = at / 30;
    admitted.push(beside.limiter.admitted.at(slotOf(lane, 0)));
    expect(admitted.at(-1)).toBeLessThanOrEqual(1000 + 10 * mostMs + 1e-6);
  }
  // Over 100 ms: the depth, what came in, and less than a millisecond of it that is late.
  expect(admitted.at(-1)).toBeGreaterThan(1000 + 1000 - 11);
});

function isLess({ one, granted }: Asked): boolean {
  return granted[0] < one.messages || granted[1] < one.bytes;
}

/** What a window can never hold is an error where it is enforced; here that is a refusal. */
function withoutAboveWindow(gated: Gated, stream: readonly Step[]): readonly Asked[] {
  const { gate } = gated;
  const { tryAcquire } = gate;
  gate.tryAcquire = (...asked) => {
    try {
      return tryAcquire.apply(gate, asked);
    } catch {
      return { granted: false, reason: 'quota' } as Decision;
    }
  };
  return play(gated, stream);
}
