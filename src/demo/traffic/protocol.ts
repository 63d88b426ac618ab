import type { Rates } from '../../core/base/vocabulary.js';
import type { ClientTally, Measurement } from '../measure/meter.js';

/** What the traffic process is to do. */
export interface TrafficPlan {
  readonly traceFile: string;
  /** Times faster than the trace happened. */
  readonly speed: number;
  readonly group: string;
  readonly quotaPerSecond: Rates;
  /** In their order; messages name a node by its place here. */
  readonly nodeUrls: readonly string[];
}

/** Over the IPC channel, from the demonstration to its traffic process. */
export type TrafficOrder =
  | { readonly kind: 'begin'; readonly plan: TrafficPlan }
  | { readonly kind: 'node-gone'; readonly node: number }
  /** Stop, and answer with `finished`. */
  | { readonly kind: 'finish' };

/** And back. */
export type TrafficNews =
  /** Every 250 ms; time since the begin of the traffic. */
  | { readonly kind: 'progress'; readonly atMs: number; readonly nodes: readonly ClientTally[] }
  | { readonly kind: 'finished'; readonly measurement: Measurement };
