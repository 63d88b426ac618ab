import fc from 'fast-check';
import { describe, test } from 'vitest';
import { ExpectedUse } from '../../../src/core/account/expected-use.js';
import { DIMENSION_COUNT } from '../../../src/core/base/vocabulary.js';
import { strategyOf } from '../../../src/core/convergence/compose.js';
import { STRATEGY_NAMES } from '../../../src/core/convergence/strategies.js';
import type { LaneView } from '../../../src/core/convergence/strategy.js';
import { GROUP } from '../../simulation/settings.js';
import { roundOf, total } from '../../unit/core/convergence/round-of.js';
import { type Cluster, cluster, evenCluster } from '../rounds.js';
import { runs } from '../seed.js';

const given = fc.oneof(cluster({ nodes: 60 }), evenCluster());
/** Rates as parts of the target: what a bucket of several seconds gives is several targets. */
const part = fc.oneof(
  fc.constantFrom(0, 1),
  fc.double({ min: 0, max: 1.2, noNaN: true }),
  fc.double({ min: 0, max: 9, noNaN: true }),
);

/** Numbers near the least that there is have no digits left to compare. */
const TINY = 1e-300;

/** `equal` lends nothing: its nodes are held to their shares. */
const LENDING = STRATEGY_NAMES.filter((name) => name !== 'equal');

/** What every node expects of itself, per limited dimension. */
function expectations(
  of: Cluster,
  name: string,
): { readonly target: number; readonly nodes: readonly ExpectedUse[] }[] {
  const round = roundOf(of);
  const strategy = strategyOf({ ...GROUP, strategy: name });
  round.isLent = strategy.agreesOnPool !== true;
  strategy.converge(round);
  return Array.from({ length: DIMENSION_COUNT }, (_, dimension) => ({
    target: round.target[dimension],
    nodes: Array.from({ length: round.count }, (_, own) => viewed(round, own, dimension)),
  })).filter(({ target }) => target > 0 && target !== Infinity);
}

function viewed(round: LaneView, own: number, dimension: number): ExpectedUse {
  const expected = new ExpectedUse();
  expected.view(round, own, dimension);
  return expected;
}

function expectAtMost(amount: number, most: number): void {
  if (!(amount <= most * (1 + 1e-9) + TINY)) throw new Error(`${amount} is more than ${most}`);
}

describe.each(STRATEGY_NAMES)('by %s, what all expect of themselves', (strategy) => {
  test('is together what the bucket is expected to lose, no more and no less', () => {
    fc.assert(
      fc.property(given, part, (of, times) => {
        for (const { target, nodes } of expectations(of, strategy)) {
          const rate = times * target;
          const [{ total: all }] = nodes as [ExpectedUse];
          const sum = total(nodes.map((node) => node.ownAt(rate)));
          expectAtMost(sum, Math.min(all, rate));
          // Within rounding of what shares are rounded to.
          if (sum < Math.min(all, rate) * (1 - 1e-6) - TINY) throw new Error(`${sum} of ${all} at ${rate}`);
        }
      }),
      runs(500),
    );
  });

  test('is not negative, and no less of a larger rate', () => {
    fc.assert(
      fc.property(given, part, part, (of, one, other) => {
        const [low, high] = [Math.min(one, other), Math.max(one, other)];
        for (const { target, nodes } of expectations(of, strategy)) {
          for (const node of nodes) {
            if (!(node.ownAt(low * target) >= 0)) throw new Error(`${node.ownAt(low * target)} is negative`);
            expectAtMost(node.ownAt(low * target), node.ownAt(high * target));
          }
        }
      }),
      runs(400),
    );
  });

  test('is at its target no more than the target', () => {
    fc.assert(
      fc.property(given, (of) => {
        for (const { target, nodes } of expectations(of, strategy)) {
          expectAtMost(total(nodes.map((node) => node.ownAt(target))), target);
        }
      }),
      runs(500),
    );
  });
});

describe.each(LENDING)('by %s', (strategy) => {
  test('cuts a node that is met only below what those take together that are met', () => {
    fc.assert(
      fc.property(given, part, (of, times) => {
        for (const { target, nodes } of expectations(of, strategy)) {
          const met = nodes.filter(({ isThrottled }) => !isThrottled);
          const wanted = total(met.map(({ own }) => own));
          const rate = times * target;
          for (const node of met) {
            if (rate >= wanted * (1 + 1e-12)) expectAtMost(node.own, node.ownAt(rate));
            expectAtMost(node.ownAt(rate), node.own);
          }
          if (rate >= wanted) continue;
          for (const node of nodes) if (node.isThrottled) expectAtMost(node.ownAt(rate), 0);
        }
      }),
      runs(400),
    );
  });

  test('somebody is throttled only where the whole target is taken, but for floors of nodes without demand', () => {
    fc.assert(
      fc.property(cluster({ nodes: 60, dimensions: 1 }), (of) => {
        for (const { target, nodes } of expectations({ ...of, floorRatio: 0 }, strategy)) {
          const [{ served }] = nodes as [ExpectedUse];
          if (!nodes.some(({ isThrottled }) => isThrottled)) continue;
          if (served < target * (1 - 1e-6)) throw new Error(`${served} of ${target}`);
        }
      }),
      runs(500),
    );
  });
});

test('nobody expects more of itself than its share where nothing is lent', () => {
  fc.assert(
    fc.property(given, part, (of, times) => {
      for (const { target, nodes } of expectations(of, 'equal')) {
        for (const node of nodes) expectAtMost(node.ownAt(times * target), node.share);
      }
    }),
    runs(500),
  );
});

test.each(STRATEGY_NAMES)('the parts of the slack are one together, at most: %s', (strategy) => {
  fc.assert(
    fc.property(given, fc.boolean(), (of, isInPieces) => {
      for (const { nodes } of expectations(of, strategy)) {
        if (isInPieces) for (const node of nodes) node.expectNothing();
        expectAtMost(total(nodes.map((node) => node.part)), 1);
      }
    }),
    runs(400),
  );
});
