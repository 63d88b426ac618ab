import type { ErrorCode } from '../../base/errors/catalogue.js';
import { type ErrorFacts, QuotameshError } from '../../base/errors/quotamesh-error.js';

/** Trying again changes nothing: somebody has to change the topic, its permissions or our configuration. */
export class TopicUnusable extends QuotameshError {
  constructor(code: ErrorCode, facts: ErrorFacts, options?: { readonly cause?: unknown }) {
    super(code, facts, options);
    this.name = 'TopicUnusable';
  }
}

/** The store works, and takes none of these records: they are too large, its memory is full, replicas are missing. */
export class AppendRefused extends QuotameshError {
  /** True when a record is larger than any topic must take: the store would take others. */
  readonly isOwnFault: boolean;

  constructor(topic: string, error: unknown, { hint = '', isOwnFault = false } = {}) {
    super('APPEND_REFUSED', { topic, reason: `${reasonOf(error)}${hint}` }, { cause: error });
    this.name = 'AppendRefused';
    this.isOwnFault = isOwnFault;
  }
}

/** Name of the error in Kafka's protocol. */
export function typeOf(error: unknown): string | undefined {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : undefined;
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const type = typeOf(error);
  return type ? `${error.message} (${type})` : error.message;
}
