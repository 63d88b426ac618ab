import type { ErrorRow } from './error-row.js';

/** A part of the catalogue (errors.ts): batches of tokens and what is handed back of them; what is committed. */
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
    message: 'no batch {id} was granted by this node: nothing is handed back',
    remedy: 'Hand back at the node that granted it, with the id of its answer; a restarted node knows none.',
    httpStatus: 404,
  },
  BATCH_ENDED: {
    message: 'nothing is handed back of batch {id}: {reason}',
    remedy: 'Hand back once, and within validMs of the grant; what is late has been counted as used.',
    httpStatus: 409,
  },
  BATCH_TOO_SMALL: {
    message: '{amount} {dimension} cannot be handed back or dropped of batch {id}: {granted} were granted',
    remedy: 'Hand back exactly what was granted less what was used; the batch is still open.',
    httpStatus: 422,
  },
  BATCHES_FULL: {
    message: '{max} batches are open on this node already',
    remedy: 'End each by handing back what is left, if only nothing; or raise limits.maxReservations.',
    httpStatus: 503,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
