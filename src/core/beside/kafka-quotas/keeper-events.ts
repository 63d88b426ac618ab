import type { Entity, QuotaName } from './entity.js';
import type { KeptRecord } from './keeper-record.js';
import type { BrokerReading } from './next-water-level.js';

export type KeeperEvent =
  /** Another log begins: earlier records do not count. */
  | { readonly kind: 'epoch' }
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'records'; readonly records: readonly KeptRecord[] }
  /** Comes once a second, also while other work takes long. */
  | { readonly kind: 'beat' }
  | KeeperRound
  /** Comes at the time of an effect `wake`. */
  | { readonly kind: 'woken' }
  | { readonly kind: 'altered'; readonly failures: readonly AlterFailure[]; readonly count: number }
  | { readonly kind: 'append-failed' }
  /** Ends the process: quotas stay, and another keeper takes over at once. */
  | { readonly kind: 'stopping' };

export interface KeeperRound {
  readonly kind: 'round';
  readonly limits: readonly LimitSpec[];
  /** Quotas that make Kafka report clients of a kind without quotas. */
  readonly markers: readonly Marker[];
  readonly pages: readonly ExporterPage[];
  /** All quotas in Kafka; null = unreadable. */
  readonly described: readonly DescribedQuota[] | null;
  /** Keys of a pattern's entities that no page shows any more. */
  readonly unseen?: ReadonlySet<string>;
  /** Keys of limits whose group has no such quota. */
  readonly unlimited?: ReadonlySet<string>;
}

/** Quota of an entity that nobody is. */
export type Marker = Pick<LimitSpec, 'entity' | 'name'>;

/** Entity and quota of the configuration. */
export interface LimitSpec {
  readonly entity: Entity;
  readonly name: QuotaName;
  readonly quota: number;
  readonly group: string;
}

export interface ExporterPage {
  readonly exporter: string;
  /** Null = no page, by the reason in `problem`. */
  readonly readings: readonly ExportedReading[] | null;
  readonly problem: string | null;
}

export interface ExportedReading {
  readonly entity: Entity;
  readonly name: QuotaName;
  readonly reading: BrokerReading;
}

export interface DescribedQuota {
  readonly entity: Entity;
  readonly name: QuotaName;
  readonly value: number;
}

export interface AlterFailure {
  readonly entity: Entity;
  readonly reason: string;
}

export interface Alteration {
  readonly entity: Entity;
  readonly name: QuotaName;
  /** Null removes the quota. */
  readonly value: number | null;
}

/** Effects of a keeper: `append` writes to its log, `alter` changes Kafka's quotas. */
export type KeeperEffect =
  | { readonly kind: 'append'; readonly records: readonly KeptRecord[] }
  | { readonly kind: 'alter'; readonly alterations: readonly Alteration[] }
  | { readonly kind: 'wake'; readonly inMs: number }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn';
      readonly message: string;
      readonly facts: Readonly<Record<string, unknown>>;
    };

export function log(level: 'info' | 'warn', message: string, facts: Readonly<Record<string, unknown>>): KeeperEffect {
  return { kind: 'log', level, message, facts };
}
