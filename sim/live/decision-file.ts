import type { LimitColumn } from '../run/recording.js';

interface DecisionLine {
  /** Epoch milliseconds. */
  readonly t: number;
  readonly node: string;
  readonly direction: string;
  readonly limitMessages: number | null;
  readonly limitBytes: number | null;
  /** Nodes that it divided by. */
  readonly members: number;
}

/** Reads limits per node from the decision log, in ms since `beganMs`; its last line may be half. */
export function limitsFromDecisions(text: string, beganMs: number): ReadonlyMap<string, LimitColumn> {
  const columns = new Map<string, { atMs: number[]; limits: [number, number][] }>();
  for (const { t, node, limitMessages, limitBytes } of decisionsIn(text)) {
    const column = columns.get(node) ?? { atMs: [], limits: [] };
    columns.set(node, column);
    column.atMs.push(t - beganMs);
    column.limits.push([limitMessages ?? Infinity, limitBytes ?? Infinity]);
  }
  return columns;
}

/** Lists when a node saw the cluster grow, in ms since `beganMs`. */
export function growthFromDecisions(text: string, beganMs: number): readonly number[] {
  const known = new Map<string, number>();
  return decisionsIn(text).flatMap(({ t, node, members }) => {
    const before = known.get(node);
    known.set(node, members);
    return before !== undefined && members > before ? [t - beganMs] : [];
  });
}

function decisionsIn(text: string): readonly DecisionLine[] {
  const whole = text.split('\n').filter((line) => line.endsWith('}'));
  const decisions = whole.map((line) => JSON.parse(line) as DecisionLine);
  return decisions.filter(({ direction }) => direction === 'publish').sort((one, other) => one.t - other.t);
}
