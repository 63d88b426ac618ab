import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { AnswerOf } from '../../../node/api/answer-table.js';
import type { PROBLEM_MEMBERS } from './answer-schemas.js';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** Problem of RFC 9457, with the catalogue's code and remedy. */
export interface Problem extends AnswerOf<typeof PROBLEM_MEMBERS> {}

/** Problem types of draft-ietf-httpapi-ratelimit-headers-11; each has `violated-policies`. */
export const QUOTA_EXCEEDED_TYPE = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Request cannot be satisfied as assigned quota has been exceeded',
} as const;

export const REDUCED_CAPACITY_TYPE = {
  type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
  title: 'Request cannot be satisfied due to temporary server capacity constraints',
} as const;

/**
 * Makes a problem of type `about:blank` with the status's phrase as title. So RFC 9457 §4.2.1 wants it. Errors differ
 * in `code`: a URI for each would promise a page that no installation has.
 */
export function problemOf(
  error: QuotameshError,
  registered: { readonly type: string; readonly title: string } | null = null,
): Problem {
  const status = error.httpStatus;
  const { type, title } = registered ?? { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error' };
  return { type, title, status, detail: error.message, code: error.code, remedy: error.remedy };
}

/** Writes the problem of bytes that no route could get. */
export function unfitBody(status: number, title: string, reason: string): string {
  return JSON.stringify({ ...problemOf(new QuotameshError('REQUEST_INVALID', { reason })), title, status });
}

/** Makes a problem's members in a bulk's answer to one item. */
export function itemProblem(error: QuotameshError) {
  const { status, code, detail, remedy } = problemOf(error);
  return { status, code, detail, remedy };
}

/** Answers one item of a bulk: what it led to, or its problem. */
export function itemAnswer<Result extends object>(act: () => Result) {
  try {
    return { status: 200, ...act() };
  } catch (error) {
    if (error instanceof QuotameshError) return itemProblem(error);
    throw error;
  }
}

export type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
