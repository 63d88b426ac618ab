import '../seed.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { STRATEGY_NAMES } from '../../../src/core/convergence/strategies.js';
import { SETTINGS } from '../../simulation/settings.js';
import { groupOf, LANE, worldOfTokens } from '../../simulation/tokens/play.js';
import { SpanLedger } from '../span-ledger.js';

const PER_SECOND = 300;
const DEPTH = 30;
const STEP_MS = 5;
const LENGTH_MS = 4000;

const change = fc.record(
  {
    minShareRatio: fc.constantFrom(0, 0.1, 0.3),
    maxShareRatio: fc.constantFrom(0.1, 0.5, 0.9, 1),
    strategy: fc.constantFrom(...STRATEGY_NAMES),
    weights: fc.constantFrom({}, { a: 9 }, { b: 0.1 }),
  },
  { requiredKeys: [] },
);
const changes = fc.array(fc.record({ afterMs: fc.integer({ min: 20, max: 150 }), change }), {
  minLength: 2,
  maxLength: 3,
});
type Changes = typeof changes extends fc.Arbitrary<infer Value> ? Value : never;

const GROUP_OF_300 = groupOf(PER_SECOND, DEPTH);

/** Asks for all that there is at every node, while the changes follow one another again and again. */
function play(names: readonly string[], deliveryMs: number, repeated: Changes): SpanLedger {
  const half: [number, number] = [deliveryMs / 2, deliveryMs / 2];
  const world = worldOfTokens(1, names, PER_SECOND, { appendMs: half, deliveryMs: half });
  world.changeGroup(0, GROUP_OF_300);
  world.runFor(3000);
  const ledger = new SpanLedger();
  ledger.limited(world.nowMs, PER_SECOND, names.length * DEPTH + 2);
  let [at, nextMs] = [0, world.nowMs];
  for (const endMs = world.nowMs + LENGTH_MS; world.nowMs < endMs; world.runFor(STEP_MS)) {
    if (world.nowMs >= nextMs) {
      const { afterMs, change: changed } = repeated[at++ % repeated.length];
      world.changeGroup(0, { ...GROUP_OF_300, ...changed });
      nextMs += afterMs;
    }
    for (const name of names) take(world, name, ledger);
  }
  return ledger;
}

function take(world: World, name: string, ledger: SpanLedger): void {
  let taken = 0;
  while (world.ask(name, LANE, 1, 0, false)) taken++;
  for (let piece = 0; piece < taken; piece++) ledger.admitted(world.nowMs, 1);
}

test.each([
  ['one node', ['a'], 5],
  ['three nodes', ['a', 'b', 'c'], 50],
])('%s: whatever is changed how often, a span holds the quota and a depth for each node', (_, names, deliveryMs) => {
  fc.assert(
    fc.property(changes, (repeated) => {
      expect(play(names, deliveryMs, repeated).worstExcess).toBeLessThanOrEqual(0);
    }),
    { numRuns: 10 },
  );
});

test('a raise adds no tokens to a full bucket that nobody uses, at whichever moment it is read', () => {
  const minted: { raisedMs: number; granted: number }[] = [];
  for (let raisedMs = 10_000; raisedMs < 10_300; raisedMs += 10) {
    const world = new World(1, { ...SETTINGS, groups: [perDay(1000)] });
    world.start('a');
    world.runFor(raisedMs);
    world.changeGroup(0, perDay(2000));
    world.runFor(1000);
    let granted = 0;
    while (world.ask('a', LANE, 1, 0, false)) granted++;
    if (granted !== 1000) minted.push({ raisedMs, granted });
  }
  expect(minted).toEqual([]);
});

function perDay(quota: number): GroupSettings {
  return groupOf(quota / 86_400, quota);
}
