import type { TopicDelays } from '../cluster/simulated-topic.js';

/** Bucket as written: a group, or a template of keys. */
export interface WrittenBucket {
  readonly isKey: boolean;
  readonly per: 'Second' | 'Minute' | 'Hour' | 'Day';
  /** Messages per that time. */
  readonly quota: number;
  /** Depth in messages; null = the default. */
  readonly burst: number | null;
}

/** Cluster and its acts, in order; the same story gives the same run. */
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
  /** Node, from 0 to 1 of the running ones. */
  readonly at: number;
  /** Group or key, from 0 to 1 of all. */
  readonly of: number;
}

/** Acts; parts are of a depth, at least one message. */
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
  /** Reserves time after time, cancels one after the other, takes the rest. */
  | ({ readonly act: 'hoard'; readonly part: number; readonly everyMs: number; readonly times: number } & Asked)
  /** Reserves, takes what is left, cancels, and must get what came back. */
  | ({ readonly act: 'cancel'; readonly part: number; readonly heldMs: number } & Asked)
  /** Work that cannot be refused. */
  | ({ readonly act: 'consume'; readonly part: number; readonly isRequested: boolean } & Asked)
  /** Must get one message of a rested bucket, or all. */
  | ({ readonly act: 'probe'; readonly restMs: number; readonly isWhole: boolean } & Asked)
  | { readonly act: 'start'; readonly compacted: boolean }
  | { readonly act: 'leave'; readonly at: number; readonly backMs: number | null; readonly compacted: boolean }
  | { readonly act: 'kill'; readonly at: number; readonly backMs: number | null; readonly compacted: boolean }
  /** Restarts all nodes, one by one. */
  | { readonly act: 'deploy'; readonly everyMs: number; readonly awayMs: number; readonly compacted: boolean }
  /** Stops all nodes for a while. */
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
