import { clusterDepth } from '../../src/core/account/cluster-depth.js';
import { hasClusterBucket } from '../../src/core/base/local-gate.js';
import { depthGiven } from '../../src/core/base/settings.js';
import { directionIndex } from '../../src/core/base/vocabulary.js';
import { type BaselineEnvironment, rateOf } from '../baselines/baseline.js';
import { PIECE } from '../baselines/plain-limiter.js';
import { type StoreSystem, storeSystems } from '../baselines/store/store-systems.js';
import { SYSTEMS, type System, shortName } from '../systems.js';

/** What a trace is played on: all that scenarios are, and stores that are asked for each request. */
export type ReplayedSystem = System | StoreSystem;

export function replayedSystems(roundTripMs: number): readonly ReplayedSystem[] {
  return [...SYSTEMS, ...storeSystems(roundTripMs, clusterDepths)];
}

export function replayedSystemNamed(name: string, systems: readonly ReplayedSystem[]): ReplayedSystem | undefined {
  return systems.find((system) => shortName(system.name) === shortName(name));
}

/** How long the bucket of a quota takes to fill, the longer of both dimensions; 0 where it has none. */
export function fillSeconds(environment: Pick<BaselineEnvironment, 'quota' | 'settings'>): number {
  const depths = clusterDepths(environment);
  return Math.max(
    ...depths.map((depth, dimension) => {
      const perSecond = rateOf(environment.quota, dimension as 0 | 1);
      return depth === null || perSecond === 0 || perSecond === Infinity ? 0 : depth / perSecond;
    }),
  );
}

/** As deep as the cluster's bucket where the group shares tokens, so that only who decides differs. */
function clusterDepths({
  quota,
  settings,
}: Pick<BaselineEnvironment, 'quota' | 'settings'>): readonly [number | null, number | null] {
  const group = settings?.groups[0];
  if (group === undefined || !hasClusterBucket(group)) return [null, null];
  const depthOf = (dimension: 0 | 1) =>
    depthGiven(group.burst, directionIndex('publish'), dimension) ??
    clusterDepth(rateOf(quota, dimension), PIECE[dimension]);
  return [depthOf(0), depthOf(1)];
}
