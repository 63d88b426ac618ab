/** What happened to one row, in milliseconds of the nodes since the first one. */
export interface Decision {
  readonly node: number;
  readonly askedMs: number;
  readonly answeredMs: number;
  readonly messages: number;
  readonly bytes: number;
  readonly isAdmitted: boolean;
}

type Dimension = 'messages' | 'bytes';
type Quota = Readonly<Record<Dimension, number>>;

/**
 * The figures of a replay by their definitions in docs/guide/replay.md, each from all rows anew: it shares no code with
 * sim/, and takes the square of the time that the replay takes.
 */
export function naiveFigures(decisions: readonly Decision[], quota: Quota) {
  const endMs = Math.max(...decisions.map(({ answeredMs }) => answeredMs));
  const admitted = decisions
    .filter(({ isAdmitted }) => isAdmitted)
    .sort((one, other) => one.answeredMs - other.answeredMs);
  const limited = (['messages', 'bytes'] as const).filter((dimension) => quota[dimension] < Infinity);
  const judged: readonly Dimension[] = limited.length === 0 ? ['messages'] : limited;
  const ofAll = (figure: (dimension: Dimension) => number) => judged.map(figure);
  const secondsOver = (dimension: Dimension) => {
    return windowRatios(admitted, dimension, quota, 1000, endMs, 100).filter((ratio) => ratio > 1.01).length / 10;
  };
  const used = (dimension: Dimension) => {
    const possible = possibleIn(decisions, dimension, quota, endMs);
    return possible === 0 ? 1 : total(admitted, dimension) / possible;
  };
  return {
    offered: total(decisions, 'messages'),
    admitted: total(admitted, 'messages'),
    offeredBytes: total(decisions, 'bytes'),
    admittedBytes: total(admitted, 'bytes'),
    overAdmission: Math.max(0, ...ofAll((dimension) => worstRatio(admitted, dimension, quota, 5000, endMs) - 1)),
    worstSecond: Math.max(...ofAll((dimension) => worstRatio(admitted, dimension, quota, 1000, endMs))),
    secondsOver: Math.max(...ofAll(secondsOver)),
    overshootTokens: Math.max(...ofAll((dimension) => overshoot(admitted, dimension, quota[dimension]))),
    utilisation: Math.min(...ofAll(used)),
  };
}

function total(decisions: readonly Decision[], dimension: Dimension): number {
  return decisions.reduce((sum, decision) => sum + decision[dimension], 0);
}

function worstRatio(
  admitted: readonly Decision[],
  dimension: Dimension,
  quota: Quota,
  lengthMs: number,
  endMs: number,
): number {
  return Math.max(...windowRatios(admitted, dimension, quota, lengthMs, endMs, 10));
}

/** Admitted ÷ granted of all windows that end at a multiple of `everyMs`, at most 10 ms after the last answer. */
function windowRatios(
  admitted: readonly Decision[],
  dimension: Dimension,
  quota: Quota,
  lengthMs: number,
  endMs: number,
  everyMs: number,
): number[] {
  const granted = Math.max(1, (quota[dimension] * lengthMs) / 1000);
  const ratios: number[] = [];
  for (let untilMs = everyMs; untilMs <= (Math.floor(endMs / 10) + 1) * 10; untilMs += everyMs) {
    const inside = admitted.filter(({ answeredMs }) => answeredMs >= untilMs - lengthMs && answeredMs < untilMs);
    ratios.push(total(inside, dimension) / granted);
  }
  return ratios;
}

/** How far a bucket of 100 ms of the quota falls below empty that refuses nothing. */
function overshoot(admitted: readonly Decision[], dimension: Dimension, quota: number): number {
  if (quota === Infinity) return 0;
  let level = quota / 10;
  let atMs = 0;
  let least = 0;
  for (const decision of admitted) {
    level = Math.min(quota / 10, level + (quota / 1000) * (decision.answeredMs - atMs)) - decision[dimension];
    atMs = decision.answeredMs;
    least = Math.min(least, level);
  }
  return -least;
}

/** Second by second: the part of what was asked for that both quotas let through. The first counts as a whole one. */
function possibleIn(decisions: readonly Decision[], dimension: Dimension, quota: Quota, endMs: number): number {
  let possible = 0;
  const slices = Math.floor(endMs / 10) + 1;
  for (let second = 0; second * 100 < slices; second++) {
    const length = second === 0 ? 1 : Math.min(100, slices - second * 100) / 100;
    const asked = decisions.filter(({ askedMs }) => Math.floor(askedMs / 1000) === second);
    const parts = (['messages', 'bytes'] as const).map((each) => {
      const wanted = total(asked, each);
      return wanted === 0 ? 1 : (quota[each] * length) / wanted;
    });
    possible += Math.min(1, ...parts) * total(asked, dimension);
  }
  return possible;
}
