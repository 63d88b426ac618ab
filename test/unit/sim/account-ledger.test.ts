import '../../property/seed.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AccountLedger } from '../../../sim/oracle/account-ledger.js';

const entry = fc.record({
  afterMs: fc.constantFrom(0, 0, 10, 500, 3000),
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant('grant' as const) },
    fc.constantFrom('limit' as const, 'allow' as const, 'forget' as const),
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
    let [most, beyond, lastMs, lost] = [depth, 0, timed[from].atMs, 0];
    for (let to = from; to < timed.length; to++) {
      const { kind, amount, kept, atMs } = timed[to];
      beyond -= (perSecond * (atMs - lastMs)) / 1000;
      lastMs = atMs;
      if (kind === 'limit') [perSecond, depth] = [amount, 2 * amount];
      most = Math.max(most, depth);
      if (kind === 'allow') beyond -= amount;
      if (kind === 'forget') lost++;
      if (kind === 'grant' && kept > 0) {
        beyond += amount * kept;
        worst = Math.max(worst, beyond - 3 * most * (1 + lost));
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
          else if (kind === 'forget') ledger.forgotten(nowMs);
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

  it('counts a grant in the spans in which it was certainly decided', () => {
    const grants = fc.array(fc.record({ sinceMs: fc.nat(300), tookMs: fc.constantFrom(0, 2, 40, 200) }), {
      minLength: 5,
      maxLength: 60,
      size: 'max',
    });
    fc.assert(
      fc.property(grants, (asked) => {
        const ledger = new AccountLedger();
        ledger.limited(0, 100, 1);
        const timed = asked.map(({ sinceMs, tookMs }) => ({ sinceMs, atMs: sinceMs + tookMs + 0.5 }));
        for (const { sinceMs, atMs } of timed) ledger.granted(atMs, 1, { sinceMs });
        let worst = -Infinity;
        for (const fromMs of timed.flatMap(({ sinceMs, atMs }) => [sinceMs, atMs])) {
          for (const { atMs: untilMs } of timed.filter(({ atMs }) => atMs >= fromMs)) {
            const within = timed.filter(({ sinceMs, atMs }) => sinceMs >= fromMs && atMs <= untilMs).length;
            const around = timed.filter(({ sinceMs, atMs }) => sinceMs < fromMs && atMs > untilMs).length;
            worst = Math.max(worst, within - around - (untilMs - fromMs) / 10 - 3);
          }
        }
        expect(ledger.worst().excess).toBeCloseTo(worst, 6);
      }),
      { numRuns: 200 },
    );
  });

  it('knows a stalled client from a burst', () => {
    const stalled = (sinceMs: number) => {
      const ledger = new AccountLedger();
      ledger.limited(0, 100, 30);
      for (let at = 0; at < 200; at++) ledger.granted(2000, 1, { sinceMs: Math.max(sinceMs, at * 10) });
      return ledger.worst().excess;
    };
    expect(stalled(0)).toBeLessThan(0);
    expect(stalled(1990)).toBe(200 - 1 - 90);
  });

  it('allows of a key what nodes take without a record', () => {
    const excess = (isKey: boolean) => {
      const ledger = new AccountLedger(0, isKey);
      ledger.limited(0, 0, 40);
      ledger.granted(1000, 131);
      return ledger.worst().excess;
    };
    expect([excess(false), excess(true)]).toEqual([11, 1]);
  });

  it('allows by a node that is killed, stops, or starts what the document says', () => {
    const excess = (happens: (ledger: AccountLedger) => void) => {
      const ledger = new AccountLedger();
      ledger.limited(0, 0, 30);
      ledger.granted(1000, 90);
      happens(ledger);
      ledger.granted(60_000, 100);
      return ledger.worst().excess;
    };
    expect(excess(() => undefined)).toBe(100);
    // Five nodes: an advance is half of the depth, and N parts are a fifth.
    expect(excess((ledger) => ledger.killed(1500, 5, 1000))).toBe(85);
    expect(excess((ledger) => ledger.killed(5000, 5, 1000))).toBe(94);
    // The request of 90 is larger than an advance, and nobody has read of it.
    const node = {};
    const held = (by: object | null, killedMs: number) => {
      const ledger = new AccountLedger();
      ledger.limited(0, 0, 90);
      ledger.granted(1000, 90, { nodes: 5, by: node });
      ledger.killed(killedMs, 5, 1000, by);
      return ledger.heldAtMost(6000);
    };
    expect([held(null, 1500), held({}, 1500), held(node, 1500), held(node, 5000)]).toEqual([45, 45, 90, 18]);
    expect(excess((ledger) => ledger.keyStopped(5000, 5))).toBe(98.5);
    expect(excess((ledger) => ledger.forgotten(5000))).toBe(10);
    const starter = {};
    const starting = (ledger: AccountLedger) => {
      for (let at = 0; at < 20; at++) ledger.granted(5000, 1, { nodes: 5, starter });
    };
    expect(excess(starting)).toBe(105);
    const large = (ledger: AccountLedger) => ledger.granted(5000, 20, { nodes: 5 });
    expect(excess(large)).toBe(115);
  });

  it('allows three depths and no token more, and names the span', () => {
    const ledger = new AccountLedger();
    ledger.limited(0, 10, 20);
    ledger.granted(1000, 60);
    expect(ledger.worst().excess).toBe(0);
    ledger.granted(3000, 21);
    expect(ledger.worst()).toEqual({ excess: 1, fromMs: 1000, untilMs: 3000, depth: 20, most: 60 });
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

  it('counts by the depth in force, and forgets what was set for later than a new quota', () => {
    const ledger = new AccountLedger();
    ledger.limited(0, 0, 100);
    ledger.limited(2000, 0, 10);
    ledger.limited(1000, 0, 1000);
    ledger.granted(3000, 3000);
    expect(ledger.worst().excess).toBe(0);
    ledger.limited(4000, 0, 50);
    ledger.granted(3500, 1000, { nodes: 3 });
    expect(ledger.worst().excess).toBe(1000);
  });

  it('takes for unsaid what others have taken since the bucket was full, of a quarter of it their part at most', () => {
    const ledger = new AccountLedger();
    const [one, other, third] = [{}, {}, {}];
    const unsaid = (atMs: number) => ledger.unsaidBy([other, third], 5, atMs);
    ledger.limited(0, 1, 100);
    ledger.granted(0, 4, { by: other });
    expect(unsaid(3000)).toBe(4);
    // Full again, so that all of it is paid.
    ledger.granted(10_000, 50, { by: one });
    expect(unsaid(10_000)).toBe(0);
    const batch = ledger.granted(11_000, 3, { by: third });
    ledger.granted(12_000, 30, { by: other });
    expect(unsaid(12_000)).toBe(3 + 5);
    batch.amount = 0;
    expect(unsaid(12_000)).toBe(5);
  });

  it('lacks what others have taken, until a quarter of the depth has come in', () => {
    const ledger = new AccountLedger();
    const other = {};
    ledger.limited(0, 1, 100);
    ledger.granted(1000, 4, { by: other });
    expect([20_000, 26_000, 26_001].map((atMs) => ledger.lackingBy([other], 5, atMs))).toEqual([4, 4, 0]);
    ledger.granted(30_000, 40, { by: other });
    expect(ledger.lackingBy([other], 5, 30_000)).toBe(5);
  });
});
