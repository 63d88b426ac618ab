import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { STRATEGIES } from '../../src/core/convergence/strategies.js';
import { sharesOf, total } from '../unit/core/convergence/round-of.js';
import { cluster } from './rounds.js';
import { runs } from './seed.js';
import { bisectedFill, TWINS } from './twins.js';

/** The other strategies are held to theirs in both dimensions: strategy-twins.test.ts. */
test('max-min gives what its plain twin gives, whatever becomes of a left-over', () => {
  const { shares: twin } = TWINS['max-min'];
  fc.assert(
    fc.property(cluster({ nodes: 80, dimensions: 1 }), (given) => {
      const target = given.target[0];
      const [shares = []] = sharesOf(STRATEGIES['max-min'], given);
      twin(given).forEach((right, node) => {
        const share = shares[node];
        if (Math.abs(share - right) > 1e-7 * target) throw new Error(`node ${node}: ${share} instead of ${right}`);
      });
    }),
    runs(150),
  );
});

/** Applied shares that are max-min fair and spend the target, where everybody's demand is known. */
function fairShares(demand: readonly number[], weight: readonly number[], target: number): number[] {
  return bisectedFill(
    demand.map(() => 0),
    demand,
    weight,
    target,
  );
}

describe.each(['max-min', 'steal-halfway', 'client-rate'])('%s', (name) => {
  test('is at rest when shares are fair and spent', () => {
    let cases = 0;
    fc.assert(
      fc.property(cluster({ nodes: 60, dimensions: 1 }), (given) => {
        const target = given.target[0];
        const demand = given.demand[0];
        if (total(demand.slice()) < target) return;
        cases++;
        const applied = fairShares(demand, given.weight, target);
        const [shares = []] = sharesOf(STRATEGIES[name], { ...given, floorRatio: 0, applied: [applied] });
        shares.forEach((share, node) => {
          expect(Math.abs(share - applied[node])).toBeLessThanOrEqual(1e-6 * target);
        });
      }),
      runs(100),
    );
    expect(cases).toBeGreaterThan(runs(25).numRuns);
  });

  test('comes to fair shares from anywhere, applied by everybody in every round', () => {
    let slowest = 0;
    fc.assert(
      fc.property(cluster({ nodes: 40, dimensions: 1, weighted: false }), (given) => {
        const target = given.target[0];
        const demand = given.demand[0];
        const fair = fairShares(demand, given.weight, target);
        let applied = given.applied[0];
        const off = () => total(fair.map((share, node) => Math.max(0, share - applied[node]))) / target;
        let rounds = 0;
        do {
          applied = sharesOf(STRATEGIES[name], { ...given, floorRatio: 0, applied: [applied] })[0] ?? [];
          rounds++;
        } while (off() > 0.05 && rounds < 100);
        slowest = Math.max(slowest, rounds);
      }),
      runs(100),
    );
    console.log(`${name}: within 5 % of fair after at most ${slowest} rounds`);
    expect(slowest).toBeLessThanOrEqual(name === 'max-min' ? 1 : 40);
  });
});
