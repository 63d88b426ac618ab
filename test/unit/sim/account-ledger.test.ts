import '../../property/seed.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AccountLedger } from '../../../sim/oracle/account-ledger.js';

const entry = fc.record({
  afterMs: fc.constantFrom(0, 0, 10, 500, 3000),
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant('grant' as const) },
    fc.constantFrom('limit' as const, 'allow' as const),
  ),
  amount: fc.integer({ min: 1, max: 12 }),
  /** What is left of a grant. */
  kept: fc.constantFrom(0, 0.5, 1, 1),
});
type Entry = typeof entry extends fc.Arbitrary<infer One> ? One : never;

/** Every span between two entries, summed up anew. */
function worstByHand(entries: readonly Entry[]): number {
  let nowMs = 0;
  const timed = entries.map((one) => {
    nowMs += one.afterMs;
    return { ...one, atMs: nowMs };
  });
  let worst = -Infinity;
  for (let from = 0; from < timed.length; from++) {
    let [perSecond, depth] = limitAt(timed.slice(0, from));
    let [most, beyond, lastMs] = [depth, 0, timed[from].atMs];
    for (let to = from; to < timed.length; to++) {
      const { kind, amount, kept, atMs } = timed[to];
      beyond -= (perSecond * (atMs - lastMs)) / 1000;
      lastMs = atMs;
      if (kind === 'limit') [perSecond, depth] = [amount, 2 * amount];
      most = Math.max(most, depth);
      if (kind === 'allow') beyond -= amount;
      if (kind === 'grant' && kept > 0) {
        beyond += amount * kept;
        worst = Math.max(worst, beyond - 3 * most);
      }
    }
  }
  return worst;
}

function limitAt(before: readonly Entry[]): [perSecond: number, depth: number] {
  const last = before.findLast(({ kind }) => kind === 'limit');
  return last === undefined ? [1, 5] : [last.amount, 2 * last.amount];
}

describe('the ledger of an account', () => {
  it('finds the worst of all spans, as whoever sums up each of them', () => {
    let above = 0;
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 40, size: 'max' }), (entries) => {
        const ledger = new AccountLedger();
        ledger.limited(0, 1, 5);
        let nowMs = 0;
        for (const { afterMs, kind, amount, kept } of entries) {
          nowMs += afterMs;
          if (kind === 'limit') ledger.limited(nowMs, amount, 2 * amount);
          else if (kind === 'allow') ledger.allow(nowMs, amount);
          else ledger.granted(nowMs, amount).amount *= kept;
        }
        const byHand = worstByHand(entries);
        if (byHand === -Infinity) expect(ledger.worst().excess).toBe(byHand);
        else expect(ledger.worst().excess).toBeCloseTo(byHand, 6);
        if (byHand > 0) above++;
      }),
      { numRuns: 300 },
    );
    expect(above).toBeGreaterThan(30);
  });

  it('allows three depths and no token more, and names the span', () => {
    const ledger = new AccountLedger();
    ledger.limited(0, 10, 20);
    ledger.granted(1000, 60);
    expect(ledger.worst().excess).toBe(0);
    ledger.granted(3000, 21);
    expect(ledger.worst()).toEqual({ excess: 1, fromMs: 1000, untilMs: 3000, depth: 20 });
    ledger.allow(2000, 1);
    expect(ledger.worst().excess).toBe(0);
  });

  it('says what one central bucket would hold, which a lower quota forgives nothing', () => {
    const ledger = new AccountLedger();
    ledger.limited(0, 10, 100);
    const grant = ledger.granted(1000, 60);
    ledger.consumed(1000, 20);
    expect(ledger.centralAt(2000)).toBe(30);
    grant.amount = 10;
    expect(ledger.centralAt(2000)).toBe(80);
    ledger.limited(2000, 1, 10);
    expect(ledger.centralAt(2000)).toBe(-10);
    expect(ledger.centralAt(7000)).toBe(-5);
  });
});
