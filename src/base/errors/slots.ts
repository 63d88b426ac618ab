import type { ErrorRow } from './error-row.js';

export const SLOT_ERRORS = {
  CONCURRENCY_REACHED: {
    message: 'group {group}: {reason}',
    remedy: 'Try again after retryAfterMs, or wait with waitMs.',
    httpStatus: 429,
  },
  SLOT_UNKNOWN: {
    message: 'this node has given no slot {id}',
    remedy:
      'Send the id of the answer to POST /v1/slots; a restarted node knows no earlier ones, which end by themselves.',
    httpStatus: 404,
  },
  SLOT_ELSEWHERE: {
    message: 'the slot was given by node {node}, and this is {self}',
    remedy: 'Renew and release it at the node that gave it, behind a balancer by its own address.',
    httpStatus: 404,
  },
  SLOT_RELEASED: {
    message: 'slot {id} has been released: nothing goes back twice',
    remedy: 'Release each slot once, when its request has ended.',
    httpStatus: 409,
  },
  SLOT_EXPIRED: {
    message: 'the lease of slot {id} is over: others may have it',
    remedy: 'End the request. Renew slots of long requests before leaseMs are over, at half of it.',
    httpStatus: 409,
  },
  SLOT_LOST: {
    message: 'slot {id} of group {group} is lost: this node may have counted as dead, and others may have it',
    remedy: 'End the request and release the slot; the status of the node says why it was cut off from the log.',
    httpStatus: 409,
  },
  LEASE_TOO_LONG: {
    message: 'leaseMs = {leaseMs} is longer than a slot may be held without a sign of life: {max}',
    remedy: 'Ask for at most that, and renew it while the request goes on.',
    httpStatus: 422,
  },
  SLOTS_FULL: {
    message: '{max} slots are open over HTTP on this node already',
    remedy: 'Release each slot when its request ends; or raise limits.maxReservations.',
    httpStatus: 503,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
