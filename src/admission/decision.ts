import type { Dimension } from '../core/vocabulary.js';

/** The answer to one acquire. */
export type Decision = Granted | Refused | NotReady;

export interface Granted {
  readonly granted: true;
}

export interface Refused {
  readonly granted: false;
  readonly reason: 'quota';
  /** The level that refused; topic, client and node follow in a later version. */
  readonly level: 'group';
  readonly dimension: Dimension;
  /** When this amount could be admitted if nobody else took anything; at least 1, at most 60,000. */
  readonly retryAfterMs: number;
}

/** Nothing is admitted before the node knows its share: at the start, and after its event loop has slept. */
export interface NotReady {
  readonly granted: false;
  readonly reason: 'not-ready';
  readonly because: string;
  readonly retryAfterMs: number;
}

export const GRANTED_DECISION: Granted = Object.freeze({ granted: true });

export const RETRY_AFTER_MS_MAX = 60_000;
/** A node gets ready within a second or two; asking more often than this helps nobody. */
export const NOT_READY_RETRY_MS = 250;

export interface Amounts {
  readonly messages?: number;
  readonly bytes?: number;
}

export interface AcquireOptions {
  readonly direction?: 'publish' | 'dispatch';
  /** This work was refused before and is tried again: it is not counted as demand twice. */
  readonly retry?: boolean;
}
