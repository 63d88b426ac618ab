import type { ErrorCode } from '../../base/errors/catalogue.js';
import { type ErrorFacts, QuotameshError } from '../../base/errors/quotamesh-error.js';

/** Marks failures that stay until topic, permissions or configuration change. */
export class TopicUnusable extends QuotameshError {
  constructor(code: ErrorCode, facts: ErrorFacts, options?: { readonly cause?: unknown }) {
    super(code, facts, options);
    this.name = 'TopicUnusable';
  }
}

/** Marks records that a working store refuses: too large, memory full, replicas missing. */
export class AppendRefused extends QuotameshError {
  /** True = larger than any topic must take: the store would take others. */
  readonly isOwnFault: boolean;

  constructor(topic: string, error: unknown, { hint = '', isOwnFault = false } = {}) {
    super('APPEND_REFUSED', { topic, reason: `${reasonOf(error)}${hint}` }, { cause: error });
    this.name = 'AppendRefused';
    this.isOwnFault = isOwnFault;
  }
}

export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Name of the error in Kafka's protocol. */
export function typeOf(error: unknown): string | undefined {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : undefined;
}

/** Says why, with the remedy of what stays until somebody mends it. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof TopicUnusable) return error.advice;
  const type = typeOf(error);
  return type ? `${error.message} (${type})` : error.message;
}
