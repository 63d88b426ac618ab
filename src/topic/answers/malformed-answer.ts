/** Faults of an answer. */
export type AnswerFault = 'too-long' | 'unasked' | 'malformed' | 'undecodable';

/** Makes the error for an answer that lacks what was asked for. */
export function saidNothingOf(what: string): MalformedAnswer {
  return new MalformedAnswer('malformed', `nothing of ${what}`);
}

/** Marks an answer that is malformed or too long. */
export class MalformedAnswer extends Error {
  readonly fault: AnswerFault;

  constructor(fault: AnswerFault, reason: string, options?: { readonly cause?: unknown }) {
    super(`malformed answer: ${reason}`, options);
    this.name = 'MalformedAnswer';
    this.fault = fault;
  }
}
