import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { laneOf, slotOf } from '../../../src/core/base/vocabulary.js';
import type { Gate } from '../../../src/node/admission/gate.js';
import type { Batch, Reservation } from '../../../src/node/api/decision.js';
import { runs } from '../../property/seed.js';
import { attach, type Gated, gateOf, quotaOf } from './shadow-scene.js';

const WAYS = ['try', 'tell', 'part', 'retry', 'consume', 'passBy', 'contains', 'reserve', 'batch', 'both'] as const;
const step = fc.record({
  way: fc.constantFrom(...WAYS),
  messages: fc.integer({ min: 1, max: 12 }),
  bytes: fc.integer({ min: 0, max: 300 }),
  client: fc.constantFrom('', 'x', 'y'),
  waitMs: fc.constantFrom(0, 0, 1, 5, 40, 900),
  /** What becomes of what is held: the first of it is settled with so much of its messages. */
  settled: fc.constantFrom(null, 0, 0.5, 1, 2),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** What the gate has answered, without what shadows say; and what is left in the lanes of the groups in force. */
function play({ gate, limiter, time }: Gated, steps: readonly Step[]): unknown[] {
  const held: ((part: number) => void)[] = [];
  const answers = steps.map(({ way, messages, bytes, client, waitMs, settled }) => {
    time.nowMs += waitMs;
    if (settled !== null) held.shift()?.(settled);
    const amounts = { messages, bytes };
    const answer = answerOf(() => askOf(gate, way, amounts, client, held));
    const left = [0, 1].map((dimension) => limiter.tokens.at(slotOf(0, dimension)));
    return { answer, left, admitted: [limiter.admitted.at(0), limiter.attempted.at(0), limiter.refused.at(0)] };
  });
  for (const settle of held) settle(1);
  return answers;
}

function askOf(
  gate: Gate,
  way: Step['way'],
  amounts: { readonly messages: number; readonly bytes: number },
  client: string,
  held: ((part: number) => void)[],
): unknown {
  const { messages, bytes } = amounts;
  switch (way) {
    case 'try':
      return gate.tryAcquire('orders', amounts, client === '' ? undefined : { client });
    case 'both':
      return gate.tryAcquire({ tenant: 'acme' }, amounts, { client });
    case 'tell':
      return gate.tryAcquire('orders', amounts, { tell: true });
    case 'part':
      return gate.tryAcquire('orders', amounts, { atMost: true });
    case 'retry':
      return gate.tryAcquire('orders', amounts, { retry: true });
    case 'consume':
      return gate.consume('orders', amounts);
    case 'passBy':
      return gate.passBy('orders', amounts);
    case 'contains':
      return gate.containsTokens('orders', amounts);
    case 'reserve': {
      const reservation = gate.reserve('orders', amounts, { client }) as Reservation;
      if (reservation.granted) held.push((part) => commit(reservation, messages, bytes, part));
      return reservation;
    }
    case 'batch': {
      const batch = gate.batches.tryTake('orders', amounts, { client }) as Batch;
      if (batch.granted) held.push((part) => refund(batch, part));
      return batch;
    }
  }
}

function commit(reservation: Reservation, messages: number, bytes: number, part: number): void {
  if (part === 0) reservation.cancel();
  else reservation.commit({ messages: Math.ceil(messages * part), bytes: Math.ceil(bytes * part) });
}

/** A batch whose time is over cannot be refunded: both have that in common. */
function refund(batch: Batch, part: number): void {
  const unused = Math.max(0, Math.floor(batch.messages * (1 - part)));
  answerOf(() =>
    batch.refund({ messages: unused, bytes: Math.floor((batch.bytes * unused) / Math.max(1, batch.messages)) }),
  );
}

function answerOf(ask: () => unknown): unknown {
  try {
    const answer = ask();
    if (typeof answer !== 'object' || answer === null) return answer;
    // Copies what is computed when it is read, too.
    const { limit, remaining, resetMs } = answer as Record<string, unknown>;
    const { shadow: _, id: _ofThisGate, ...said } = answer as Record<string, unknown>;
    return JSON.parse(JSON.stringify({ ...said, limit, remaining, resetMs }));
  } catch (error) {
    return (error as Error).message;
  }
}

const PLANS = [
  { quota: quotaOf(20, 1000) },
  { quota: quotaOf(400) },
  { quota: { publish: { bytesPerSecond: 700 } }, strategy: 'equal' },
] as const;
const FORMS = [{}, { perClient: quotaOf(30) }, { limiter: 'window', windowMs: 500 }] as const;

describe('a shadow beside what is in force', () => {
  test('changes no answer, no token and no count, whatever is asked', () => {
    const shapes = fc.record({
      plan: fc.constantFrom(...PLANS),
      form: fc.constantFrom(...FORMS),
      steps: fc.array(step, { minLength: 1, maxLength: 80 }),
    });
    let differences = 0;
    fc.assert(
      fc.property(shapes, ({ plan, form, steps }) => {
        const orders = { quota: quotaOf(100, 3000), ...form };
        const alone = gateOf(orders);
        const beside = gateOf({ ...orders, shadow: plan });
        for (const gated of [alone, beside]) attach(gated);
        expect(play(beside, steps)).toEqual(play(alone, steps));
        const shadow = beside.gate.shadows.shadowLaneOf(0) as number;
        const { wouldRefuse, wouldGrant } = beside.gate.shadows.counts.of(shadow);
        differences += wouldRefuse.requests + wouldGrant.requests;
        // What it has said is counted in lanes of its own.
        expect(shadow).toBe(laneOf(2, 0));
      }),
      runs(150),
    );
    // Otherwise this would compare nothing.
    expect(differences).toBeGreaterThan(runs(50).numRuns);
  });
});

describe('a group with mode: shadow', () => {
  test('refuses nothing in any way to ask, and holds nothing in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80 }), (steps) => {
        const shadow = gateOf({ quota: quotaOf(100, 3000), mode: 'shadow' });
        const only = steps.filter(({ way }) => way !== 'both');
        for (const { answer } of play(shadow, only) as { answer: { granted?: boolean } | boolean | undefined }[]) {
          if (typeof answer === 'object') expect(answer.granted).toBe(true);
          else expect(answer ?? true).toBe(true);
        }
        for (const slot of [slotOf(0, 0), slotOf(0, 1)]) {
          expect(shadow.limiter.taken(slot)).toBe(shadow.limiter.admitted.at(slot));
        }
      }),
      runs(100),
    );
  });
});
