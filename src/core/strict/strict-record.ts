import type { StrictQuota } from './strict-quota.js';
import type { StrictState } from './strict-state.js';

/** Names the life of a node that holds tokens. Later lives have greater numbers. */
export interface StrictLife {
  readonly node: string;
  readonly life: number;
}

/** Everything that a holder says of itself; the newest says all. */
export interface StrictClaim extends StrictLife {
  readonly kind: 'claim';
  /** Counts the claims of a life, from 1. */
  readonly seq: number;
  /** Tokens wanted in `perMs` milliseconds. */
  readonly want: number;
  /** Tokens taken from the pool, net, a sum over the life: more than before = an order, less = a return. */
  readonly taken: number;
  /** Most tokens that it holds, with those that it orders. */
  readonly hold: number;
}

/** Ends an own life, and gives back what it holds. */
export interface StrictLeave extends StrictLife {
  readonly kind: 'leave';
  readonly seq: number;
  readonly taken: number;
}

/** Ends a silent life, unless a record after `seq` precedes. */
export interface StrictExpire extends StrictLife {
  readonly kind: 'expire';
  readonly seq: number;
}

export interface StrictQuotaChange {
  readonly kind: 'quota';
  readonly revision: number;
  readonly amount: number;
  readonly depth: number;
}

/** Asks for the bucket: its author reads from here on. */
export interface StrictJoin extends StrictLife {
  readonly kind: 'join';
}

/** The bucket after all records up to the offset `at`. */
export interface StrictAnswer extends StrictLife {
  readonly kind: 'state';
  readonly at: number;
  readonly state: StrictState;
}

/**
 * Begins the bucket anew and empty. It counts if nobody has written since the author joined, at the offset `since`.
 */
export interface StrictFound extends StrictLife {
  readonly kind: 'found';
  readonly since: number;
  readonly quota: StrictQuota;
  readonly revision: number;
}

export type StrictRecord =
  | StrictClaim
  | StrictLeave
  | StrictExpire
  | StrictQuotaChange
  | StrictJoin
  | StrictAnswer
  | StrictFound;

/** A record as the log has it. */
export interface StrictRead {
  readonly offset: number;
  /** By the log's clock. */
  readonly appendMs: number;
  readonly record: StrictRecord;
}

export function lifeKey({ node, life }: StrictLife): string {
  return `${node}/${life}`;
}
