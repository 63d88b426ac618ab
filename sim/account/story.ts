import type { TopicDelays } from '../cluster/simulated-topic.js';

/** A bucket as somebody writes it: a group, or a template of keys. */
export interface WrittenBucket {
  readonly isKey: boolean;
  readonly per: 'Second' | 'Minute' | 'Hour' | 'Day';
  /** Messages per that time. */
  readonly quota: number;
  /** Messages that it holds; null = the default. */
  readonly burst: number | null;
}

/** What a cluster is, and what happens to it, in this order. The same story gives the same run. */
export interface Story {
  readonly seed: number;
  /** Nodes at the beginning. */
  readonly nodes: number;
  readonly partitions: number;
  readonly delays: TopicDelays;
  readonly sampleIntervalMs: number;
  readonly buckets: readonly WrittenBucket[];
  readonly acts: readonly Act[];
}

interface Asked {
  /** The node, from 0 to 1 of those that run. */
  readonly at: number;
  /** The group or key, from 0 to 1 of all. */
  readonly of: number;
}

/** Parts are of a depth, and at least one message. */
export type Act =
  | { readonly act: 'pass'; readonly ms: number }
  | ({ readonly act: 'ask'; readonly part: number; readonly times: number } & Asked)
  | ({ readonly act: 'drain'; readonly isEverywhere: boolean; readonly isPiecewise: boolean } & Asked)
  /** At one node after the other. */
  | ({ readonly act: 'move'; readonly part: number; readonly everyMs: number; readonly times: number } & Asked)
  | ({ readonly act: 'wait'; readonly part: number; readonly waitMs: number } & Asked)
  | ({ readonly act: 'reserve'; readonly part: number; readonly heldMs: number; readonly used: number } & Asked)
  | ({
      readonly act: 'take';
      readonly part: number;
      readonly waitMs: number;
      readonly heldMs: number;
      readonly used: number;
    } & Asked)
  /** Work that cannot be refused. */
  | ({ readonly act: 'consume'; readonly part: number; readonly isRequested: boolean } & Asked)
  /** Asks for one message of a bucket that has rested, or for all that there is, and has to get it. */
  | ({ readonly act: 'probe'; readonly restMs: number; readonly isWhole: boolean } & Asked)
  | { readonly act: 'start'; readonly compacted: boolean }
  | { readonly act: 'leave'; readonly at: number; readonly backMs: number | null; readonly compacted: boolean }
  | { readonly act: 'kill'; readonly at: number; readonly backMs: number | null; readonly compacted: boolean }
  /** All nodes are stopped and started again, one after the other. */
  | { readonly act: 'deploy'; readonly everyMs: number; readonly awayMs: number; readonly compacted: boolean }
  /** Nobody runs meanwhile. */
  | {
      readonly act: 'night';
      readonly ms: number;
      readonly isKilled: boolean;
      readonly isLogLost: boolean;
      readonly compacted: boolean;
    }
  | { readonly act: 'lose-log' }
  | { readonly act: 'limit'; readonly bucket: number; readonly factor: number };

export type ActName = Act['act'];
