import type { ClusterUnderTest } from '../cluster/cluster-under-test.js';
import type { EventQueue } from '../cluster/event-queue.js';
import type { Random } from '../cluster/random.js';
import type { TopicDelays } from '../cluster/simulated-topic.js';
import type { WorldSettings } from '../cluster/world.js';

/** A system that is not ours, by the formulas of its source. */
export interface Baseline {
  readonly name: string;
  /** One line for tables and `sim list`. */
  readonly says: string;
  create(environment: BaselineEnvironment): ClusterUnderTest;
}

/** Units per second; Infinity = unlimited. */
export interface Quota {
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
}

export interface BaselineEnvironment {
  readonly queue: EventQueue;
  readonly random: Random;
  /** To a store or topic and from it; what goes directly from node to node takes one delivery. */
  readonly delays: TopicDelays;
  readonly quota: Quota;
  /** Nodes that somebody wrote into the configuration. */
  readonly nodes: number;
  /** What quotamesh nodes are configured with, for what others have as well: a ramp. */
  readonly settings?: WorldSettings;
}

export function rateOf({ messagesPerSecond, bytesPerSecond }: Quota, dimension: 0 | 1): number {
  return dimension === 0 ? messagesPerSecond : bytesPerSecond;
}
