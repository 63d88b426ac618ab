import type { Coordinator } from './coordinator.js';

/** Parts of a running node that status, metrics and explanations read. */
export interface CoordinatorView {
  /** Null until the topic is open, which fixes the number of partitions. */
  readonly coordinator: Coordinator | null;
  /** True while the node decides about requests. */
  readonly isReady: boolean;
}

/** Serves lanes for the code that decides about requests. A lane has a share only while this node serves it. */
export interface ServingLoop extends CoordinatorView {
  /** Serves the lane from now on; does nothing for a lane that is served already. */
  serve(lane: number): void;
  /** Notes that a key's unpublished use was charged to its lane. */
  unpublishedCharged(lane: number): void;
}
