import type { ErrorRow } from './error-row.js';

export const HTTP_ERRORS = {
  REQUEST_INVALID: {
    message: '{reason}',
    remedy:
      'Send a whole HTTP/1.1 request within 10 s, with a Host field, small header fields, and a path that is percent-encoded correctly.',
    httpStatus: 400,
  },
  BODY_INVALID: {
    message: '{reason}',
    remedy: 'Send a JSON object as described by GET /openapi.json.',
    httpStatus: 400,
  },
  MEDIA_TYPE_UNSUPPORTED: {
    message: 'content-type {mediaType} is not supported',
    remedy: 'Send content-type: application/json.',
    httpStatus: 415,
  },
  BODY_ENCODED: {
    message: 'content-encoding {encoding} is not supported',
    remedy: 'Send the body as it is, without Content-Encoding.',
    httpStatus: 415,
  },
  BODY_TOO_LARGE: {
    message: 'the body is larger than {limit} bytes',
    remedy: 'An acquire is a small JSON object; the payload itself is not sent here.',
    httpStatus: 413,
  },
  ROUTE_UNKNOWN: {
    message: 'no such route: {method} {path}',
    remedy: 'GET /openapi.json lists the routes.',
    httpStatus: 404,
  },
  METHOD_NOT_ALLOWED: {
    message: '{path} does not take {method}',
    remedy: 'Use a method that the Allow header lists.',
    httpStatus: 405,
  },
  LIVE_FULL: {
    message: 'this node has {max} {what} open already, and takes no more',
    remedy: 'Close a page that nobody looks at, or open the page of another node.',
    httpStatus: 503,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
