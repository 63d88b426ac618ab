import type { TraceArrival } from './trace.js';

/** Mean of a trace per second of the file. */
export interface TraceMeasure {
  readonly arrivals: number;
  readonly messagesPerSecond: number;
}

/** Measures a trace in one pass. @param speed that of the rows */
export async function measureTrace(rows: AsyncIterable<TraceArrival>, speed: number): Promise<TraceMeasure> {
  let [arrivals, durationMs, messages] = [0, 0, 0];
  for await (const arrival of rows) {
    arrivals++;
    durationMs = arrival.atMs * speed;
    messages += arrival.messages;
  }
  return { arrivals, messagesPerSecond: messages / Math.max(durationMs / 1000, 1) };
}
