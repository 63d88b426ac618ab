import { messageOf, QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Status codes of gRPC that this listener gives. */
export const GRPC_STATUS = {
  OK: 0,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  ABORTED: 10,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

/** Returns the status of an error: its own, or that of its status in HTTP. */
export function statusOf({ code, httpStatus }: QuotameshError): number {
  return OF_CODE[code] ?? OF_HTTP[httpStatus] ?? GRPC_STATUS.INTERNAL;
}

/** Returns message and remedy as `grpc-message`: all but printable ASCII percent-encoded. */
export function statusText({ advice }: QuotameshError): string {
  return advice.slice(0, TEXT_MAX).replace(/[^\x20-\x24\x26-\x7e]/gu, (letter) => {
    return Array.from(Buffer.from(letter), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
  });
}

/** Returns the error itself, or UNEXPECTED for what nobody foresaw. */
export function foreseen(error: unknown): QuotameshError {
  if (error instanceof QuotameshError) return error;
  return new QuotameshError('UNEXPECTED', { reason: messageOf(error) }, { cause: error });
}

const TEXT_MAX = 1000;

const OF_CODE: Readonly<Record<string, number>> = {
  GRPC_METHOD_UNKNOWN: GRPC_STATUS.UNIMPLEMENTED,
  GRPC_COMPRESSED: GRPC_STATUS.UNIMPLEMENTED,
  GRPC_DEADLINE: GRPC_STATUS.DEADLINE_EXCEEDED,
};

const OF_HTTP: Readonly<Record<number, number>> = {
  400: GRPC_STATUS.INVALID_ARGUMENT,
  401: GRPC_STATUS.UNAUTHENTICATED,
  403: GRPC_STATUS.PERMISSION_DENIED,
  404: GRPC_STATUS.NOT_FOUND,
  409: GRPC_STATUS.ABORTED,
  413: GRPC_STATUS.RESOURCE_EXHAUSTED,
  422: GRPC_STATUS.INVALID_ARGUMENT,
  429: GRPC_STATUS.RESOURCE_EXHAUSTED,
  503: GRPC_STATUS.UNAVAILABLE,
};
