import type { Rates } from '../../../core/base/vocabulary.js';

/** One node in one second; messages per second, work that waits in messages. */
export interface NodeRow {
  readonly id: string;
  readonly state: 'ready' | 'starting' | 'dead';
  /** What arrived in the second + what waited when it began. */
  readonly demand: number;
  readonly admitted: number;
  /** Nobody has admitted it in time. */
  readonly gaveUp: number;
  readonly waiting: number;
}

/** What the live view shows: the last second. */
export interface ViewFrame {
  readonly elapsedMs: number;
  readonly rows: readonly NodeRow[];
  readonly quota: Rates;
  readonly admitted: Rates;
  /** What the headline says for the moment; null = that of the introduction. */
  readonly act: string | null;
}

/** What stays the same throughout. */
export interface Introduction {
  readonly headline: string;
  /** Null = until Ctrl-C. */
  readonly forMs: number | null;
  readonly hints: readonly string[];
}
