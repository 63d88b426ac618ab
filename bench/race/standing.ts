import { BUCKETS_S } from './figures.js';
import type { ContenderResult, Results, TrafficResult } from './results.js';
import type { TrafficName } from './traffic.js';

/** How far a figure of one contender is from the best one of all limiters under the same requests. */
export interface Standing {
  readonly traffic: TrafficName;
  readonly figure: string;
  readonly own: number;
  readonly best: number;
  /** Who has it. */
  readonly by: string;
  readonly unit: Unit;
  readonly isFirst: boolean;
}

export type Unit = 'part' | 'ms' | 'µs' | 'requests';

interface Measure {
  readonly figure: string;
  readonly unit: Unit;
  /** Less is better, 0 is perfect; null where it is not measured. */
  of(traffic: TrafficResult): number | null;
}

/** Within so much of the best a contender is first, too: two runs of one limiter differ by as much. */
const TIES: Readonly<Record<Unit, { readonly by: number; readonly times: number }>> = {
  part: { by: 0.02, times: 1 },
  ms: { by: 0.2, times: 1.1 },
  µs: { by: 5, times: 1.1 },
  requests: { by: 0, times: 1 },
};
export const TIES_IN_WORDS =
  'Within 2 % of the quota, within 10 % and 0.2 ms or 5 µs of the best is first, too: two runs of one limiter differ ' +
  'by as much.';

const NO_LIMIT = 'no limit';
const EVEN_MEASURES: readonly Measure[] = [
  ...BUCKETS_S.map((seconds, at): Measure => {
    return { figure: `above the quota in ${seconds} s`, unit: 'part', of: ({ whole }) => aboveZero(whole.buckets[at]) };
  }),
  { figure: 'worst second above the quota', unit: 'part', of: ({ whole }) => aboveZero(whole.worstSecond - 1) },
  { figure: 'not given of an exact bucket', unit: 'part', of: ({ whole }) => Math.max(0, 1 - whole.used) },
  { figure: 'refused below fair', unit: 'part', of: ({ whole }) => whole.belowFair },
  { figure: 'p50', unit: 'ms', of: ({ whole }) => whole.p50Ms },
  { figure: 'p99', unit: 'ms', of: ({ whole }) => whole.p99Ms },
  { figure: 'CPU per request', unit: 'µs', of: ({ cpuMicrosPerRequest }) => cpuMicrosPerRequest },
  { figure: 'lost', unit: 'requests', of: ({ whole }) => whole.lost },
];
const BURST_MEASURES: readonly Measure[] = [
  ...[0, 1].map((at): Measure => {
    const which = at === 0 ? 'at one node' : 'over all nodes';
    const of = ({ bursts }: TrafficResult) => {
      const burst = bursts[at];
      return burst === undefined ? null : Math.max(0, burst.admitted / burst.allowed - 1);
    };
    return { figure: `above what it may, ${which}`, unit: 'part', of };
  }),
  { figure: 'worst second above the quota', unit: 'part', of: ({ whole }) => aboveZero(whole.worstSecond - 1) },
  { figure: 'p99', unit: 'ms', of: ({ whole }) => whole.p99Ms },
  { figure: 'lost', unit: 'requests', of: ({ whole }) => whole.lost },
];
const KILLED_MEASURES: readonly Measure[] = [
  { figure: 'away: off the quota', unit: 'part', of: ({ away }) => away && Math.abs(away.total) },
  { figure: 'away: lost', unit: 'requests', of: ({ away }) => away?.lost ?? null },
  { figure: 'after: off the quota', unit: 'part', of: ({ back }) => back && Math.abs(back.total) },
  { figure: 'after: lost', unit: 'requests', of: ({ back }) => back?.lost ?? null },
  { figure: 'worst second above the quota', unit: 'part', of: ({ whole }) => aboveZero(whole.worstSecond - 1) },
  { figure: 'away: p99', unit: 'ms', of: ({ away }) => away?.p99Ms ?? null },
];

/** Every figure of `name` beside the best of all limiters, those that make it first included. */
export function standingsOf({ contenders }: Results, name: string): Standing[] {
  const own = contenders.find((contender) => contender.name === name);
  return (own?.traffics ?? []).flatMap((traffic) => {
    const rivals = contenders.flatMap((contender) => rivalOf(contender, traffic.name));
    // Who ran alone is first of nobody.
    if (rivals.length < 2) return [];
    return measuresOf(traffic.name).flatMap((measure) => standingOf(measure, traffic, rivals));
  });
}

type Rival = { readonly name: string; readonly traffic: TrafficResult };

function rivalOf(contender: ContenderResult, traffic: TrafficName): Rival[] {
  const found = contender.traffics.find((each) => each.name === traffic);
  return found === undefined || contender.name === NO_LIMIT ? [] : [{ name: contender.name, traffic: found }];
}

function standingOf(measure: Measure, traffic: TrafficResult, rivals: readonly Rival[]): Standing[] {
  const own = measure.of(traffic);
  const seen = rivals.flatMap((rival) => {
    const value = measure.of(rival.traffic);
    return value === null ? [] : [{ by: rival.name, value }];
  });
  if (own === null) return [];
  const { by, value: best } = seen.reduce((one, other) => (other.value < one.value ? other : one));
  const tie = TIES[measure.unit];
  const isFirst = own <= Math.max(best + tie.by, best * tie.times);
  return [{ traffic: traffic.name, figure: measure.figure, unit: measure.unit, own, best, by, isFirst }];
}

function measuresOf(name: TrafficName): readonly Measure[] {
  if (name === 'bursts') return BURST_MEASURES;
  return name === 'killed' ? KILLED_MEASURES : EVEN_MEASURES;
}

function aboveZero(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : Math.max(0, value);
}
