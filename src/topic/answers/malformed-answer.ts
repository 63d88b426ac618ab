/** Why an answer of a server is none. */
export type AnswerFault = 'too-long' | 'unasked' | 'malformed' | 'undecodable';

/** The server has sent what its protocol does not allow, or more than is kept of one answer. */
export class MalformedAnswer extends Error {
  readonly fault: AnswerFault;

  constructor(fault: AnswerFault, reason: string, options?: { readonly cause?: unknown }) {
    super(`malformed answer: ${reason}`, options);
    this.name = 'MalformedAnswer';
    this.fault = fault;
  }
}
