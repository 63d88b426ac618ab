/**
 * Outcomes; late: after the client's patience; lost: no listener, or a broken connection; unsent: too many wait, or
 * this machine is a second late.
 */
export const OUTCOMES = ['granted', 'refused', 'not-ready', 'error', 'late', 'lost', 'unsent'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Request as its client saw it, in epoch milliseconds. */
export interface Call {
  readonly tag: number;
  /** Due time of sending. */
  readonly dueMs: number;
  readonly sentMs: number;
  readonly endedMs: number;
  readonly outcome: Outcome;
  readonly bytes: number;
  readonly retry: boolean;
}

/** Tests for a decision: such calls count at their end, others at their sending. */
export function isDecided({ outcome }: Call): boolean {
  return outcome === 'granted' || outcome === 'refused';
}

const FIELDS = 7;

/** Packs calls into one array of numbers, cheap for another process. */
export class CallColumn {
  #numbers: number[] = [];

  add({ tag, dueMs, sentMs, endedMs, outcome, bytes, retry }: Call): void {
    this.#numbers.push(tag, dueMs, sentMs, endedMs, OUTCOMES.indexOf(outcome), bytes, retry ? 1 : 0);
  }

  /** Takes everything since the last time. */
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
