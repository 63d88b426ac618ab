import type { DeliveryFaults } from '../cluster/cluster-under-test.js';
import type { TopicDelays } from '../cluster/simulated-topic.js';
import type { WorldSettings } from '../cluster/world.js';
import type { Load } from './load-kinds.js';

/** Complete and checked story, made by read-scenario.ts. */
export interface Scenario {
  readonly name: string;
  readonly says: string;
  readonly durationMs: number;
  readonly nodes: readonly string[];
  readonly quota: QuotaRates;
  /** Settings of quotamesh nodes; one group without quota and strategy. */
  readonly settings: WorldSettings;
  /** `group` and `timing` of the file, for real nodes. */
  readonly written: { readonly group: unknown; readonly timing: unknown };
  readonly delays: TopicDelays;
  readonly faults: DeliveryFaults;
  readonly loads: readonly Load[];
  readonly happenings: readonly Happening[];
  readonly settleMs: number;
  /** Starts of convergence; null = jumps of the fair shares. */
  readonly settlePointsMs: readonly number[] | null;
  /** System → what it must reach. */
  readonly expectations: ReadonlyMap<string, readonly Expectation[]>;
}

/** Units/s; Infinity = unlimited. */
export interface QuotaRates {
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
}

export interface Expectation {
  readonly metric: string;
  readonly atLeast: number | null;
  readonly atMost: number | null;
  /** Bound as it ought to be; null = as it is. */
  readonly wished: number | null;
}

/** Entry of `happenings:`, with its kind's fields (happening-kinds.ts). */
export interface Happening {
  readonly what: string;
  readonly atMs: number;
  readonly nodes: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}
