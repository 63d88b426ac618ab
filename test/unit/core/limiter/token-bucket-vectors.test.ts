import { expect, test } from 'vitest';
import { InvariantError } from '../../../../src/core/base/invariant.js';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Limiter } from '../../../../src/core/limiter/limiter.js';
import { CASES, PublishScene, type Step, TrackerScene, type VectorCase } from './token-bucket-steps.js';

/** The gate refuses negative amounts before the limiter sees them (test/unit/admission/refused-vectors.test.ts). */
const AT_THE_GATE = new Set(['bucket/negative-consume-is-an-error']);
/** Its rate is small; what is asked for is refused as above maxRequest, there as well. */
const ABOVE_MAX_REQUEST = new Set(['bucket/overflow-wait']);

const ofKind = (kind: string) => CASES.filter((one) => one.kind === kind);
const buckets = ofKind('bucket').filter(({ id, beyondSafeInteger }) => !beyondSafeInteger && !AT_THE_GATE.has(id));
const beyond = ofKind('bucket').filter(({ id, beyondSafeInteger }) => beyondSafeInteger && !ABOVE_MAX_REQUEST.has(id));

test.each(buckets)('$id', ({ params, steps }) => {
  const bucket = new VectorBucket(params);
  for (const step of steps) bucket.perform(step);
});

test.each(beyond)('$id: refused, doubles skip whole tokens there', ({ params }) => {
  expect(() => new VectorBucket(params)).toThrow(InvariantError);
});

test.each(ofKind('publishLimiter'))('$id', ({ params, steps }) => {
  const scene = new PublishScene(params);
  for (const step of steps) scene.perform(step);
});

test.each(ofKind('throttleTracker'))('$id', ({ steps }) => {
  const scene = new TrackerScene();
  for (const step of steps) scene.perform(step);
});

test('every kind of case is known; endToEnd runs in real time (test/integration/token-bucket-real-time.test.ts)', () => {
  const kinds = new Set(CASES.map(({ kind }) => kind));
  expect([...kinds].sort()).toEqual(['bucket', 'endToEnd', 'publishLimiter', 'throttleTracker']);
  const run = [buckets, beyond, ofKind('publishLimiter'), ofKind('throttleTracker')].map(({ length }) => length);
  console.log(`token-bucket.json: ${run.join(' + ')} of ${CASES.length} cases; endToEnd not here`);
  expect(run).toEqual([23, 4, 10, 8]);
});

interface Repeat {
  readonly times: number;
  readonly steps: readonly Step[];
  readonly everyNth?: { readonly n: number; readonly steps: readonly Step[] };
}

/** The operations of the file on one slot of our limiter. `consume` is a charge that is never refused. */
class VectorBucket {
  readonly #limiter = new Limiter(1);
  readonly #capacity: number;
  #nowMs = 0;

  constructor(params: VectorCase['params']) {
    const { periodMs = 1000, capacity, initialTokens } = params as Readonly<Record<string, number | undefined>>;
    const ratePerPeriod = Number(params.ratePerPeriod);
    this.#capacity = capacity ?? ratePerPeriod;
    this.#limiter.setLimit(0, MESSAGES, (ratePerPeriod * 1000) / periodMs, this.#capacity, 0);
    this.#limiter.setLimit(0, BYTES, Infinity, 1, 0);
    this.#limiter.tokens.set(0, initialTokens ?? ratePerPeriod);
  }

  perform(step: Step): void {
    switch (step.op) {
      case 'advanceMs':
        this.#nowMs += step.ms as number;
        break;
      case 'consume':
        this.#charge(step.tokens as number);
        break;
      case 'consumeAndCheck':
        this.#charge(step.tokens as number);
        expect(this.#balance() > 0).toBe(step.value);
        break;
      case 'readTokens':
        this.#balance();
        break;
      case 'expectTokens':
        expect(wholeTokens(this.#balance())).toBe(step.value);
        break;
      case 'expectTokensBetween':
        expect(wholeTokens(this.#balance())).toBeGreaterThanOrEqual(step.min as number);
        expect(wholeTokens(this.#balance())).toBeLessThanOrEqual(step.max as number);
        break;
      case 'expectTokensAnyOf':
        expect(step.values).toContain(wholeTokens(this.#balance()));
        break;
      case 'expectWaitMs':
        this.#expectWait(step.need as number | undefined, step.value as number);
        break;
      case 'repeat':
        this.#repeat(step as unknown as Repeat);
        break;
      default:
        throw new Error(`unknown operation "${step.op}"`);
    }
  }

  /** `everyNth` adds steps after each n-th turn. */
  #repeat({ times, steps, everyNth }: Repeat): void {
    for (let turn = 1; turn <= times; turn++) {
      for (const step of steps) this.perform(step);
      if (everyNth === undefined || turn % everyNth.n !== 0) continue;
      for (const step of everyNth.steps) this.perform(step);
    }
  }

  /** Without a cap on the debt: that is ours, and has tests of its own. */
  #charge(tokens: number): void {
    this.#limiter.buckets.charge(0, tokens, 0, Infinity, this.#nowMs);
  }

  #balance(): number {
    this.#limiter.available(0, MESSAGES, this.#nowMs);
    return this.#limiter.tokens.at(0);
  }

  /** Without `need`: until a useful amount is back, which is what the throttling duration means. */
  #expectWait(need: number | undefined, expectedMs: number): void {
    const { buckets } = this.#limiter;
    const waitMs = need === undefined ? buckets.throttleMs(0, this.#nowMs) : buckets.waitMs(0, need, 0, this.#nowMs);
    expect(Math.abs(waitMs - expectedMs)).toBeLessThanOrEqual(1);
  }
}

/** Rounded down, but 2.9999999999 tokens of double arithmetic are 3: 1e-6 of a token is no work at all. */
function wholeTokens(balance: number): number {
  const whole = Math.floor(balance + 1e-6);
  return whole === 0 ? 0 : whole;
}
