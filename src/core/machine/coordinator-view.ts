import type { Coordinator } from './coordinator.js';

/** What status, metrics and explanations may read of a running node. */
export interface CoordinatorView {
  /** Null until the topic is open, because the number of partitions belongs to it. */
  readonly coordinator: Coordinator | null;
  /** True while the node decides about requests. */
  readonly isReady: boolean;
}

/**
 * The view for code that decides about requests. A lane has a share only after it was used at this node, so that code
 * may ask for it to be served.
 */
export interface ServingLoop extends CoordinatorView {
  /** Serves the lane from now on; does nothing for a lane that is served already. */
  serve(lane: number): void;
  /** What was spent of the lane's key unpublished has just been charged to it. */
  unpublishedCharged(lane: number): void;
}
