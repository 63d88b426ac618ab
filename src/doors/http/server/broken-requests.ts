import type { Socket } from 'node:net';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { PROBLEM_MEDIA_TYPE, problemOf } from '../route/problem.js';

/** Answers on the socket what is no HTTP or comes too slowly, and ends the connection. */
export function answerBrokenRequests(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const [status, phrase, reason] = ANSWERS[error.code ?? ''] ?? BAD_REQUEST;
  const problem = { ...problemOf(new QuotameshError('REQUEST_INVALID', { reason })), title: phrase, status };
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${phrase}`,
    `content-type: ${PROBLEM_MEDIA_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}

const BAD_REQUEST = [400, 'Bad Request', 'this is no HTTP request'] as const;

const ANSWERS: Readonly<Record<string, readonly [number, string, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'the header fields are too large'],
};
