import type { ErrorRow } from './error-row.js';

export const GRPC_ERRORS = {
  GRPC_METHOD_UNKNOWN: {
    message: 'this listener has no method {method}',
    remedy: 'It serves what its reflection lists (`grpcurl -plaintext HOST:PORT list`); docs/guide/envoy.md.',
    httpStatus: 404,
  },
  GRPC_SERVICE_UNKNOWN: {
    message: 'this listener has no service {service}',
    remedy: 'Ask for the health of the service that you use, or of the whole node: the empty name.',
    httpStatus: 404,
  },
  GRPC_COMPRESSED: {
    message: 'the request is compressed, {how}',
    remedy: 'Send messages as they are: set no compressor for this service.',
    httpStatus: 415,
  },
  GRPC_REQUEST_INVALID: {
    message: 'the request cannot be answered: {reason}',
    remedy: 'Send what the protocol asks for; reflection describes every message.',
    httpStatus: 400,
  },
  GRPC_TOO_LARGE: {
    message: '{what} is larger than {limit}',
    remedy: 'Send smaller requests, or fewer at once.',
    httpStatus: 413,
  },
  GRPC_DEADLINE: {
    message: 'the deadline of the request has passed',
    remedy: 'Give it more time (`timeout` of Envoy’s filter), or look why this node is slow: `quotamesh status`.',
    httpStatus: 408,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
