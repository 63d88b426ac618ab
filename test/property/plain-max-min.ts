/**
 * max-min as its text reads, for one group: arrays, one participant after the other, nothing reused. Slow and plain, to
 * hold against src/core/convergence/max-min.ts.
 */
interface Plain {
  readonly target: readonly number[];
  readonly demand: readonly (readonly number[])[];
  readonly weight: readonly number[];
  readonly floorRatio: number;
}

const SWEEPS = 8;
const SETTLED_RATIO = 1e-5;
const NONE = -1;

export function plainMaxMin({ target, demand, weight, floorRatio }: Plain): number[][] {
  const allWeight = added(weight);
  const floors = target.map((goal) => weight.map((each) => (floorRatio * goal * each) / allWeight));
  const isLimited = target.map((goal) => goal > 0 && goal !== Infinity);
  const levels = target.map((goal) => (goal === 0 ? 0 : Infinity));
  /** What node `at` can use of its demand in all dimensions but one. */
  const part = (at: number, except: number) =>
    Math.min(
      1,
      ...demand.map((column, dimension) => {
        const wanted = column[at];
        return dimension === except || wanted === 0 ? 1 : (weight[at] * levels[dimension]) / wanted;
      }),
    );
  const given = (dimension: number, except: number) =>
    weight.map((_, at) => Math.max(part(at, except) * demand[dimension]?.[at], floors[dimension]?.[at]));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const before = [...levels];
    target.forEach((goal, dimension) => {
      if (!isLimited[dimension]) return;
      levels[dimension] = plainFill(floors[dimension], given(dimension, dimension), weight, goal).level;
    });
    const moved = levels.some((after, dimension) => {
      const was = before[dimension];
      return after !== was && !(Math.abs(after - was) <= SETTLED_RATIO * after);
    });
    if (!moved) break;
  }
  return target.map((goal, dimension) => {
    if (!isLimited[dimension]) return weight.map(() => goal);
    const amounts = given(dimension, NONE);
    const left = Math.max(0, goal - added(amounts));
    return amounts.map((amount, at) => amount + (left * weight[at]) / allWeight);
  });
}

/** Bitran and Hax with a mark per participant who is fixed. */
function plainFill(
  low: readonly number[],
  high: readonly number[],
  weight: readonly number[],
  capacity: number,
): { out: number[]; level: number } {
  const out: (number | null)[] = high.map(() => null);
  let lastLevel = 0;
  if (added(high) <= capacity) return { out: [...high], level: Infinity };
  for (;;) {
    const free = out.flatMap((amount, at) => (amount === null ? [at] : []));
    const rest = Math.max(0, capacity - added(out.map((amount) => amount ?? 0)));
    if (free.length === 0) return { out: out as number[], level: lastLevel };
    const level = rest / added(free.map((at) => weight[at]));
    const wanted = (at: number) => level * weight[at];
    const tooHigh = free.filter((at) => wanted(at) > high[at]);
    const tooLow = free.filter((at) => wanted(at) < low[at]);
    const excess = added(tooHigh.map((at) => wanted(at) - high[at]));
    const lack = added(tooLow.map((at) => low[at] - wanted(at)));
    if (excess >= lack) for (const at of tooHigh) out[at] = high[at];
    if (lack >= excess) for (const at of tooLow) out[at] = low[at];
    if (excess === lack) for (const at of free) out[at] ??= wanted(at);
    lastLevel = level;
  }
}

function added(column: readonly number[]): number {
  return column.reduce((total, value) => total + value, 0);
}
