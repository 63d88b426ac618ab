import type { Rates } from '../../../core/base/vocabulary.js';
import type { ClientTally, Measurement } from '../measure/meter.js';
import type { Stretch } from '../story/acts.js';
import type { ActTallies } from '../story/story-traffic.js';

/** Plan of the traffic process. */
export interface TrafficPlan {
  /** Null = the story's acts, each when ordered. */
  readonly trace: TracePlan | null;
  readonly group: string;
  readonly quotaPerSecond: Rates;
  /** By index, as messages name nodes. */
  readonly nodeUrls: readonly string[];
}

interface TracePlan {
  readonly file: string;
  /** Times faster than the trace happened. */
  readonly speed: number;
}

/** Orders over the IPC channel to the traffic process. */
export type TrafficOrder =
  | { readonly kind: 'begin'; readonly plan: TrafficPlan }
  | { readonly kind: 'node-gone'; readonly node: number }
  | { readonly kind: 'node-back'; readonly node: number }
  /** Plays one act; answered with `act-over`. */
  | { readonly kind: 'act'; readonly stretches: readonly Stretch[] }
  /** Sets the quota of the systems beside ours. */
  | { readonly kind: 'quota'; readonly messagesPerSecond: number }
  /** Stops; answered with `finished`. */
  | { readonly kind: 'finish' };

/** Messages back. */
export type TrafficNews =
  /** Progress, every 250 ms since the traffic began. */
  | { readonly kind: 'progress'; readonly atMs: number; readonly nodes: readonly ClientTally[] }
  | { readonly kind: 'act-over'; readonly tallies: ActTallies }
  /** Null = the story, whose acts have reported theirs. */
  | { readonly kind: 'finished'; readonly measurement: Measurement | null };
