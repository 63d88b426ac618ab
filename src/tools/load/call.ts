/**
 * late:   no answer within the patience of a client
 * lost:   nobody listens, or the connection went before the answer came
 * unsent: too many wait already, or this machine is late by more than a second
 */
export const OUTCOMES = ['granted', 'refused', 'not-ready', 'error', 'late', 'lost', 'unsent'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** One request as its client saw it. Times are epoch milliseconds. */
export interface Call {
  /** Which stream it belongs to (load-order.ts). */
  readonly tag: number;
  /** When it should have been sent. */
  readonly dueMs: number;
  readonly sentMs: number;
  readonly endedMs: number;
  readonly outcome: Outcome;
  readonly bytes: number;
  readonly retry: boolean;
}

/** Whether the node gave a decision: the call counts when it ended, otherwise when it was sent. */
export function isDecided({ outcome }: Call): boolean {
  return outcome === 'granted' || outcome === 'refused';
}

const FIELDS = 7;

/** Calls as one array of numbers, which costs another process little. */
export class CallColumn {
  #numbers: number[] = [];

  add({ tag, dueMs, sentMs, endedMs, outcome, bytes, retry }: Call): void {
    this.#numbers.push(tag, dueMs, sentMs, endedMs, OUTCOMES.indexOf(outcome), bytes, retry ? 1 : 0);
  }

  /** Everything since the last time. */
  take(): Float64Array {
    const taken = Float64Array.from(this.#numbers);
    this.#numbers = [];
    return taken;
  }
}

export function callsIn(numbers: Float64Array): Call[] {
  const calls: Call[] = [];
  for (let at = 0; at < numbers.length; at += FIELDS) {
    const [tag, dueMs, sentMs, endedMs, outcome, bytes, retry] = numbers.subarray(at, at + FIELDS);
    calls.push({ tag, dueMs, sentMs, endedMs, outcome: OUTCOMES[outcome], bytes, retry: retry === 1 });
  }
  return calls;
}
