import fc from 'fast-check';
import { HEADROOMS } from '../../src/core/base/vocabulary.js';
import type { Participants } from '../unit/core/convergence/round-of.js';

/**
 * Rates as clusters have them, and as only tests do: 0, 1e-3 … 1e12 on a logarithmic scale, and whole small numbers.
 */
export const rate = fc.oneof(
  fc.constant(0),
  fc.double({ min: -3, max: 12, noNaN: true }).map((exponent) => 10 ** exponent),
  fc.integer({ min: 1, max: 2000 }),
);

export const positiveRate = rate.map((value) => (value === 0 ? 1 : value));

/** Age of a report, in log time: 0 … minutes. */
const age = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 300_000 }));

export interface Cluster
  extends Required<
    Pick<Participants, 'usage' | 'demand' | 'applied' | 'ageMs' | 'weight' | 'floorRatio' | 'headroom'>
  > {
  readonly target: readonly number[];
  readonly divisor?: readonly number[];
}

interface Shape {
  readonly nodes?: number;
  readonly dimensions?: 1 | 2;
  readonly weighted?: boolean;
}

/** A cluster in some moment: mostly small, sometimes of hundreds of nodes. */
export function cluster({ nodes = 500, dimensions = 2, weighted = true }: Shape = {}): fc.Arbitrary<Cluster> {
  const count = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: Math.min(12, nodes) }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: nodes }) },
  );
  return count.chain((size) => {
    const column = fc.array(rate, { minLength: size, maxLength: size, size: 'max' });
    const columns = fc.array(column, { minLength: dimensions, maxLength: dimensions });
    const weight = weighted ? fc.double({ min: 0.01, max: 100, noNaN: true }) : fc.constant(1);
    return fc.record({
      target: fc.array(positiveRate, { minLength: dimensions, maxLength: dimensions }),
      usage: columns,
      demand: columns,
      applied: columns,
      ageMs: fc.array(age, { minLength: size, maxLength: size, size: 'max' }),
      weight: fc.array(weight, { minLength: size, maxLength: size, size: 'max' }),
      floorRatio: fc.constantFrom(0, 0.001, 0.1, 0.5, 1),
      headroom: fc.constantFrom(...HEADROOMS),
    });
  });
}

const few = fc.integer({ min: 0, max: 12 });

/**
 * Two dimensions in small whole numbers, limited, unlimited or blocked: nodes that are alike, amounts that are 0, that
 * fit exactly or that stand at a bound are as frequent here as they are rare among rates of 15 magnitudes.
 */
export function evenCluster(size: fc.Arbitrary<number> = fc.integer({ min: 1, max: 6 })): fc.Arbitrary<Cluster> {
  return size.chain((count) => {
    const columnOf = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: count, maxLength: count, size: 'max' });
    const columns = fc.tuple(columnOf(few), columnOf(few));
    const limit = fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 1, max: 12 }).map((each) => each * count) },
      { weight: 3, arbitrary: fc.constantFrom(1, 2, 10, 30) },
      fc.constantFrom(0, Infinity),
    );
    return fc.record({
      target: fc.tuple(limit, limit),
      usage: columns,
      demand: columns,
      applied: columns,
      ageMs: columnOf(fc.constantFrom(0, 1, 100, 249, 250, 251, 60_000, Infinity)),
      weight: fc.oneof(columnOf(fc.constant(1)), columnOf(fc.constantFrom(1, 1, 2, 4))),
      floorRatio: fc.constantFrom(0, 0, 0.125, 0.5, 1),
      headroom: fc.constantFrom(...HEADROOMS),
      divisor: columnOf(fc.constantFrom(0, 0, 1, count, count + 1, Infinity)),
    });
  });
}

/** The same nodes in another order. */
export function reordered(given: Cluster, order: readonly number[]): Cluster {
  const permuted = (column: readonly number[]) => order.map((at) => column[at]);
  return {
    ...given,
    usage: given.usage.map(permuted),
    demand: given.demand.map(permuted),
    applied: given.applied.map(permuted),
    ageMs: permuted(given.ageMs),
    weight: permuted(given.weight),
  };
}

export function scaled(given: Cluster, factor: number): Cluster {
  const times = (column: readonly number[]) => column.map((value) => value * factor);
  return {
    ...given,
    target: times(given.target),
    usage: given.usage.map(times),
    demand: given.demand.map(times),
    applied: given.applied.map(times),
  };
}
