import type { Rates } from '../../../core/base/vocabulary.js';
import type { ClientTally, Measurement } from '../measure/meter.js';
import type { Stretch } from '../story/acts.js';
import type { ActTallies } from '../story/story-traffic.js';

/** What the traffic process is to do. */
export interface TrafficPlan {
  /** null = the acts of the story, each when it is ordered. */
  readonly trace: TracePlan | null;
  readonly group: string;
  readonly quotaPerSecond: Rates;
  /** In their order; messages name a node by its index here. */
  readonly nodeUrls: readonly string[];
}

export interface TracePlan {
  readonly file: string;
  /** Times faster than the trace happened. */
  readonly speed: number;
}

/** Over the IPC channel, from the demonstration to its traffic process. */
export type TrafficOrder =
  | { readonly kind: 'begin'; readonly plan: TrafficPlan }
  | { readonly kind: 'node-gone'; readonly node: number }
  | { readonly kind: 'node-back'; readonly node: number }
  /** One at a time; answered with `act-over`. */
  | { readonly kind: 'act'; readonly stretches: readonly Stretch[] }
  /** The systems beside ours have this quota from now on. */
  | { readonly kind: 'quota'; readonly messagesPerSecond: number }
  /** Stop, and answer with `finished`. */
  | { readonly kind: 'finish' };

/** And back. */
export type TrafficNews =
  /** Every 250 ms; time since the begin of the traffic. */
  | { readonly kind: 'progress'; readonly atMs: number; readonly nodes: readonly ClientTally[] }
  | { readonly kind: 'act-over'; readonly tallies: ActTallies }
  /** null = the story, whose acts have told theirs. */
  | { readonly kind: 'finished'; readonly measurement: Measurement | null };
