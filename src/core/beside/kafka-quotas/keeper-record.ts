import type { Entity, QuotaName } from './entity.js';

/** What keepers write into the log that they share. Compacted: the newest record of every key is kept. */
export type KeeperRecord = SignOfLife | Claim | LimitRecord;

/** Under `keeper/<id>`, once a second. */
export interface SignOfLife {
  readonly kind: 'keeper';
  readonly id: string;
  /** Tells the processes apart that had this id. */
  readonly life: string;
  readonly sequence: number;
  /** Names the entities and quotas that the keeper is configured with: keepers must agree. */
  readonly stamp: string;
  /** The last record of this life: it writes no more. */
  readonly isLeaving: boolean;
}

/** Under `writer`: from this record on its author writes. It counts where its term is higher than any before it. */
export interface Claim {
  readonly kind: 'writer';
  readonly term: number;
  readonly id: string;
  readonly life: string;
}

/** Under `limit/<entity>/<quota>`: what its author is about to write. It counts in the term of its author only. */
export interface LimitRecord {
  readonly kind: 'limit';
  readonly term: number;
  readonly id: string;
  readonly life: string;
  readonly entity: Entity;
  readonly name: QuotaName;
  readonly value: number;
  /** Values written before in this term, newest first: by them a late write of ours is told from somebody else's. */
  readonly earlier: readonly number[];
  /** The last ones of former terms: a writer that stood still may have one of them in its hand, however long. */
  readonly formerTerms: readonly number[];
  /** What stood there before quotamesh wrote, and is put back by a release; null = nothing. */
  readonly original: number | null;
}

/** A record as the log has it; null = a tombstone. */
export interface KeptRecord {
  readonly key: string;
  readonly record: KeeperRecord | null;
}

/** Whether the value is one that a keeper has written, as far as the record knows. */
export function isOurs({ value, earlier, formerTerms }: LimitRecord, found: number): boolean {
  return found === value || earlier.includes(found) || formerTerms.includes(found);
}

export const WRITER_KEY = 'writer';

const KEEPER_PREFIX = 'keeper/';
const LIMIT_PREFIX = 'limit/';

export function keeperRecordKey(id: string): string {
  return KEEPER_PREFIX + id;
}

export function limitRecordKey(limitKey: string): string {
  return LIMIT_PREFIX + limitKey;
}

export function keeperOfRecordKey(key: string): string | null {
  return key.startsWith(KEEPER_PREFIX) ? key.slice(KEEPER_PREFIX.length) : null;
}

export function limitOfRecordKey(key: string): string | null {
  return key.startsWith(LIMIT_PREFIX) ? key.slice(LIMIT_PREFIX.length) : null;
}
