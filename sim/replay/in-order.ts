import { REPLAY_MS_MAX, type TraceArrival, type TraceOptions } from './trace.js';
import { traceMistake } from './trace-mistake.js';

/** Milliseconds by which rows may be late and are sorted in; later ones are a mistake. */
export const LATE_MS_MAX = 1000;
/** Rows that may wait, which bounds memory. */
const WAITING_MAX = 100_000;

/** Yields arrivals in time order, equal ones by line. */
export async function* inOrder(
  arrivals: AsyncIterable<TraceArrival>,
  file: string,
  { speed, time }: Pick<TraceOptions, 'speed' | 'time'>,
): AsyncGenerator<TraceArrival> {
  const lateMs = LATE_MS_MAX / speed;
  let waiting: TraceArrival[] = [];
  let given = 0;
  let latestMs = -Infinity;
  let givenMs = -Infinity;
  for await (const arrival of arrivals) {
    const location = { file, line: arrival.line };
    if (arrival.atMs < Math.max(givenMs, latestMs - lateMs)) {
      const problem = `is ${duration((Math.max(latestMs, givenMs) - arrival.atMs) * speed)} before a row above`;
      throw traceMistake(location, time, problem, `at most ${duration(LATE_MS_MAX)}`);
    }
    if (arrival.atMs > REPLAY_MS_MAX) {
      const problem = `is ${duration(arrival.atMs)} after the first at --speed ${speed}`;
      const allowed = `at most ${duration(REPLAY_MS_MAX)}; a higher --speed, or --time-format`;
      throw traceMistake(location, time, problem, allowed);
    }
    // The first row may be one of those that are late.
    insert(waiting, arrival.atMs < 0 ? { ...arrival, atMs: 0 } : arrival);
    if (arrival.atMs > latestMs) latestMs = arrival.atMs;
    while (given < waiting.length) {
      const next = waiting[given];
      if (next.atMs > latestMs - lateMs && waiting.length - given <= WAITING_MAX) break;
      given++;
      givenMs = next.atMs;
      yield next;
    }
    // Half of the list at once: one by one would move the rest each time.
    if (given > 512 && given * 2 > waiting.length) {
      waiting = waiting.slice(given);
      given = 0;
    }
  }
  yield* waiting.slice(given);
}

/** Inserts from the end, where most belong. */
function insert(waiting: TraceArrival[], arrival: TraceArrival): void {
  let at = waiting.length;
  while (at > 0 && waiting[at - 1].atMs > arrival.atMs) at--;
  if (at === waiting.length) waiting.push(arrival);
  else waiting.splice(at, 0, arrival);
}

function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Number(milliseconds.toPrecision(3))} ms`;
  if (milliseconds < 7_200_000) return `${Number((milliseconds / 1000).toPrecision(4))} s`;
  return `${Number((milliseconds / 3_600_000).toPrecision(3))} h`;
}
