import type { Entity, QuotaName } from './entity.js';

/** Records of the keepers' shared, compacted log. */
export type KeeperRecord = SignOfLife | Claim | LimitRecord;

/** Sign of life, once a second. Key: `keeper/<id>`. */
export interface SignOfLife {
  readonly kind: 'keeper';
  readonly id: string;
  /** Id of the process, among those with this id. */
  readonly life: string;
  readonly sequence: number;
  /** Hash of the configured entities and quotas, on which keepers must agree. */
  readonly stamp: string;
  /** True = the last record of this life. */
  readonly isLeaving: boolean;
}

/** Makes its author the writer, if its term is the highest. Key: `writer`. */
export interface Claim {
  readonly kind: 'writer';
  readonly term: number;
  readonly id: string;
  readonly life: string;
}

/** Value that its author is about to write; counts in its term alone. Key: `limit/<entity>/<quota>`. */
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
  /** Value before quotamesh, which a release puts back; null = none. */
  readonly original: number | null;
}

/** Record as in the log; null = a tombstone. */
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
