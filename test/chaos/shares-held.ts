import { GROUPS, nodeName } from './workload.js';

interface Line {
  readonly t: number;
  readonly node: string;
  readonly group: string;
  readonly direction: string;
  readonly shareMessages: number | null;
}

/** A share and since when, ms since the run began. */
export interface ShareStep {
  readonly atMs: number;
  readonly share: number;
}

/** What every node decided by, from the decision log that all of them append to (log.decisionsFile). */
export class SharesHeld {
  /** By group, then by node, in order of time. */
  readonly #steps: readonly (readonly ShareStep[])[][];

  constructor(text: string, beganMs: number, nodes: number) {
    const steps: ShareStep[][][] = GROUPS.map(() => Array.from({ length: nodes }, () => []));
    const names = Array.from({ length: nodes }, (_, node) => nodeName(node));
    for (const { t, node, group, shareMessages } of linesIn(text)) {
      const index = GROUPS.findIndex(({ name }) => name === group);
      const share = shareMessages ?? Infinity;
      steps[index]?.[names.indexOf(node)]?.push({ atMs: t - beganMs, share });
    }
    this.#steps = steps.map((group) => group.map((of) => of.sort((one, other) => one.atMs - other.atMs)));
  }

  /** The most in force at any moment of a span. */
  most(group: number, node: number, fromMs: number, toMs: number): number {
    let most = 0;
    for (const { atMs, share } of this.#of(group, node)) {
      if (atMs >= toMs) break;
      most = atMs <= fromMs ? share : Math.max(most, share);
    }
    return most;
  }

  /** Every change in a span. */
  within(group: number, node: number, fromMs: number, toMs: number): readonly ShareStep[] {
    return this.#of(group, node).filter(({ atMs }) => atMs > fromMs && atMs < toMs);
  }

  #of(group: number, node: number): readonly ShareStep[] {
    return this.#steps[group]?.[node] ?? [];
  }
}

/** A killed process may leave half a line. */
function linesIn(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line)
    .filter(({ direction }) => direction === 'publish');
}
