import type { Coordinator } from './coordinator.js';

/** Parts of a running node that status, metrics and explanations read. */
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
  /** Notes that what was spent of the lane's key without publishing it has just been charged to it. */
  unpublishedCharged(lane: number): void;
}
