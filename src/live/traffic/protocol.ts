import type { Arrivals } from '../../../sim/load/draw-arrivals.js';
import type { Attempts } from '../../../sim/run/recording.js';

/** Orders to the process that plays the arrivals. */
export type TrafficOrder =
  | { readonly kind: 'begin'; readonly plan: TrafficPlan }
  /** So that nobody stays frozen when we die. */
  | { readonly kind: 'frozen' | 'thawed'; readonly pid: number };

export interface TrafficPlan {
  /** Epoch milliseconds of time 0. */
  readonly beginsMs: number;
  readonly durationMs: number;
  readonly seed: number;
  readonly group: string;
  /** In the order of the nodes. */
  readonly urls: readonly string[];
  readonly streams: readonly PlannedStream[];
  readonly arrivals: Arrivals;
}

export interface PlannedStream {
  readonly id: string;
  readonly node: number;
  readonly messages: number;
  readonly retries: number;
  readonly retryAfterMs: number;
}

/** All that the process says, once, when the last answer has come. */
export interface TrafficReport {
  readonly attempts: Attempts;
  readonly punctuality: Punctuality;
}

/** How well the machine kept to the plan. One that is too busy shows itself, not the nodes. */
export interface Punctuality {
  /** How much later than planned requests left. */
  readonly medianLateMs: number;
  readonly worstLateMs: number;
  /** Part of the attempts that a node did not answer in time, counted as refused; those of frozen nodes among them. */
  readonly missedRatio: number;
}
