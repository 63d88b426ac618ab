import type { Strategy } from '../../src/core/convergence/strategy.js';
import { type Participants, total } from '../unit/core/convergence/round-of.js';
import type { Cluster } from './rounds.js';

/** The level by bisection: slow, inexact, and too simple to be wrong. */
export function bisectedFill(
  low: readonly number[],
  high: readonly number[],
  weight: readonly number[],
  capacity: number,
): number[] {
  const at = (level: number) => high.map((most, node) => Math.min(most, Math.max(low[node], level * weight[node])));
  let below = 0;
  let above = Math.max(...high.map((most, node) => most / weight[node]), 0);
  if (total(high.slice()) <= capacity) return at(above);
  for (let halving = 0; halving < 100; halving++) {
    const middle = (below + above) / 2;
    if (total(at(middle)) > capacity) above = middle;
    else below = middle;
  }
  return at(below);
}

/** One dimension of a cluster. Demands may have been cut to what another dimension lets a node use. */
interface Lane extends Cluster {
  /** Nobody has reported any demand; without it, nobody demands anything here. */
  readonly isSilent?: boolean;
}

/** The row of a strategy: all that tests know of it. */
interface Twin {
  /** What it says of itself, written once more: that decides who reports and who is asked. */
  readonly says: Omit<Strategy, 'name' | 'converge'>;
  /** The strategy once more, for one dimension: new arrays everywhere, sorted copies, levels by bisection. */
  shares(given: Lane): number[];
  /** True if it asks what the other dimension lets a node use (`wantedBy`). */
  readonly asksTheOther?: true;
  /** Why it does not end where PIP-82's closed loops do; without a reason it must. */
  readonly leavesPip82?: string;
  /** The worked numbers of the strategy's comment. */
  readonly worked: readonly (Participants & { readonly shares: readonly (readonly number[])[] })[];
}

export const TWINS: Readonly<Record<string, Twin>> = {
  'max-min': {
    says: { reads: 'demand', meetsAll: true },
    shares: (given) => finished(given, bisectedFill(floorsOf(given), wishes(given), given.weight, targetOf(given))),
    worked: [
      { target: [100], demand: [[70, 70]], shares: [[50, 50]] },
      { target: [100], demand: [[10, 80, 80]], shares: [[10, 45, 45]] },
      { target: [100], demand: [[20, 30]], shares: [[45, 55]] },
      { target: [100], demand: [[0, 0, 0, 0]], shares: [[25, 25, 25, 25]] },
      {
        target: [100, 1000],
        demand: [
          [100, 100],
          [2000, 100],
        ],
        shares: [
          [47.37, 52.63],
          [947.37, 52.63],
        ],
      },
    ],
  },
  'steal-halfway': {
    says: { reads: 'demand', remembers: true },
    shares: (given) => finished(given, lifted(given, stolen(given))),
    asksTheOther: true,
    worked: [
      { target: [100], applied: [[80, 20]], demand: [[80, 200]], shares: [[50, 50]] },
      { target: [100], usage: [[60, 25, 10, 5]], demand: [[60, 25, 200, 200]], shares: [[32.5, 17.5, 17.5, 32.5]] },
      { target: [100], applied: [[80, 50]], demand: [[80, 30]], shares: [[70, 30]] },
      { target: [100], usage: [[100, 0, 0, 0]], demand: [[100, 100, 100, 100]], shares: [[50, 16.67, 16.67, 16.67]] },
    ],
  },
  'client-rate': {
    says: { reads: 'demand', remembers: true },
    shares: (given) => finished(given, lifted(given, trimmed(given))),
    asksTheOther: true,
    leavesPip82: 'comes to the same shares, in FoundationDB’s rounds',
    worked: [
      { target: [20], demand: [[5, 25]], applied: [[10, 10]], headroom: 'none', shares: [[5, 13.33]] },
      { target: [20], demand: [[5, 25]], applied: [[5, 13.333333]], headroom: 'none', shares: [[5, 14.55]] },
    ],
  },
  proportional: {
    says: { reads: 'usage' },
    shares: byUsage,
    leavesPip82: 'any split that spends the quota stays: 80/20 remains 80/20',
    worked: [
      { target: [100], usage: [[10, 50, 30]], shares: [[11.11, 55.56, 33.33]] },
      { target: [100], usage: [[30, 60, 60]], shares: [[20, 40, 40]] },
    ],
  },
  'equal-residual': {
    says: { reads: 'usage' },
    shares: (given) => {
      const usage = usageOf(given);
      const residual = targetOf(given) - total(usage);
      if (total(usage) === 0 || residual <= 0) return byUsage(given);
      const floors = floorsOf(given);
      return usage.map((used, node) => Math.max(used + residual, floors[node]));
    },
    leavesPip82: 'exceeds the quota for some rounds, by its text',
    worked: [{ target: [100], usage: [[10, 50, 30]], shares: [[20, 60, 40]] }],
  },
  equal: {
    says: { reads: 'demand', agreesOnPool: true },
    shares: (given) => {
      const perWeight = targetOf(given) / total(given.weight);
      return given.weight.map((weight, node) => {
        const divisor = given.divisor?.[node] ?? 0;
        return perWeight * weight * (divisor === 0 ? 1 : Math.min(1, given.weight.length / divisor));
      });
    },
    leavesPip82: 'lends nothing: 80/20 of demand is served 50/20',
    worked: [
      { target: [100], demand: [[0, 0, 0, 0]], shares: [[25, 25, 25, 25]] },
      { target: [100], weight: [2, 1, 1], shares: [[50, 25, 25]] },
      { target: [20], demand: [[5, 25]], shares: [[10, 10]] },
    ],
  },
};

/** The same for both dimensions: what is unlimited or blocked is so for everybody. */
export function twinShares(name: string, given: Cluster): number[][] {
  const twin = TWINS[name];
  if (twin === undefined)
    throw new Error(`strategy ${name} has no twin here: write it, with a second way to its shares`);
  return given.target.map((limit, dimension) => {
    if (limit === 0 || limit === Infinity) return given.weight.map(() => limit);
    const pick = (columns: readonly (readonly number[])[]) => [columns[dimension]];
    const demand = twin.asksTheOther ? [usableDemand(given, dimension)] : pick(given.demand);
    const isSilent = given.demand[dimension]?.every((wanted) => wanted === 0) ?? true;
    const [usage, applied] = [pick(given.usage), pick(given.applied)];
    return twin.shares({ ...given, target: [limit], usage, applied, demand, isSilent });
  });
}

/** All of the demand in the dimension that binds a node, and in the other the part that this one lets it use. */
function usableDemand(given: Cluster, dimension: number): number[] {
  const served = (node: number, each: number) => {
    const limit = given.target[each];
    const demand = given.demand[each]?.[node];
    const applied = given.applied[each]?.[node];
    if (demand === 0 || limit === Infinity) return 1;
    if (limit === 0) return 0;
    return applied > 0 ? Math.min(1, applied / demand) : 1;
  };
  return given.weight.map((_, node) => {
    const demand = given.demand[dimension]?.[node];
    const others = given.target.map((_, each) => (each === dimension ? 1 : served(node, each)));
    return served(node, dimension) <= Math.min(...others) ? demand : demand * Math.min(...others);
  });
}

/** What a wrapper makes of the shares of one dimension, and who is still on the way. */
export interface Held {
  readonly shares: readonly number[];
  readonly moving: readonly number[];
}

/** Most log time that one step counts, ms; closer than this part of the goal is arrived. */
const STEP_MS_MAX = 250;
const ARRIVED_RATIO = 0.01;

export function plainSmooth(given: Cluster, goals: readonly number[], smoothingMs: number): Held {
  const limit = targetOf(given);
  const starts = startsOf(given, goals);
  const free = goals.map((goal, node) => {
    const now = goal + (starts[node] - goal) * Math.exp(-ageOf(given, node) / smoothingMs);
    return Math.abs(now - goal) <= ARRIVED_RATIO * goal ? goal : now;
  });
  const moving = free.map((share, node) => Number(share !== goals[node]));
  const excess = total(free) - Math.max(limit, total(goals));
  const above = free.map((share, node) => Math.max(0, share - goals[node]));
  const sum = total(above);
  const keep = excess <= 0 ? 1 : sum > excess ? 1 - excess / sum : 0;
  return { moving, shares: free.map((share, node) => share - (1 - keep) * above[node]) };
}

export function plainSlew(given: Cluster, goals: readonly number[], slewPerSecond: number): Held {
  const floors = floorsOf(given);
  const starts = startsOf(given, goals);
  const shares = goals.map((goal, node) => {
    const start = Math.max(starts[node], floors[node]);
    const most = start + (slewPerSecond * targetOf(given) * ageOf(given, node)) / 1000;
    return most < goal * (1 - ARRIVED_RATIO) ? most : goal;
  });
  return { shares, moving: shares.map((share, node) => Number(share !== goals[node])) };
}

function ageOf({ ageMs }: Cluster, node: number): number {
  return Math.min(STEP_MS_MAX, ageMs[node]);
}

/** An applied share that is not known is the goal; one below the floor or above the target counts as that. */
function startsOf(given: Cluster, goals: readonly number[]): number[] {
  const floors = floorsOf(given);
  return goals.map((goal, node) => {
    const applied = given.applied[0]?.[node];
    if (applied === 0) return goal;
    const least = Math.min(goal, floors[node]);
    return Math.min(Math.max(applied, least), Math.max(goal, targetOf(given)));
  });
}

interface Range {
  readonly minShareRatio: number;
  readonly maxShareRatio: number;
}

function boundsOf(limit: number, count: number, range: Range): { least: number; most: number } {
  const most = range.maxShareRatio * limit;
  return { most, least: Math.min(most, range.minShareRatio * limit, limit / count) };
}

/** The applied shares that a strategy within a range sees: what is known lies within the range. */
export function appliedWithin(given: Cluster, range: Range): number[][] {
  return given.applied.map((column, dimension) => {
    const limit = given.target[dimension];
    if (limit === 0 || limit === Infinity) return [...column];
    const { least, most } = boundsOf(limit, column.length, range);
    return column.map((share) => (share > 0 ? Math.min(most, Math.max(least, share)) : 0));
  });
}

export function plainClamp(given: Cluster, free: readonly number[], range: Range): number[] {
  const { least, most } = boundsOf(targetOf(given), free.length, range);
  const cut = free.map((share) => Math.min(most, share));
  const minimums = free.map(() => least);
  const low = liftedTo(cut, minimums, total(free));
  if (free.every((share) => share <= most)) return low;
  const high = demandOf(given).map((demand, node) => Math.max(low[node], Math.min(most, demand)));
  return bisectedFill(low, high, given.weight, Math.max(total(free), total(low)));
}

/** By usage, where nobody uses anything by weight. */
function byUsage(given: Cluster): number[] {
  const basis = total(usageOf(given)) > 0 ? usageOf(given) : given.weight;
  const perUnit = targetOf(given) / total(basis);
  return lifted(
    given,
    basis.map((each) => perUnit * each),
  );
}

const targetOf = ({ target }: Cluster) => target[0];
const usageOf = ({ usage }: Cluster) => usage[0];
const demandOf = ({ demand }: Cluster) => demand[0];

function floorsOf(given: Cluster): number[] {
  const weights = total(given.weight);
  return given.weight.map((weight) => (given.floorRatio * targetOf(given) * weight) / weights);
}

function wishes(given: Cluster): number[] {
  const floors = floorsOf(given);
  return demandOf(given).map((demand, node) => Math.max(demand, floors[node]));
}

function stolen(given: Cluster): number[] {
  const demand = demandOf(given);
  const start = demand.map((wanted, node) => {
    const applied = given.applied[0]?.[node];
    return Math.min(wanted, applied > 0 ? applied : given.usage[0]?.[node]);
  });
  const key = (node: number) => {
    const used = start[node];
    const weight = given.weight[node];
    return [used / weight, demand[node] - used, weight] as const;
  };
  const compare = (left: number, right: number) => {
    const [one, other] = [key(left), key(right)];
    return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
  };
  const ascending = [...start.keys()].sort((left, right) => compare(left, right) || left - right);
  const lowest = ascending.filter((node) => demand[node] > start[node]);
  const dominant = [...ascending].reverse();
  const used = [...start];
  lowest.forEach((low, k) => {
    const rich = dominant[k];
    const gap = key(rich)[0] - key(low)[0];
    if (gap <= 0) return;
    const half = gap / (1 / given.weight[low] + 1 / given.weight[rich]);
    const taken = Math.min(half, key(low)[1]);
    used[low] = used[low] + taken;
    used[rich] = Math.max(0, used[rich] - taken);
  });
  const fair = used.map((_, node) => {
    const alike = ascending.filter((other) => compare(node, other) === 0);
    return total(alike.map((other) => used[other])) / alike.length;
  });
  const capacity = targetOf(given);
  if (total(fair) > capacity) {
    return bisectedFill(
      fair.map(() => 0),
      fair,
      given.weight,
      capacity,
    );
  }
  const most = fair.map((amount, node) => Math.max(amount, demand[node]));
  return bisectedFill(fair, most, given.weight, capacity);
}

function trimmed(given: Cluster): number[] {
  const demand = demandOf(given);
  const applied = given.applied[0];
  const numbers = applied.map((share, node) => share / given.weight[node]);
  const short = numbers.filter((_, node) => applied[node] < demand[node]);
  const known = Math.max(0, ...short) || Math.max(0, ...numbers) || targetOf(given) / total(given.weight);
  const used = total(demand.map((wanted, node) => Math.min(wanted, given.weight[node] * known)));
  const number = used > 0 ? known * (targetOf(given) / used) : known;
  const high = demand.map((wanted, node) => Math.min(wanted, given.weight[node] * number));
  return bisectedFill(
    high.map(() => 0),
    high,
    given.weight,
    targetOf(given),
  );
}

function lifted(given: Cluster, amounts: readonly number[]): number[] {
  return liftedTo(amounts, floorsOf(given), targetOf(given));
}

/** Floors, from what is left over, then from the others in proportion to what they have above theirs. */
function liftedTo(amounts: readonly number[], floors: readonly number[], limit: number): number[] {
  const missing = total(amounts.map((amount, node) => Math.max(0, floors[node] - amount)));
  const above = total(amounts.map((amount, node) => Math.max(0, amount - floors[node])));
  const cost = Math.max(0, missing - Math.max(0, limit - total(amounts)));
  const keep = above > cost ? 1 - cost / above : 0;
  return amounts.map((amount, node) => {
    const floor = floors[node];
    return floor + Math.max(0, amount - floor) * (cost === 0 ? 1 : keep);
  });
}

function finished(given: Lane, amounts: readonly number[]): number[] {
  const isSilent = given.isSilent ?? total(demandOf(given)) === 0;
  const left = Math.max(0, targetOf(given) - total(amounts));
  if (given.headroom === 'none' && !isSilent) return [...amounts];
  const basis = given.headroom === 'by-weight' || isSilent ? given.weight : amounts;
  const sum = total(basis);
  return amounts.map((amount, node) => amount + (sum > 0 ? (left * basis[node]) / sum : 0));
}
