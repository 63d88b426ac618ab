import { Random } from '../../sim/cluster/random.js';

export interface Plan {
  readonly name: string;
  /** As a rate has it behind its amount. */
  readonly unit: 'h' | 'min';
  readonly amount: number;
  readonly periodMs: number;
}

export const PLANS: readonly Plan[] = [
  { name: 'hourly', unit: 'h', amount: 60, periodMs: 3_600_000 },
  { name: 'minutely', unit: 'min', amount: 600, periodMs: 60_000 },
];

/** `steady`: one request after another, `heaps`: a quarter of the quota within a second, `greedy`: more than the quota. */
export type Habit = 'steady' | 'heaps' | 'greedy';

export interface Customer {
  /** As the service knows it. */
  readonly name: string;
  readonly plan: Plan;
  readonly habit: Habit;
  /** Most that it asks for in any period of its plan, as a part of the quota. */
  readonly part: number;
  /** Milliseconds since the beginning, in order. */
  readonly dueMs: Float64Array;
}

const PER_PLAN = 30;
const GREEDY_PER_PLAN = 3;
const GREEDY_PART = 2;
const PARTS = [0.6, 0.7, 0.8, 0.9];
const HEAP_PART = 0.25;
const HEAP_MS = 1000;

/**
 * Draws 60 customers and their requests: Poisson in time, thinned so that no period of any place has more than `part`.
 *
 * *Why:* what is at most the quota in every period is granted whole by a bucket as deep as the quota, by any window of
 * this length, fixed or sliding, and so by every model that is compared. A run shorter than an hour spends the hour's
 * part within it.
 */
export function customersOf(seed: number, endsMs: number): Customer[] {
  return PLANS.flatMap((plan) =>
    Array.from({ length: PER_PLAN }, (_, at): Customer => {
      const name = `${plan.name}:${at}`;
      const random = Random.stream(seed, name);
      const habit = at < GREEDY_PER_PLAN ? 'greedy' : at % 2 === 0 ? 'steady' : 'heaps';
      const part = habit === 'greedy' ? GREEDY_PART : PARTS[at % PARTS.length];
      return { name, plan, habit, part, dueMs: arrivals(random, plan, habit, part, endsMs) };
    }),
  );
}

function arrivals(random: Random, plan: Plan, habit: Habit, part: number, endsMs: number): Float64Array {
  const most = Math.floor(part * plan.amount);
  const heap = habit === 'heaps' ? plan.amount * HEAP_PART : 1;
  const meanGapMs = (Math.min(plan.periodMs, endsMs) / most) * heap;
  const wanted: number[] = [];
  for (let atMs = random.exponential(meanGapMs); atMs < endsMs; atMs += random.exponential(meanGapMs)) {
    for (let request = 0; request < heap; request++) wanted.push(atMs + (heap === 1 ? 0 : HEAP_MS * random.next()));
  }
  return atMostInAnyPeriod(Float64Array.from(wanted.filter((atMs) => atMs < endsMs)).sort(), most, plan.periodMs);
}

function atMostInAnyPeriod(sorted: Float64Array, most: number, periodMs: number): Float64Array {
  const kept: number[] = [];
  for (const atMs of sorted) {
    const before = kept[kept.length - most];
    if (before === undefined || before <= atMs - periodMs) kept.push(atMs);
  }
  return Float64Array.from(kept);
}
