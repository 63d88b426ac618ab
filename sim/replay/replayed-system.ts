import { clusterDepth } from '../../src/core/account/cluster-depth.js';
import { hasClusterBucket } from '../../src/core/base/local-gate.js';
import { depthGiven } from '../../src/core/base/settings.js';
import { directionIndex } from '../../src/core/base/vocabulary.js';
import { type BaselineEnvironment, rateOf } from '../baselines/baseline.js';
import { PIECE } from '../baselines/plain-limiter.js';
import { type StoreSystem, storeSystems } from '../baselines/store/store-systems.js';
import { SYSTEMS, type System, shortName } from '../systems.js';

/** System for traces: as of scenarios, or a store. */
export type ReplayedSystem = System | StoreSystem;

export function replayedSystems(roundTripMs: number): readonly ReplayedSystem[] {
  return [...SYSTEMS, ...storeSystems(roundTripMs, clusterDepths)];
}

export function replayedSystemNamed(name: string, systems: readonly ReplayedSystem[]): ReplayedSystem | undefined {
  return systems.find((system) => shortName(system.name) === shortName(name));
}

/** Returns seconds to fill a bucket, of the longer dimension; 0 = none. */
export function fillSeconds(environment: Limited): number {
  const seconds = clusterDepths(environment).map((depth, dimension) => {
    const perSecond = rateOf(environment.quota, dimension as 0 | 1);
    return depth === null || perSecond === 0 || perSecond === Infinity ? 0 : depth / perSecond;
  });
  return Math.max(...seconds);
}

type Limited = Pick<BaselineEnvironment, 'quota' | 'settings'>;

/** Returns the cluster's depths, so that only the decider differs. */
function clusterDepths({ quota, settings }: Limited): readonly [number | null, number | null] {
  const group = settings?.groups[0];
  if (group === undefined || !hasClusterBucket(group)) return [null, null];
  const depthOf = (dimension: 0 | 1) =>
    depthGiven(group.burst, directionIndex('publish'), dimension) ??
    clusterDepth(rateOf(quota, dimension), PIECE[dimension]);
  return [depthOf(0), depthOf(1)];
}
