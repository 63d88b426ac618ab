import type { Rates } from '../../../core/base/vocabulary.js';

export interface NodeRow {
  readonly id: string;
  readonly state: 'ready' | 'starting' | 'dead';
  /** Arrived in the second + waiting when it began. */
  readonly demand: number;
  readonly admitted: number;
  /** Not admitted in time. */
  readonly gaveUp: number;
  readonly waiting: number;
}

/** Last second, for the live view. */
export interface ViewFrame {
  readonly elapsedMs: number;
  readonly rows: readonly NodeRow[];
  readonly quota: Rates;
  readonly admitted: Rates;
  /** Headline of the moment; null = that of the introduction. */
  readonly act: string | null;
}

/** Constants of the view. */
export interface Introduction {
  readonly headline: string;
  /** Null = until Ctrl-C. */
  readonly forMs: number | null;
  readonly hints: readonly string[];
}
