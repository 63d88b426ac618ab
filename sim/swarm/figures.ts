import { clusterDepth } from '../../src/core/account/cluster-depth.js';
import { hasClusterBucket } from '../../src/core/base/local-gate.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { DEFAULT_STRATEGY } from '../../src/core/convergence/strategies.js';
import type { WorldSettings } from '../cluster/world.js';
import { BURST_MS, leastDepth } from '../oracle/burst-promised.js';
import { quotaOf } from './draw-world.js';
import { SwarmMeter } from './swarm-meter.js';

export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

const SPAN_MS = 5000;
/** Depths that waking nodes take at most: three within a delivery, and one unpublished. */
const BURSTS = 4;

/** Figures of a cluster's group within a span. */
export interface GroupFigures {
  /** Admitted ÷ quota of the worst 5 s. */
  readonly worst: number;
  /** Admitted ÷ min(quota, arrived); 1 = unjudged. */
  readonly used: number;
}

export function figuresOf(groups: readonly GroupSettings[], meter: SwarmMeter, span: Span): readonly GroupFigures[] {
  return groups.map((group, at) => {
    return { worst: worstOfGroup(group, at, meter, span), used: usedOfGroup(group, at, meter, span) };
  });
}

/** Names groups with more or less than docs/reference/promises.md allows without trouble. */
export function figuresBeyond(settings: WorldSettings, figures: readonly GroupFigures[], nodes: number): string[] {
  const problems: string[] = [];
  figures.forEach(({ worst, used }, at) => {
    const group = settings.groups[at];
    const most = mostAdmitted(group, nodes, SPAN_MS);
    if (worst > most)
      problems.push(`${group.name} admits ${worst.toFixed(3)} quotas over 5 s, more than ${most.toFixed(3)}`);
    const least = leastUsed(group, nodes, settings);
    if (used < least)
      problems.push(`${group.name} uses ${used.toFixed(3)} of min(quota, demand), less than ${least.toFixed(3)}`);
  });
  return problems;
}

/** Returns the most that a cluster admits in a span, in quotas: limits and full buckets. */
export function mostAdmitted(group: GroupSettings, nodes: number, spanMs: number): number {
  const quota = quotaOf(group);
  if (hasClusterBucket(group)) return 1 + (1000 * BURSTS * clusterDepth(quota, 1)) / (quota * spanMs);
  const buckets = (quota * BURST_MS) / 1000 + nodes * leastDepth(quota / nodes);
  return 1 + (1000 * buckets) / (quota * spanMs);
}

/**
 * Returns the least part of min(quota, demand) admitted. Tokens are lost two ways:
 *
 *   - Demand moves within noise: reports may differ by `noiseFactor` deviations, z · √(2 · demand ÷ window); nodes'
 *     errors add as variances, and gifts are one quota at most.
 *   - Random arrivals find full buckets: as fast as it fills, 1 ÷ (2 · depth) of them.
 *
 * *Worked:* defaults: 400/s on 2 nodes 0.82, 165/s on 5 nodes 0.69, 100/s on 5 nodes 0.58, 30/s on 5 nodes 0.17.
 */
export function leastUsed(
  group: GroupSettings,
  nodes: number,
  { noiseFactor, slowSpanMs }: Pick<WorldSettings, 'noiseFactor' | 'slowSpanMs'>,
): number {
  const quota = quotaOf(group);
  const unseen = noiseFactor * Math.sqrt((2 * 1000) / (quota * slowSpanMs));
  const overflow = 1 / (2 * leastDepth(quota / nodes));
  return Math.max(0, 1 - unseen - overflow);
}

function worstOfGroup(group: GroupSettings, at: number, meter: SwarmMeter, { fromMs, untilMs }: Span): number {
  const quota = (quotaOf(group) * SPAN_MS) / 1000;
  let worst = 0;
  for (let startMs = fromMs; startMs + SPAN_MS <= untilMs; startMs += SwarmMeter.binMs) {
    worst = Math.max(worst, meter.admitted(at, startMs, startMs + SPAN_MS) / quota);
  }
  return worst;
}

/** Returns use; 1 = nothing arrived, or strategies that do not aim at it. */
function usedOfGroup(group: GroupSettings, at: number, meter: SwarmMeter, { fromMs, untilMs }: Span): number {
  if (group.strategy !== DEFAULT_STRATEGY || group.smoothingMs > 0 || group.maxShareRatio < 1) return 1;
  const quota = (quotaOf(group) * (untilMs - fromMs)) / 1000;
  const owed = Math.min(quota, meter.arrived(at, fromMs, untilMs));
  return owed > 0 ? Math.min(1, meter.admitted(at, fromMs, untilMs) / owed) : 1;
}
