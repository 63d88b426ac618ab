import type { Rates } from '../../core/base/vocabulary.js';

/** One node in one second; messages per second, work that waits in messages. */
export interface NodeRow {
  readonly id: string;
  readonly isRunning: boolean;
  /** What arrived in the second + what waited when it began. */
  readonly demand: number;
  readonly admitted: number;
  readonly refused: number;
  readonly waiting: number;
  readonly share: number | null;
}

/** What the live view shows: the last second. */
export interface Frame {
  readonly elapsedMs: number;
  readonly rows: readonly NodeRow[];
  readonly quota: Rates;
  readonly admitted: Rates;
  readonly lastRebalancingMs: number;
}

/** What stays the same throughout. */
export interface Introduction {
  readonly headline: string;
  /** Null = until Ctrl-C. */
  readonly forMs: number | null;
  readonly hints: readonly string[];
}
