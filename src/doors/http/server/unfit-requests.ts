import type { IncomingMessage, RequestListener } from 'node:http';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { PROBLEM_MEDIA_TYPE, problemOf } from '../route/problem.js';

/**
 * Refuses, in turn, requests without a host or with an unknown expectation. *Why:* Node answers them before a
 * connection's bounds apply: 450 such connections ended a node of 256 MB.
 */
export function refuseUnfit(handle: RequestListener): RequestListener {
  return (request, response) => {
    const unfit = unfitness(request);
    if (unfit === null) {
      handle(request, response);
      return;
    }
    const { status, title, reason } = unfit;
    const problem = { ...problemOf(new QuotameshError('REQUEST_INVALID', { reason })), title, status };
    const body = JSON.stringify(problem);
    const length = Buffer.byteLength(body);
    response.writeHead(status, { connection: 'close', 'content-type': PROBLEM_MEDIA_TYPE, 'content-length': length });
    response.end(body);
  };
}

/** Returns why a request is unfit, or null. HTTP/1.0 has neither field. */
function unfitness({ headers, httpVersion }: IncomingMessage) {
  if (httpVersion !== '1.1') return null;
  if (headers.host === undefined) return NO_HOST;
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) return UNKNOWN_EXPECTATION;
  return null;
}

const NO_HOST = { status: 400, title: 'Bad Request', reason: 'the field host is missing' } as const;
const UNKNOWN_EXPECTATION = {
  status: 417,
  title: 'Expectation Failed',
  reason: 'only 100-continue may be expected',
} as const;
