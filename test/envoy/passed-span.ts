import { setTimeout as sleep } from 'node:timers/promises';
import type { PacedRequests } from './paced-requests.js';

/** Requests that passed in a span, whose length is known within a moment. */
export interface PassedSpan {
  readonly passed: readonly number[];
  readonly total: number;
  /** Seconds that it took at least, and at most. */
  readonly least: number;
  readonly most: number;
  /** Seconds of it in which nothing was answered, because the machine was busy: what a small bucket gets then is lost. */
  readonly silent: number;
}

/** Counts what passes meanwhile. *Why two lengths:* on a busy machine reading the counts takes its time. */
export async function passedIn(loads: readonly PacedRequests[], ms: number): Promise<PassedSpan> {
  const begunMs = performance.now();
  const before = loads.map(({ passed }) => passed);
  const silentBefore = silentIn(loads);
  const countedMs = performance.now();
  await sleep(ms);
  const againMs = performance.now();
  const silent = (silentIn(loads) - silentBefore) / 1000;
  const passed = loads.map((load, at) => load.passed - (before[at] ?? 0));
  const endMs = performance.now();
  const total = passed.reduce((sum, each) => sum + each, 0);
  return { passed, total, least: (againMs - countedMs) / 1000, most: (endMs - begunMs) / 1000, silent };
}

const silentIn = (loads: readonly PacedRequests[]) => loads.reduce((sum, { silentMs }) => sum + silentMs, 0);
