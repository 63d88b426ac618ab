import type { PageRun } from '../page/page-runs.js';
import type { TraceVerdict } from './running-verdict.js';

/** Result of a replay: a page's run, with a trace's verdict. */
export interface TraceRun extends PageRun, Omit<KeyRun, 'key'> {
  readonly verdict: TraceVerdict;
  /** Requests above `maxRequest`, always refused. */
  readonly tooLarge: number;
  /** By arrival; one nameless = one quota. */
  readonly keys: readonly KeyRun[];
}

export interface KeyRun {
  readonly key: string;
  readonly offered: number;
  readonly admitted: number;
  readonly offeredBytes: number;
  readonly admittedBytes: number;
}

/** Lists keys by refused messages, equals by demand. */
export function mostRefused(keys: readonly KeyRun[], count: number): readonly KeyRun[] {
  return [...keys]
    .sort((one, other) => refusedOf(other) - refusedOf(one) || other.offered - one.offered)
    .slice(0, count);
}

export function refusedOf({ offered, admitted }: KeyRun): number {
  return offered - admitted;
}
