import type { TraceArrival } from './trace.js';

/** What a whole trace contains, at the speed at which it is played. */
export interface TraceMeasure {
  readonly arrivals: number;
  readonly durationMs: number;
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
}

/** Reads a trace once through: for its mean rates, and for how much there is to play. */
export async function measureTrace(rows: AsyncIterable<TraceArrival>): Promise<TraceMeasure> {
  let [arrivals, durationMs, messages, bytes] = [0, 0, 0, 0];
  for await (const arrival of rows) {
    arrivals++;
    durationMs = arrival.atMs;
    messages += arrival.messages;
    bytes += arrival.bytes;
  }
  const seconds = Math.max(durationMs / 1000, 1);
  return { arrivals, durationMs, messagesPerSecond: messages / seconds, bytesPerSecond: bytes / seconds };
}
