/** Faults of an answer. */
export type AnswerFault = 'too-long' | 'unasked' | 'malformed' | 'undecodable';

/** Marks an answer that is malformed or too long. */
export class MalformedAnswer extends Error {
  readonly fault: AnswerFault;

  constructor(fault: AnswerFault, reason: string, options?: { readonly cause?: unknown }) {
    super(`malformed answer: ${reason}`, options);
    this.name = 'MalformedAnswer';
    this.fault = fault;
  }
}
