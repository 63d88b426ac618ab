import type { GroupSettings } from '../../../src/core/base/settings.js';
import { movingDemand, type Scene } from './arrivals.js';
import { central, mostIn, play } from './play.js';

const PER_SECOND = 2000;
/** 100 ms of the quota, as the nodes choose by default. */
const DEPTH = 200;

export interface Figures {
  /** What was admitted above the quota in the worst 5 s, as a part of it. */
  readonly over5s: number;
  /** The worst second, in quotas, less that of one central bucket that sees the same arrivals. */
  readonly secondBesideCentral: number;
  /** What was admitted of Σ min(quota, demand), second by second. */
  readonly used: number;
  readonly reportsPerSecond: number;
}

/** Nodes that share tokens under demand that moves every second. */
export function figuresOf(
  seed: number,
  nodes: number,
  deliveryMs: number,
  group: Partial<GroupSettings> = {},
): Figures {
  const scene = movingDemand(seed, nodes, PER_SECOND);
  const { admitted, reportsPerSecond } = play(scene, { deliveryMs, group });
  return {
    over5s: mostIn(admitted, 5000) / (5 * PER_SECOND) - 1,
    secondBesideCentral: (mostIn(admitted, 1000) - mostIn(central(scene, DEPTH), 1000)) / PER_SECOND,
    used: admitted.length / usable(scene),
    reportsPerSecond,
  };
}

function usable({ arrivals, lengthMs, perSecond }: Scene): number {
  const demand = Array.from({ length: Math.ceil(lengthMs / 1000) }, () => 0);
  for (const { atMs } of arrivals) demand[Math.floor(atMs / 1000)]++;
  return demand.reduce((sum, arrived) => sum + Math.min(arrived, perSecond), 0);
}
