import type { ErrorRow } from './error-row.js';

export const BATCH_ERRORS = {
  BATCH_ABOVE_WINDOW: {
    message: '{dimension} = {amount} is above what a window of group {group} holds here: {holds} in {windowMs} ms',
    remedy: 'Take a part with atMost and the rest in later windows; a longer windowMs holds more.',
    httpStatus: 422,
  },
  COMMIT_ABOVE_MAX_REQUEST: {
    message:
      '{field} = {amount} is more than {max}, the most that can be committed at once for group {group}; the reservation is still open',
    remedy:
      'Commit at most that, and charge the rest in pieces of at most maxRequest: by consume, or by POST /v1/acquire with priority immediate.',
    httpStatus: 422,
  },
  BATCH_UNKNOWN: {
    message: 'this node has granted no batch {id}: nothing is refunded',
    remedy:
      'Send the refund to the node that granted the batch, with the id of its answer; a restarted node knows no earlier ones.',
    httpStatus: 404,
  },
  BATCH_ENDED: {
    message: 'nothing of batch {id} is refunded: {reason}',
    remedy: 'Refund each batch once, and within validMs of the grant; after that it counts as used.',
    httpStatus: 409,
  },
  BATCH_TOO_SMALL: {
    message: '{amount} {dimension} of batch {id} cannot be refunded or dropped: {granted} were granted',
    remedy: 'Refund exactly what was granted less what was used; the batch is still open.',
    httpStatus: 422,
  },
  BATCHES_FULL: {
    message: '{max} batches are open on this node already',
    remedy: 'End each batch by a refund, even of nothing; or raise limits.maxReservations.',
    httpStatus: 503,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
