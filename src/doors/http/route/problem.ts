import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { QuotameshError } from '../../../base/errors/quotamesh-error.js';

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** RFC 9457, with the members that every error of ours has: its code in the catalogue, and what to do about it. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly remedy: string;
}

/** Problem types that draft-ietf-httpapi-ratelimit-headers-11 registers; `violated-policies` belongs to each. */
export const QUOTA_EXCEEDED_TYPE = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Request cannot be satisfied as assigned quota has been exceeded',
} as const;

export const REDUCED_CAPACITY_TYPE = {
  type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
  title: 'Request cannot be satisfied due to temporary server capacity constraints',
} as const;

/**
 * The type `about:blank` says no more than the status, and the title is the usual phrase of the status (RFC 9457
 * §4.2.1). Our errors differ in `code`. A URI for each code would promise a page at an address that no installation
 * has.
 */
export function problemOf(
  error: QuotameshError,
  registered: { readonly type: string; readonly title: string } | null = null,
): Problem {
  const status = error.httpStatus;
  const { type, title } = registered ?? { type: 'about:blank', title: STATUS_CODES[status] ?? 'Error' };
  return { type, title, status, detail: error.message, code: error.code, remedy: error.remedy };
}

export type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;
