import type { PageRun } from '../page/page-runs.js';
import type { TraceVerdict } from './running-verdict.js';

/** What a replay leaves behind: a page's run with the part of a verdict that a trace allows. */
export interface TraceRun extends PageRun {
  readonly verdict: TraceVerdict;
  /** Messages. */
  readonly offered: number;
  readonly admitted: number;
  readonly offeredBytes: number;
  readonly admittedBytes: number;
  /** Requests that a node refuses whatever its limits are, by `maxRequest`. */
  readonly tooLarge: number;
  /** In the order in which they came; one with an empty name where one quota is for all. */
  readonly keys: readonly KeyRun[];
}

/** What became of the work of one key; offered and admitted are messages. */
export interface KeyRun {
  readonly key: string;
  readonly offered: number;
  readonly admitted: number;
  readonly offeredBytes: number;
  readonly admittedBytes: number;
}

/** Those with the most messages refused, most first; of equal ones whoever asked for more. */
export function mostRefused(keys: readonly KeyRun[], count: number): readonly KeyRun[] {
  return [...keys]
    .sort((one, other) => refusedOf(other) - refusedOf(one) || other.offered - one.offered)
    .slice(0, count);
}

export function refusedOf({ offered, admitted }: KeyRun): number {
  return offered - admitted;
}
