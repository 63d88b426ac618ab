import type { Direction } from '../../core/base/vocabulary.js';
import type { Cost } from '../../core/target/cost-units.js';

export interface ReportedCost extends Cost {
  /** Name of the backend in reports of its health; absent = its health is not watched. */
  readonly backend?: string;
}

export interface CostOptions {
  readonly direction?: Direction;
  /** Messages, as admitted, that cost this together; default 1. */
  readonly messages?: number;
  /** Probability with which work is measured, if not all is: costs are scaled by it. */
  readonly sampled?: number;
}
