import { expect, test } from 'vitest';
import { asForked, asReleased, type QuotaCalculator } from '../../../sim/baselines/pulsar/quota-calculator.js';
import { readVectors } from '../../vectors/read-vectors.js';

interface CalculatorCase {
  readonly id: string;
  readonly variant: string;
  readonly configured: number;
  readonly own: number;
  readonly usages: readonly number[];
  readonly periodSec?: number;
  readonly threshold?: number;
  readonly expected?: number | 'error';
  readonly relation?: Readonly<Record<string, number | string>>;
}

const VARIANTS: Readonly<Record<string, Readonly<Record<string, QuotaCalculator>>>> = {
  both: { released: asReleased, forked: asForked },
  upstream: { released: asReleased },
  fork: { forked: asForked },
};
const RELATIONS = ['quotaGreaterThan', 'quotaLessThan', 'ratioToCase', 'ratio', 'value'];

const { cases } = readVectors<{ readonly cases: readonly CalculatorCase[] }>('pulsar-calculator.json');

function quotaOf(calculate: QuotaCalculator, given: CalculatorCase): number | 'error' {
  const { configured, own, usages, periodSec = 60, threshold = 0 } = given;
  return calculate({ configured, own, total: usages.reduce((sum, usage) => sum + usage, 0), periodSec, threshold });
}

function calculatorsOf({ id, variant }: CalculatorCase): [string, QuotaCalculator][] {
  const calculators = VARIANTS[variant];
  if (calculators === undefined) throw new Error(`case ${id}: unknown variant "${variant}"`);
  return Object.entries(calculators);
}

function expectRelation(quota: number | 'error', relation: NonNullable<CalculatorCase['relation']>, other?: number) {
  const unknown = Object.keys(relation).filter((name) => !RELATIONS.includes(name));
  expect(unknown, 'unknown relations').toEqual([]);
  expect(quota).toBe(relation.value);
  if (relation.quotaGreaterThan !== undefined) expect(quota).toBeGreaterThan(Number(relation.quotaGreaterThan));
  if (relation.quotaLessThan !== undefined) expect(quota).toBeLessThan(Number(relation.quotaLessThan));
  if (relation.ratioToCase !== undefined) expect(Number(quota) / Number(other)).toBeCloseTo(Number(relation.ratio), 1);
}

test.each(cases)('Pulsar calculates: $id', (given) => {
  for (const [name, calculate] of calculatorsOf(given)) {
    const quota = quotaOf(calculate, given);
    if (given.expected !== undefined) expect(quota, name).toBe(given.expected);
    if (given.relation === undefined) continue;
    const paired = cases.find(({ id }) => id === given.relation?.ratioToCase);
    expectRelation(quota, given.relation, paired && Number(quotaOf(calculate, paired)));
  }
});

test('every case of the file expects something and is run', () => {
  expect(cases.filter(({ expected, relation }) => expected === undefined && relation === undefined)).toEqual([]);
  const runs = cases.flatMap((given) => calculatorsOf(given)).length;
  console.log(`pulsar-calculator.json: ${cases.length} cases, ${runs} calculations by the two formulas`);
  expect(cases).toHaveLength(35);
});
