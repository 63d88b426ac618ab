import type { Coordinator } from './coordinator.js';

/** What may be read of a node that runs, by those who tell people about it. */
export interface CoordinatorView {
  /** Null until the topic is open, because the number of partitions belongs to it. */
  readonly coordinator: Coordinator | null;
  /** The node decides. */
  readonly isReady: boolean;
}

/** The same for those who decide: a lane has a share only after somebody here has used it. */
export interface ServingLoop extends CoordinatorView {
  /** Serves the lane from now on; does nothing for a lane that is served already. */
  serve(lane: number): void;
}
