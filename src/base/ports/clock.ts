import { performance } from 'node:perf_hooks';

/** Local monotonic milliseconds; comparable within the process. */
export type Clock = () => number;

/**
 * Reads the monotonic clock. On Linux it stands still in a suspend (WakingClock). Imported: the global `performance` is
 * a getter, 50 against 37 ns.
 */
export const monotonicClock: Clock = () => performance.now();

export interface Timers {
  set(run: () => void, delayMs: number): unknown;
  clear(timer: unknown): void;
}

export const processTimers: Timers = {
  set: (run, delayMs) => setTimeout(run, delayMs),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
