import { STRATEGY_NAMES } from '../src/core/convergence/registry.js';
import { BASELINES } from './baselines/registry.js';
import type { ClusterUnderTest } from './cluster-under-test.js';
import type { EventQueue } from './event-queue.js';
import { QuotameshCluster } from './quotamesh-cluster.js';
import type { Random } from './random.js';
import type { TopicDelays } from './simulated-topic.js';
import type { WorldSettings } from './world.js';

/** What scenarios are played on. */
export interface System {
  readonly name: string;
  /** One line for tables and `sim list`. */
  readonly says: string;
  create(environment: SystemEnvironment): ClusterUnderTest;
}

export interface SystemEnvironment {
  readonly queue: EventQueue;
  readonly random: Random;
  /** To a store or topic and from it. */
  readonly delays: TopicDelays;
  /** Units per second; Infinity = unlimited. */
  readonly quota: { readonly messagesPerSecond: number; readonly bytesPerSecond: number };
  /** Nodes that somebody wrote into the configuration. */
  readonly nodes: number;
  /** What quotamesh nodes are configured with; others do not read it. */
  readonly settings: WorldSettings;
}

const OWN_PREFIX = 'quotamesh ';

export const OWN_SYSTEMS: readonly System[] = STRATEGY_NAMES.map(ownSystem);

/** Ours first, then the other systems, from the formulas of their sources. */
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
