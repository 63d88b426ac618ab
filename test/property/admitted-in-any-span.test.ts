import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { STRATEGY_NAMES } from '../../src/core/convergence/strategies.js';
import { runs } from './seed.js';
import { type LimiterChange, SpanScene } from './span-scene.js';

const fraction = fc.nat(999).map((part) => part / 1000);
const where = fc.nat(2);
const from = fc.nat(5);
const messages = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 40 }));
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const limiter: fc.Arbitrary<LimiterChange> = fc.constantFrom(
  { limiter: 'bucket' as const, windowMs: 1000 },
  { limiter: 'window' as const, windowMs: 1000 },
  { limiter: 'window' as const, windowMs: 1500 },
  { limiter: 'window' as const, windowMs: 100 },
);
// Multiples of 50 ms meet the ends of windows.
const pass = fc.oneof(
  fc.record({ kind: kind('pass'), ms: fc.nat(8).map((count) => 50 * count) }),
  fc.record({ kind: kind('pass'), ms: fc.integer({ min: 1, max: 1000 }) }),
);
const acquire = fc.record({ kind: kind('acquire'), where, from, messages, atMost: fc.boolean() });
const taking = fc.oneof(
  acquire,
  fc.record({ kind: kind('wait'), where, from, messages, ms: fc.nat(1000) }),
  fc.record({ kind: kind('reserve'), where, from, messages }),
  fc.record({ kind: kind('take'), where, from, messages, ms: fc.constantFrom(0, 300) }),
  fc.record({ kind: kind('consume'), where, from, messages: fc.constant(1), isImmediate: fc.boolean() }),
);
const few = fc.integer({ min: 1, max: 8 });
const holding = fc.oneof(
  fc.record({ kind: kind('reserve'), where, from, messages: few }),
  fc.record({ kind: kind('take'), where, from, messages: few, ms: fc.constant(0) }),
);
/** All that is held is ended, each followed by an acquire. */
const cash = fc.record({ kind: kind('cash'), where, from });
const ending = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: kind('end'), which: fraction, part: fc.constantFrom(0, 0.3, 1, 1.5) }) },
  { weight: 1, arbitrary: cash },
);
const perSecond = fc.constantFrom(0, 10, 100, 300, 300);
const change = fc.oneof(
  fc.record({ kind: kind('limit'), group: fc.nat(1), perSecond, depth: fc.constantFrom(1, 10, 40) }),
  fc.record({ kind: kind('limiter'), group: fc.nat(1), limiter }),
  fc.record({ kind: kind('clients'), max: fc.integer({ min: 3, max: 5 }) }),
  fc.record({ kind: kind('strategy'), group: fc.nat(1), strategy: fc.constantFrom(...STRATEGY_NAMES) }),
);
/** Steps of so many kinds would hide what needs many of one: each history has a habit of its own. */
const habits = [
  fc.oneof({ weight: 5, arbitrary: pass }, { weight: 6, arbitrary: taking }, { weight: 4, arbitrary: ending }),
  fc.oneof(
    { weight: 40, arbitrary: pass },
    { weight: 40, arbitrary: taking },
    { weight: 30, arbitrary: ending },
    { weight: 3, arbitrary: change },
  ),
  fc.oneof({ weight: 3, arbitrary: pass }, { weight: 3, arbitrary: acquire }, { weight: 1, arbitrary: change }),
] as const;
const habitual = fc.nat(habits.length - 1).chain((habit) => {
  const step: fc.Arbitrary<Step> = habits[habit] as fc.Arbitrary<Step>;
  return fc.array(step, { minLength: 20, maxLength: 200, size: 'max' });
});
/** A client that holds all that there is for a while, and then gives it back. */
const shortPass = fc.record({ kind: kind('pass'), ms: fc.nat(100) });
const bank = fc
  .tuple(fc.array(fc.oneof(shortPass, holding, holding), { minLength: 80, maxLength: 200, size: 'max' }), cash)
  .map(([steps, last]): Step[] => [...steps, last]);
const history: fc.Arbitrary<Step[]> = fc.oneof({ weight: 3, arbitrary: habitual }, { weight: 1, arbitrary: bank });
type StepOf<Kind> = Kind extends fc.Arbitrary<infer One> ? One : never;
type Step = StepOf<typeof pass | typeof taking | typeof ending | typeof change | typeof holding>;

async function play(scene: SpanScene, now: Step): Promise<void> {
  if (now.kind === 'pass') await scene.pass(now.ms);
  else if (now.kind === 'limit') scene.setLimit(now.group, now.perSecond, now.depth);
  else if (now.kind === 'limiter') scene.change(now.group, now.limiter);
  else if (now.kind === 'strategy') scene.change(now.group, { strategy: now.strategy });
  else if (now.kind === 'clients') {
    const { perClient, perTopic } = scene.node.groups.at(0);
    scene.change(0, { perClient: { ...perClient, max: now.max }, perTopic: { ...perTopic, max: now.max } });
  } else if (now.kind === 'end') {
    const [held] = scene.held.splice(Math.floor(now.which * scene.held.length), 1);
    held?.end(Math.floor(held.amount * now.part));
  } else if (now.kind === 'cash') {
    for (const held of scene.held.splice(0)) {
      held.end(0);
      fullOrNot(() => scene.acquire(now.where, now.from, 40, true));
    }
  } else fullOrNot(() => call(scene, now));
  await Promise.resolve();
}

function call(scene: SpanScene, now: Extract<Step, { readonly messages: number }>): void {
  if (now.kind === 'acquire') scene.acquire(now.where, now.from, now.messages, now.atMost);
  else if (now.kind === 'wait') scene.wait(now.where, now.from, now.messages, now.ms);
  else if (now.kind === 'reserve') scene.reserve(now.where, now.from, now.messages);
  else if (now.kind === 'take') scene.take(now.where, now.from, now.messages, now.ms);
  else scene.consume(now.where, now.from, now.messages, now.isImmediate);
}

/** No room for another client, more than a window holds: legal calls that are told no by an error. */
function fullOrNot(run: () => void): void {
  try {
    run();
  } catch (error) {
    expect(['LEVEL_FULL', 'BATCH_ABOVE_WINDOW']).toContain((error as { code?: string }).code);
  }
}

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => vi.useRealTimers());

test('in any span every limit lets in at most limit × time + burst, by whatever calls and changes', async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const scene = new SpanScene();
      try {
        for (const now of steps) await play(scene, now);
        for (const [name, ledger] of scene.ledgers) {
          expect(ledger.worstExcess, name).toBeLessThanOrEqual(1e-6);
          most = Math.max(most, ledger.total);
        }
      } finally {
        scene.close();
      }
    }),
    runs(200),
  );
  expect(most).toBeGreaterThan(300);
});
