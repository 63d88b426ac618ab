import { STRATEGY_NAMES } from '../src/core/convergence/strategies.js';
import { BASELINES } from './all-baselines.js';
import type { ClusterUnderTest } from './cluster/cluster-under-test.js';
import { QuotameshCluster } from './cluster/quotamesh-cluster.js';
import type { SystemEnvironment } from './cluster/system-environment.js';

export interface System {
  readonly name: string;
  readonly says: string;
  create(environment: SystemEnvironment): ClusterUnderTest;
}

const OWN_PREFIX = 'quotamesh ';

export const OWN_SYSTEMS: readonly System[] = STRATEGY_NAMES.map(ownSystem);

/** Systems: ours first, then the others by their sources. */
export const SYSTEMS: readonly System[] = [...OWN_SYSTEMS, ...Object.values(BASELINES)];

/** `max-min` is short for `quotamesh max-min`. */
export const SYSTEM_NAMES: readonly string[] = SYSTEMS.map(({ name }) => shortName(name));

export function systemNamed(name: string): System | undefined {
  return SYSTEMS.find((system) => shortName(system.name) === shortName(name));
}

export function shortName(name: string): string {
  return name.startsWith(OWN_PREFIX) ? name.slice(OWN_PREFIX.length) : name;
}

function ownSystem(strategy: string): System {
  return {
    name: `${OWN_PREFIX}${strategy}`,
    says: `the production core with strategy ${strategy}`,
    create: (environment) => new QuotameshCluster(environment, strategy),
  };
}
