import type { TraceArrival } from './trace.js';

/** Counts rows, and their mean per second of the file. @param speed that of the rows */
export async function measureTrace(rows: AsyncIterable<TraceArrival>, speed: number) {
  let [arrivals, durationMs, messages] = [0, 0, 0];
  for await (const arrival of rows) {
    arrivals++;
    durationMs = arrival.atMs * speed;
    messages += arrival.messages;
  }
  return { arrivals, messagesPerSecond: messages / Math.max(durationMs / 1000, 1) };
}
