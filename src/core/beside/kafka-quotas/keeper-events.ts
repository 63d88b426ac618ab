import type { Entity, QuotaName } from './entity.js';
import type { KeptRecord } from './keeper-record.js';
import type { BrokerReading } from './next-water-level.js';

/** What a keeper is fed. */
export type KeeperEvent =
  /** The log is (another) one: what was read before does not count. */
  | { readonly kind: 'epoch' }
  | { readonly kind: 'caught-up' }
  | { readonly kind: 'records'; readonly records: readonly KeptRecord[] }
  /** Once a second, whatever else takes long: this keeper is alive. */
  | { readonly kind: 'beat' }
  /** Once a second, or as often as they answer: what the exporters and Kafka say. */
  | KeeperRound
  /** The time of an effect `wake` has come. */
  | { readonly kind: 'woken' }
  | { readonly kind: 'altered'; readonly failures: readonly AlterFailure[]; readonly count: number }
  | { readonly kind: 'append-failed' }
  /** The process ends: the quotas stay as they are, and another keeper takes over at once. */
  | { readonly kind: 'stopping' };

export interface KeeperRound {
  readonly kind: 'round';
  readonly limits: readonly LimitSpec[];
  /** What makes Kafka tell of its clients; written where it has no such quota. */
  readonly markers: readonly Marker[];
  readonly pages: readonly ExporterPage[];
  /** All quotas in Kafka; null = Kafka could not be asked. */
  readonly described: readonly DescribedQuota[] | null;
  /** Keys of entities in the log that belong to a pattern, and that no page shows any more. */
  readonly unseen?: ReadonlySet<string>;
  /** Keys of limits whose group is there, and has no such quota (any more). */
  readonly unlimited?: ReadonlySet<string>;
}

/** A quota of an entity that nobody is. */
export type Marker = Pick<LimitSpec, 'entity' | 'name'>;

/** An entity and a quota of it, as the configuration has it. */
export interface LimitSpec {
  readonly entity: Entity;
  readonly name: QuotaName;
  /** What the whole Kafka cluster may have, bytes per second. */
  readonly quota: number;
  /** Entities of one group share its quota. */
  readonly group: string;
}

export interface ExporterPage {
  readonly exporter: string;
  /** Null = there is no page; `problem` says why. */
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
  /** Null = the quota is removed. */
  readonly value: number | null;
}

/** What a keeper wants done. `append` writes to the log of the keepers, `alter` changes quotas in Kafka. */
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
