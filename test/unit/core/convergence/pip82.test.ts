import { expect, test } from 'vitest';
import { stealHalfway } from '../../../../src/core/convergence/steal-halfway.js';
import { STRATEGIES } from '../../../../src/core/convergence/strategies.js';
import { readVectors } from '../../../vectors/read-vectors.js';
import { sharesOf, total } from './round-of.js';

interface AllocationCase {
  readonly id: string;
  readonly kind: string;
  readonly quota: number;
  readonly usage: Readonly<Record<string, number>>;
  readonly rule: string;
  readonly expectedLimits: Readonly<Record<string, number>>;
  readonly expectedSum?: number;
  /** For steal cases: shares applied before (else what was used), and who wanted more than it used. */
  readonly limits?: Readonly<Record<string, number>>;
  readonly saturated?: readonly string[];
}

/**
 * The strategies that a rule of the text describes; when the quota is exceeded both options of the text reduce alike.
 */
const STRATEGIES_OF_RULE: Readonly<Record<string, readonly string[]>> = {
  'limit = usage + unused': ['equal-residual'],
  'limit = usage + unused x usage / total': ['proportional'],
  'limit = usage - excess x usage / total': ['proportional', 'equal-residual'],
};

/** Kinds that other runners or later issues take; an unknown kind fails the run. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  closedLoop: 'run in virtual time by test/simulation/pip82.test.ts',
  reporting: 'run against the reporter and the usage map by test/unit/core/report/pip82-reporting.test.ts',
  budget: 'bytes on the topic are printed by npm run bench:scale (docs/operate/scale.md)',
};

const { cases } = readVectors<{ readonly cases: readonly AllocationCase[] }>('pip82.json');
const allocations = cases.filter(({ kind }) => kind === 'allocation');
const steals = cases.filter(({ kind }) => kind === 'steal');

test.each(allocations)('PIP-82 $id: $rule', ({ quota, usage, rule, expectedLimits, expectedSum }) => {
  const names = Object.keys(usage);
  const strategies = STRATEGIES_OF_RULE[rule] ?? [];
  expect(strategies, `rule "${rule}"`).not.toHaveLength(0);
  for (const name of strategies) {
    const strategy = STRATEGIES[name];
    expect(strategy).toBeDefined();
    if (strategy === undefined) continue;
    const [shares = []] = sharesOf(strategy, { target: [quota], usage: [names.map((node) => usage[node])] });
    names.forEach((node, at) => {
      expect(shares[at], `${name} ${node}`).toBeCloseTo(expectedLimits[node], 4);
    });
    expect(total(shares)).toBeCloseTo(expectedSum as number, 4);
  }
});

test.each(steals)(
  'PIP-82 $id: $rule (steal-halfway)',
  ({ quota, usage, limits = {}, saturated = [], expectedLimits }) => {
    const names = Object.keys(usage);
    const [shares = []] = sharesOf(stealHalfway, {
      target: [quota],
      usage: [names.map((node) => usage[node])],
      demand: [names.map((node) => (saturated.includes(node) ? MORE_THAN_ANY : usage[node]))],
      applied: [names.map((node) => limits[node] ?? 0)],
    });
    for (const [node, limit] of Object.entries(expectedLimits)) {
      expect(shares[names.indexOf(node)], node).toBeCloseTo(limit, 4);
    }
    expect(total(shares)).toBeLessThanOrEqual(quota * (1 + 1e-9));
  },
);

/** A saturated node's demand is not given; it is more than what any steal of the text hands out. */
const MORE_THAN_ANY = 1000;

test('every kind of case is known', () => {
  const counts = new Map<string, number>();
  for (const { kind } of cases) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  console.log(`pip82.json: ${allocations.length} allocation and ${steals.length} steal cases run here`);
  counts.delete('allocation');
  counts.delete('steal');
  for (const [kind, count] of counts) {
    expect(ELSEWHERE, `unknown kind "${kind}"`).toHaveProperty(kind);
    console.log(`pip82.json: ${count} ${kind} cases not here: ${ELSEWHERE[kind]}`);
  }
  expect(allocations).toHaveLength(5);
  expect(steals).toHaveLength(3);
});
