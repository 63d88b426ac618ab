import { EventQueue } from '../cluster/event-queue.js';
import type { Scenario } from '../scenario/scenario.js';
import { arrivalStreams } from './arrival-streams.js';
import { playStream } from './play-arrivals.js';

/** First attempts in order of time, as columns of equal length. */
export interface Arrivals {
  readonly atMs: Float64Array;
  /** Indexes in `arrivalStreams`, which has each arrival's node, messages and retries. */
  readonly stream: Uint16Array;
  readonly bytes: Float64Array;
}

/**
 * Returns the arrivals that a run with this seed sees. Answers do not change arrivals, so they can be drawn without a
 * cluster, by one that admits everything.
 */
export function drawArrivals(scenario: Scenario, seed: number): Arrivals {
  const queue = new EventQueue();
  const [atMs, stream, bytes]: [number[], number[], number[]] = [[], [], []];
  for (const [index, one] of arrivalStreams(scenario).entries()) {
    const arrive = (_node: number, _messages: number, size: number): boolean => {
      atMs.push(queue.nowMs);
      stream.push(index);
      bytes.push(size);
      return true;
    };
    playStream(one, { queue, seed, arrive });
  }
  queue.runUntil(scenario.durationMs);
  return { atMs: Float64Array.from(atMs), stream: Uint16Array.from(stream), bytes: Float64Array.from(bytes) };
}
