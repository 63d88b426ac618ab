import type { HappenedFault } from './happened.js';
import { NODES } from './schedule.js';
import type { Sample, SeenNode } from './watch.js';
import { GROUPS } from './workload.js';

/** When the cluster was one again after a fault. */
export interface Recovery {
  readonly happened: HappenedFault;
  /** Since its remedy was done; null = the next fault came first, or the run ended. */
  readonly tookMs: number | null;
  /** It was the last of its round: nothing else was wrong, and there was time. */
  readonly wasLast: boolean;
  /** What was not right yet at the end of that time; null where all was. */
  readonly missing: string | null;
}

/** Shares that nodes tell at slightly different moments, of a demand that is measured. */
const AGREE_QUOTAS = 0.02;

/**
 * One again: every node is ready, knows all as alive, and complains of nothing; and in every group each node applies what the others compute
 * for it, and Σ shares is the quota, which everywhere is less than what is asked for.
 */
export function recoveriesOf(
  samples: readonly Sample[],
  happened: readonly HappenedFault[],
  durationMs: number,
): Recovery[] {
  return happened.map((one) => {
    const { doneMs } = one;
    const wasLast = happened.every(({ round, doneMs: other }) => round !== one.round || other <= doneMs);
    const nextMs = Math.min(durationMs, ...happened.map(({ fromMs }) => fromMs).filter((fromMs) => fromMs > doneMs));
    const isOpen = happened.some((other) => other !== one && other.fromMs <= doneMs && other.doneMs > doneMs);
    if (isOpen) return { happened: one, tookMs: null, wasLast, missing: null };
    return { happened: one, wasLast, ...firstOne(samples, doneMs, nextMs) };
  });
}

function firstOne(samples: readonly Sample[], fromMs: number, toMs: number): Pick<Recovery, 'tookMs' | 'missing'> {
  const latest: (Sample | undefined)[] = [];
  let missing: string | null = 'no node was asked';
  for (const sample of samples) {
    if (sample.atMs <= fromMs) continue;
    if (sample.atMs > toMs) break;
    latest[sample.node] = sample;
    missing = whatIsMissing(latest);
    if (missing === null) return { tookMs: sample.atMs - fromMs, missing };
  }
  return { tookMs: null, missing };
}

/** Null = the cluster is one. */
export function whatIsMissing(latest: readonly (Sample | undefined)[]): string | null {
  const nodes: SeenNode[] = [];
  for (let node = 0; node < NODES; node++) {
    const seen = latest[node]?.seen;
    if (!seen) return `n${node + 1} does not answer, or is not ready`;
    if (seen.degraded.length > 0) return `n${node + 1} says: ${seen.degraded[0]}`;
    if (seen.alive.length !== NODES) return `n${node + 1} knows ${seen.alive.length} nodes as alive`;
    const [first = seen] = nodes;
    if (seen.epoch !== first.epoch) return `n1 reads the log ${first.epoch}, n${node + 1} reads ${seen.epoch}`;
    nodes.push(seen);
  }
  for (const [group, { name, quota, isStrict }] of GROUPS.entries()) {
    if (isStrict) continue;
    const shares = nodes.map(({ groups }) => groups[group]?.share ?? 0);
    const sum = shares.reduce((total, share) => total + share, 0);
    if (Math.abs(sum - quota) > AGREE_QUOTAS * quota) return `Σ shares of ${name} is ${sum.toFixed(1)} of ${quota}`;
    for (const [viewer, { groups }] of nodes.entries()) {
      const off = shares.findIndex(
        (share, node) => Math.abs((groups[group]?.shares[node] ?? 0) - share) > AGREE_QUOTAS * quota,
      );
      if (off !== -1) {
        const seen = groups[group]?.shares[off]?.toFixed(1);
        return `n${off + 1} applies ${shares[off]?.toFixed(1)} of ${name}, n${viewer + 1} computes ${seen} for it`;
      }
    }
  }
  return null;
}
