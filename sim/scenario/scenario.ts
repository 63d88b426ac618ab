import type { DeliveryFaults } from '../cluster/cluster-under-test.js';
import type { TopicDelays } from '../cluster/simulated-topic.js';
import type { WorldSettings } from '../cluster/world.js';
import type { Load } from './load-kinds.js';

/** A story that clusters are put through: complete and checked. Made by read-scenario.ts. */
export interface Scenario {
  readonly name: string;
  readonly says: string;
  readonly durationMs: number;
  readonly nodes: readonly string[];
  readonly quota: QuotaRates;
  /** What quotamesh nodes are configured with; its one group without quota and strategy. */
  readonly settings: WorldSettings;
  /** `group` and `timing` as the file has them, for real nodes, which read them themselves. */
  readonly written: { readonly group: unknown; readonly timing: unknown };
  readonly delays: TopicDelays;
  readonly faults: DeliveryFaults;
  readonly loads: readonly Load[];
  readonly happenings: readonly Happening[];
  readonly settleMs: number;
  /** When convergence is measured from; null = wherever the fair shares jump. */
  readonly settlePointsMs: readonly number[] | null;
  /** System name → what it must reach. */
  readonly expectations: ReadonlyMap<string, readonly Expectation[]>;
}

/** Units per second; Infinity = unlimited. */
export interface QuotaRates {
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
}

export interface Expectation {
  readonly metric: string;
  readonly atLeast: number | null;
  readonly atMost: number | null;
  /** What the one bound ought to be and is not yet; null = the bound is what is wanted. */
  readonly wished: number | null;
}

/** One entry of `happenings:`; its fields are those of its kind (happening-kinds.ts). */
export interface Happening {
  readonly what: string;
  readonly atMs: number;
  readonly nodes: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}
