import { total } from '../unit/core/convergence/round-of.js';
import type { Cluster } from './rounds.js';

/** The level by bisection: slow, inexact, and too simple to be wrong. */
export function bisectedFill(
  low: readonly number[],
  high: readonly number[],
  weight: readonly number[],
  capacity: number,
): number[] {
  const at = (level: number) =>
    high.map((most, node) => Math.min(most, Math.max(low[node] as number, level * (weight[node] as number))));
  let below = 0;
  let above = Math.max(...high.map((most, node) => most / (weight[node] as number)), 0);
  if (total(high.slice()) <= capacity) return at(above);
  for (let halving = 0; halving < 100; halving++) {
    const middle = (below + above) / 2;
    if (total(at(middle)) > capacity) above = middle;
    else below = middle;
  }
  return at(below);
}

/** The strategies once more, for one dimension: new arrays everywhere, sorted copies, levels by bisection. */
export const TWINS: Readonly<Record<string, (given: Cluster) => number[]>> = {
  'max-min': (given) => finished(given, bisectedFill(floorsOf(given), wishes(given), given.weight, targetOf(given))),
  'steal-halfway': (given) => finished(given, lifted(given, stolen(given))),
  'client-rate': (given) => finished(given, lifted(given, trimmed(given))),
  equal: (given) => given.weight.map((weight) => (targetOf(given) * weight) / total(given.weight)),
};

const targetOf = ({ target }: Cluster) => target[0] as number;
const demandOf = ({ demand }: Cluster) => demand[0] as readonly number[];

function floorsOf(given: Cluster): number[] {
  return given.weight.map((weight) => (given.floorRatio * targetOf(given) * weight) / total(given.weight));
}

function wishes(given: Cluster): number[] {
  return demandOf(given).map((demand, node) => Math.max(demand, floorsOf(given)[node] as number));
}

function stolen(given: Cluster): number[] {
  const demand = demandOf(given);
  const start = demand.map((wanted, node) => {
    const applied = given.applied[0]?.[node] as number;
    return Math.min(wanted, applied > 0 ? applied : (given.usage[0]?.[node] as number));
  });
  const key = (node: number) => {
    const used = start[node] as number;
    const weight = given.weight[node] as number;
    return [used / weight, (demand[node] as number) - used, weight] as const;
  };
  const compare = (left: number, right: number) => {
    const [one, other] = [key(left), key(right)];
    return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
  };
  const ascending = [...start.keys()].sort((left, right) => compare(left, right) || left - right);
  const lowest = ascending.filter((node) => (demand[node] as number) > (start[node] as number));
  const dominant = [...ascending].reverse();
  const used = [...start];
  lowest.forEach((low, k) => {
    const rich = dominant[k] as number;
    const gap = key(rich)[0] - key(low)[0];
    if (gap <= 0) return;
    const half = gap / (1 / (given.weight[low] as number) + 1 / (given.weight[rich] as number));
    const taken = Math.min(half, key(low)[1]);
    used[low] = (used[low] as number) + taken;
    used[rich] = Math.max(0, (used[rich] as number) - taken);
  });
  const fair = used.map((_, node) => {
    const alike = ascending.filter((other) => compare(node, other) === 0);
    return total(alike.map((other) => used[other] as number)) / alike.length;
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
  const most = fair.map((amount, node) => Math.max(amount, demand[node] as number));
  return bisectedFill(fair, most, given.weight, capacity);
}

function trimmed(given: Cluster): number[] {
  const demand = demandOf(given);
  const applied = given.applied[0] as readonly number[];
  const numbers = applied.map((share, node) => share / (given.weight[node] as number));
  const short = numbers.filter((_, node) => (applied[node] as number) < (demand[node] as number));
  const known = Math.max(0, ...short) || Math.max(0, ...numbers) || targetOf(given) / total(given.weight);
  const used = total(demand.map((wanted, node) => Math.min(wanted, (given.weight[node] as number) * known)));
  const number = used > 0 ? known * (targetOf(given) / used) : known;
  const high = demand.map((wanted, node) => Math.min(wanted, (given.weight[node] as number) * number));
  return bisectedFill(
    high.map(() => 0),
    high,
    given.weight,
    targetOf(given),
  );
}

/** Floors, from what is left over, then from the others in proportion to what they have above theirs. */
function lifted(given: Cluster, amounts: readonly number[]): number[] {
  const floors = floorsOf(given);
  const missing = total(amounts.map((amount, node) => Math.max(0, (floors[node] as number) - amount)));
  const above = total(amounts.map((amount, node) => Math.max(0, amount - (floors[node] as number))));
  const cost = Math.max(0, missing - Math.max(0, targetOf(given) - total(amounts.slice())));
  const keep = above > cost ? 1 - cost / above : 0;
  return amounts.map((amount, node) => {
    const floor = floors[node] as number;
    return floor + Math.max(0, amount - floor) * (cost === 0 ? 1 : keep);
  });
}

function finished(given: Cluster, amounts: readonly number[]): number[] {
  const isSilent = total(demandOf(given).slice()) === 0;
  const left = Math.max(0, targetOf(given) - total(amounts.slice()));
  if (given.headroom === 'none' && !isSilent) return [...amounts];
  const basis = given.headroom === 'by-weight' || isSilent ? given.weight : amounts;
  const sum = total(basis.slice());
  return amounts.map((amount, node) => amount + (sum > 0 ? (left * (basis[node] as number)) / sum : 0));
}
