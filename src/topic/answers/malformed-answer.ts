/** Why an answer of a server is none. */
export type AnswerFault = 'too-long' | 'unasked' | 'malformed' | 'undecodable';

/** Reports an answer that the protocol does not allow, or that is too long. */
export class MalformedAnswer extends Error {
  readonly fault: AnswerFault;

  constructor(fault: AnswerFault, reason: string, options?: { readonly cause?: unknown }) {
    super(`malformed answer: ${reason}`, options);
    this.name = 'MalformedAnswer';
    this.fault = fault;
  }
}
