import type { Random } from '../cluster/random.js';
import type { TraceArrival } from './trace.js';

/** Draws each row's time evenly from its step of `stepMs`. Finer stamps play no part. */
export async function* inSteps(
  arrivals: AsyncIterable<TraceArrival>,
  stepMs: number,
  random: Random,
): AsyncGenerator<TraceArrival> {
  let step = 0;
  let rows: TraceArrival[] = [];
  for await (const arrival of arrivals) {
    const at = Math.floor(arrival.atMs / stepMs);
    if (at > step) {
      yield* drawn(rows, step * stepMs, stepMs, random);
      step = at;
      rows = [];
    }
    rows.push(arrival);
  }
  yield* drawn(rows, step * stepMs, stepMs, random);
}

function drawn(rows: readonly TraceArrival[], fromMs: number, stepMs: number, random: Random): TraceArrival[] {
  return rows
    .map((row) => ({ ...row, atMs: fromMs + stepMs * random.next() }))
    .sort((one, other) => one.atMs - other.atMs);
}
