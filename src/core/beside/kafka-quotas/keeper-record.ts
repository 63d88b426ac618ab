import type { Entity, QuotaName } from './entity.js';

/** Records of the keepers' shared, compacted log. */
export type KeeperRecord = SignOfLife | Claim | LimitRecord;

/** Sign of life, under `keeper/<id>`, once a second. */
export interface SignOfLife {
  readonly kind: 'keeper';
  readonly id: string;
  /** Tells apart the processes of this id. */
  readonly life: string;
  readonly sequence: number;
  /** Hash of the configured entities and quotas, on which keepers must agree. */
  readonly stamp: string;
  /** True = the last record of this life. */
  readonly isLeaving: boolean;
}

/** Claim under `writer`: its author writes from here on, if its term is the highest so far. */
export interface Claim {
  readonly kind: 'writer';
  readonly term: number;
  readonly id: string;
  readonly life: string;
}

/** Value that its author is about to write, under `limit/<entity>/<quota>`; counts in its term alone. */
export interface LimitRecord {
  readonly kind: 'limit';
  readonly term: number;
  readonly id: string;
  readonly life: string;
  readonly entity: Entity;
  readonly name: QuotaName;
  readonly value: number;
  /** Values written earlier in this term, newest first, to recognise late writes. */
  readonly earlier: readonly number[];
  /** Last values of former terms, which a stalled writer may still send. */
  readonly formerTerms: readonly number[];
  /** Value before quotamesh, put back by a release; null = none. */
  readonly original: number | null;
}

/** Record as the log has it; null = a tombstone. */
export interface KeptRecord {
  readonly key: string;
  readonly record: KeeperRecord | null;
}

/** Tests if a keeper wrote the value, by the record. */
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
