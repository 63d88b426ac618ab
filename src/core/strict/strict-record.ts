import type { BudgetPeriod, BudgetState } from './budget-account.js';
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
  /** Milliseconds by which it knows log time: older tokens of its stream are forfeited. */
  readonly lagMs: number;
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
  /** Names this writing, where several nodes may write the first one. */
  readonly by?: string | undefined;
}

/** A record that says the same whoever writes it, and however often. */
interface StrictSaid {
  /** Names this writing: a later one does not take its place. */
  readonly by: string;
}

/** Begins a period of a budget; it counts when the one before is over, by append time. */
export interface StrictPeriod extends BudgetPeriod, StrictSaid {
  readonly kind: 'period';
  /** Tokens that the period before may leave to it, at most. */
  readonly carryMost: number;
}

/** Gives tokens to a period of a budget, once for each id. */
export interface StrictCredit extends StrictSaid {
  readonly kind: 'credit';
  readonly id: string;
  /** End of the period that it is for. */
  readonly untilMs: number | null;
  /** Null = all that is gone and not held. */
  readonly tokens: number | null;
  /** Giver, for people. */
  readonly giver: string;
}

/** Says in a new log what a budget was in the former. */
export interface StrictKnew extends StrictLife {
  readonly kind: 'knew';
  readonly budget: BudgetState;
}

/** Asks for the bucket: what its author has read once this is read back is all that the log had. */
export interface StrictJoin extends StrictLife {
  readonly kind: 'join';
}

/** The bucket after all records up to the offset `at`. */
export interface StrictCheckpoint extends StrictLife {
  readonly kind: 'state';
  readonly at: number;
  readonly state: StrictState;
}

/** Begins the bucket anew, as given. It counts if nobody has written after the offset `since`. */
export interface StrictFound extends StrictLife {
  readonly kind: 'found';
  readonly since: number;
  readonly state: StrictState;
}

/** Ends a keyed lane of which nothing needs to be known. It counts if nobody has written after `at`. */
export interface StrictEnd extends StrictSaid {
  readonly kind: 'end';
  readonly at: number;
}

/** Removes an older record from the log, under its key: a checkpoint says what it said. */
export interface StrictDeletion {
  readonly kind: 'delete';
  readonly key: string;
}

export type StrictRecord =
  | StrictClaim
  | StrictLeave
  | StrictExpire
  | StrictQuotaChange
  | StrictPeriod
  | StrictCredit
  | StrictKnew
  | StrictJoin
  | StrictCheckpoint
  | StrictFound
  | StrictEnd;

/** Everything that a node writes: records, and the ends of records. */
export type StrictWritten = StrictRecord | StrictDeletion;

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

/**
 * Names a record in the compacted log. Nothing that counts is overwritten by anything else: a checkpoint and deletions
 * make room.
 */
export function recordKey(written: StrictWritten): string {
  if (written.kind === 'delete') return written.key;
  if (written.kind === 'quota') return `quota/${written.by ?? written.revision}`;
  if ('by' in written) return `${written.kind}/${written.by}`;
  if (written.kind === 'state') return `state/${written.at}`;
  const own = `${written.kind}/${lifeKey(written)}`;
  if (written.kind === 'join' || written.kind === 'knew') return own;
  return `${own}/${written.kind === 'found' ? written.since : written.seq}`;
}
