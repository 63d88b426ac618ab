import type { TraceArrival } from './trace.js';

/** What a whole trace asks for on the mean, per second of the file. */
export interface TraceMeasure {
  readonly arrivals: number;
  readonly messagesPerSecond: number;
}

/** Reads a trace once through. @param speed that at which the rows come */
export async function measureTrace(rows: AsyncIterable<TraceArrival>, speed: number): Promise<TraceMeasure> {
  let [arrivals, durationMs, messages] = [0, 0, 0];
  for await (const arrival of rows) {
    arrivals++;
    durationMs = arrival.atMs * speed;
    messages += arrival.messages;
  }
  return { arrivals, messagesPerSecond: messages / Math.max(durationMs / 1000, 1) };
}
