import type { Direction } from '../../core/base/vocabulary.js';
import type { Cost } from '../../core/target/cost-units.js';

/** What one piece of work has cost, on one backend. */
export interface ReportedCost extends Cost {
  /** The backend's name in reports of its health; absent = nobody watches that backend's health. */
  readonly backend?: string;
}

export interface CostOptions {
  readonly direction?: Direction;
  /** Pieces of work (messages, as they were admitted) that cost this together; default 1. */
  readonly messages?: number;
  /** Where only a part of the work is measured: the probability with which it is. What was measured is scaled back. */
  readonly sampled?: number;
}
