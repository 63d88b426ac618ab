import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../src/core/base/vocabulary.js';
import { Buckets } from '../../src/core/limiter/buckets.js';
import type { Hold } from '../../src/core/limiter/held-tokens.js';
import { partOf, runs } from './seed.js';

const NONE = Infinity;
const fraction = fc.double({ min: 0, max: 1, noNaN: true });
const rate = fc.constantFrom(0, 1, 10, 100, 333.25, NONE);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 400 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const), amount: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('hold' as const), amount: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('end' as const), which: fraction, used: fraction }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('charge' as const), amount: fc.integer({ min: 1, max: 90 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), rate, depth: fc.integer({ min: 1, max: 200 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'empty' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;

/** What has happened to a bucket, in order; the amounts of what is held become those that were used. */
type Entry =
  | { readonly kind: 'take'; readonly atMs: number; amount: number }
  | { readonly kind: 'limit'; readonly atMs: number; readonly rate: number; readonly depth: number }
  | { readonly kind: 'empty'; readonly atMs: number };

/** The tokens of a bucket to which all of it happens once more, with the amounts as they are known now. */
function replayed(journal: readonly Entry[], untilMs: number): number {
  let [tokens, perSecond, depth, lastMs] = [0, 0, 0, 0];
  const pass = (nowMs: number) => {
    tokens = Math.min(depth, tokens + (perSecond === NONE ? 0 : ((nowMs - lastMs) * perSecond) / 1000));
    lastMs = nowMs;
  };
  for (const entry of journal) {
    pass(entry.atMs);
    if (entry.kind === 'take') tokens -= entry.amount;
    else if (entry.kind === 'empty') tokens = depth === NONE ? NONE : Math.min(0, tokens);
    else {
      const kept = tokens === NONE ? 0 : tokens;
      perSecond = entry.rate;
      depth = entry.rate === NONE ? NONE : entry.rate === 0 ? 0 : entry.depth;
      tokens = entry.rate === NONE ? NONE : Math.min(kept, depth);
    }
  }
  pass(untilMs);
  return tokens;
}

class Scene {
  readonly buckets = new Buckets(1);
  readonly journal: Entry[] = [];
  readonly held: { readonly hold: Hold; readonly entry: { amount: number } }[] = [];
  nowMs = 0;
  /** Most tokens that one refund has brought. */
  largest = 0;

  constructor() {
    this.buckets.setLimit(0, BYTES, NONE, NONE, 0);
    this.limit(100, 30);
  }

  do(now: Step): void {
    if (now.kind === 'pass') this.nowMs += now.ms;
    else if (now.kind === 'limit') this.limit(now.rate, now.depth);
    else if (now.kind === 'empty') this.#empty();
    else if (now.kind === 'end') this.#end(now);
    else if (now.kind === 'charge') this.#charge(now.amount);
    else if (this.buckets.tryTake(0, now.amount, 0, this.nowMs) === -1) {
      const entry = this.#taken(now.amount);
      if (now.kind === 'take') return;
      this.held.push({ hold: this.buckets.hold(0, now.amount, 0), entry });
    }
  }

  limit(perSecond: number, depth: number): void {
    this.buckets.setLimit(0, MESSAGES, perSecond, depth, this.nowMs);
    this.journal.push({ kind: 'limit', atMs: this.nowMs, rate: perSecond, depth });
  }

  #empty(): void {
    this.buckets.refill(0, this.nowMs);
    this.buckets.empty(0, this.nowMs);
    this.journal.push({ kind: 'empty', atMs: this.nowMs });
  }

  #end({ which, used }: { readonly which: number; readonly used: number }): void {
    const at = Math.floor(which * 0.999 * this.held.length);
    const [one] = this.held.splice(at, 1);
    if (one === undefined) return;
    this.buckets.refill(0, this.nowMs);
    const before = this.buckets.tokens.at(MESSAGES);
    const amount = Math.floor(used * one.entry.amount);
    one.hold.end(one.entry.amount - amount, 0, this.nowMs);
    one.entry.amount = amount;
    if (before !== NONE) this.largest = Math.max(this.largest, this.buckets.tokens.at(MESSAGES) - before);
  }

  /** What is let off has not been taken. */
  #charge(amount: number): void {
    this.buckets.refill(0, this.nowMs);
    const before = this.buckets.tokens.at(MESSAGES);
    this.buckets.charge(0, amount, 0, 1000, this.nowMs);
    if (before !== NONE) this.#taken(before - this.buckets.tokens.at(MESSAGES));
  }

  #taken(amount: number): { amount: number } {
    const entry: Entry = { kind: 'take', atMs: this.nowMs, amount };
    this.journal.push(entry);
    return entry;
  }
}

test('a refund leaves exactly what a bucket would have of which only the used part was ever taken', () => {
  let brought = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 120, size: 'max' }), (steps) => {
      const scene = new Scene();
      for (const now of steps) {
        scene.do(now);
        scene.buckets.refill(0, scene.nowMs);
        const tokens = scene.buckets.tokens.at(MESSAGES);
        const expected = replayed(scene.journal, scene.nowMs);
        if (expected === NONE) expect(tokens).toBe(NONE);
        else expect(Math.abs(tokens - expected)).toBeLessThan(1e-6);
      }
      if (scene.largest > 1) brought++;
    }),
    runs(3000),
  );
  // Not a law that holds because nothing ever comes back.
  expect(brought).toBeGreaterThan(partOf(1000));
});
