import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Limiter } from '../../../../src/core/limiter/limiter.js';
import { MESSAGES } from '../../../../src/core/vocabulary.js';

interface Step {
  readonly op: string;
  readonly ms?: number;
  readonly tokens?: number;
  readonly value?: number | boolean;
  readonly values?: readonly number[];
  readonly min?: number;
  readonly max?: number;
  readonly need?: number;
  readonly times?: number;
  readonly steps?: readonly Step[];
}

interface BucketCase {
  readonly id: string;
  readonly kind: string;
  readonly beyondSafeInteger?: true;
  readonly params: { ratePerPeriod: number; periodMs?: number; capacity?: number; initialTokens?: number };
  readonly steps: readonly Step[];
}

/** Kinds that the limiter's own issue brings; an unknown kind fails the run. */
const LATER: Readonly<Record<string, string>> = {
  publishLimiter: 'queue and wake-ups belong to the limiter issue',
  throttleTracker: 'the tracker of reasons belongs to the limiter issue',
  endToEnd: 'bounds of the reference broker, for the example brokers',
};

/** Rates above 2^53 − 1 are outside of what a limiter of doubles is for; the file allows to skip them (`limits`). */
const BEYOND = 'tokens above 2^53 − 1';
/** The gate refuses negative amounts before the limiter sees them (AMOUNT_INVALID). */
const AT_THE_GATE = new Set(['bucket/negative-consume-is-an-error']);

const { cases } = JSON.parse(readFileSync(new URL('../../../vectors/token-bucket.json', import.meta.url), 'utf8')) as {
  cases: BucketCase[];
};
const buckets = cases.filter(({ kind }) => kind === 'bucket');
const run = buckets.filter(({ id, beyondSafeInteger }) => !beyondSafeInteger && !AT_THE_GATE.has(id));

test.each(run)('$id', ({ params, steps }) => {
  const bucket = new VectorBucket(params);
  for (const step of steps) bucket.perform(step);
});

test('every kind of case is known', () => {
  console.log(`token-bucket.json: ${run.length} of ${buckets.length} bucket cases run here`);
  const beyond = buckets.filter(({ beyondSafeInteger }) => beyondSafeInteger).length;
  console.log(`token-bucket.json: ${beyond} bucket cases not run: ${BEYOND}`);
  console.log(`token-bucket.json: ${AT_THE_GATE.size} bucket case is the gate's: negative amounts are rejected there`);
  const others = groupByKind();
  others.delete('bucket');
  for (const [kind, ofKind] of others) {
    expect(LATER, `unknown kind "${kind}"`).toHaveProperty(kind);
    console.log(`token-bucket.json: ${ofKind.length} ${kind} cases not here: ${LATER[kind]}`);
  }
  expect(run.length).toBe(23);
});

function groupByKind(): Map<string, BucketCase[]> {
  const groups = new Map<string, BucketCase[]>();
  for (const one of cases) groups.set(one.kind, [...(groups.get(one.kind) ?? []), one]);
  return groups;
}

/** The operations of the file on one slot of our limiter. `consume` is a charge that is never refused. */
class VectorBucket {
  readonly #limiter = new Limiter(1);
  readonly #capacity: number;
  #nowMs = 0;

  constructor({ ratePerPeriod, periodMs = 1000, capacity, initialTokens }: BucketCase['params']) {
    this.#capacity = capacity ?? ratePerPeriod;
    this.#limiter.setLimit(0, MESSAGES, (ratePerPeriod * 1000) / periodMs, this.#capacity, 0);
    this.#limiter.tokens[0] = initialTokens ?? ratePerPeriod;
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
        this.#expectWait(step.need ?? Math.max(1, this.#capacity / 100), step.value as number);
        break;
      case 'repeat':
        for (let turn = 0; turn < (step.times as number); turn++) {
          for (const inner of step.steps ?? []) this.perform(inner);
        }
        break;
      default:
        throw new Error(`unknown operation "${step.op}"`);
    }
  }

  #charge(tokens: number): void {
    this.#balance();
    this.#limiter.tokens[0] = (this.#limiter.tokens[0] as number) - tokens;
  }

  #balance(): number {
    this.#limiter.available(0, MESSAGES, this.#nowMs);
    return this.#limiter.tokens[0] as number;
  }

  #expectWait(need: number, expectedMs: number): void {
    expect(Math.abs(this.#limiter.waitMs(0, need, 0, this.#nowMs) - expectedMs)).toBeLessThanOrEqual(1);
  }
}

/** Rounded down, but 2.9999999999 tokens of double arithmetic are 3: 1e-6 of a token is no work at all. */
function wholeTokens(balance: number): number {
  const whole = Math.floor(balance + 1e-6);
  return whole === 0 ? 0 : whole;
}
