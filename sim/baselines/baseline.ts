import type { ClusterUnderTest } from '../cluster/cluster-under-test.js';
import type { SystemEnvironment } from '../cluster/system-environment.js';
import type { WorldSettings } from '../cluster/world.js';

/** Models another system by the formulas of its source. */
export interface Baseline {
  readonly name: string;
  /** Line for tables and `sim list`. */
  readonly says: string;
  create(environment: BaselineEnvironment): ClusterUnderTest;
}

/** Units/s; Infinity = unlimited. */
export interface Quota {
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
}

/** Describes what a baseline runs in; a message takes one delivery. */
export interface BaselineEnvironment extends Omit<SystemEnvironment, 'settings'> {
  readonly quotaPerMs?: readonly [messages: number, bytes: number];
  /** Burst of the whole cluster in units; null = none configured. */
  readonly burst?: readonly [messages: number | null, bytes: number | null];
  /** Settings of quotamesh nodes; a baseline reads those that its system has: a ramp. */
  readonly settings?: WorldSettings;
}

export function rateOf({ messagesPerSecond, bytesPerSecond }: Quota, dimension: 0 | 1): number {
  return dimension === 0 ? messagesPerSecond : bytesPerSecond;
}
