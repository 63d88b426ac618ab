import type { ClusterUnderTest } from '../cluster/cluster-under-test.js';
import type { EventQueue } from '../cluster/event-queue.js';
import type { Random } from '../cluster/random.js';
import type { TopicDelays } from '../cluster/simulated-topic.js';
import type { WorldSettings } from '../cluster/world.js';

/** A system other than quotamesh, modelled by the formulas of its source. */
export interface Baseline {
  readonly name: string;
  /** One line that describes it, in tables and in `sim list`. */
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
  /** Delays to a store or topic and from it. A message that goes directly from node to node takes one delivery. */
  readonly delays: TopicDelays;
  readonly quota: Quota;
  /** The time that each quota is told per, milliseconds: the window of whoever counts windows. Absent = a second. */
  readonly quotaPerMs?: readonly [messages: number, bytes: number];
  /** Units that are configured as the burst of the whole cluster; null = none is. */
  readonly burst?: readonly [messages: number | null, bytes: number | null];
  /** How many nodes the configuration names. */
  readonly nodes: number;
  /** The settings of quotamesh nodes. A baseline reads what its system has as well: a ramp. */
  readonly settings?: WorldSettings;
}

export function rateOf({ messagesPerSecond, bytesPerSecond }: Quota, dimension: 0 | 1): number {
  return dimension === 0 ? messagesPerSecond : bytesPerSecond;
}
