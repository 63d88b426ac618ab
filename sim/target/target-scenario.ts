/**
 * Backends that saturate and clients that wear them down, as test/vectors/fdb-gtt.json describes FoundationDB's own
 * unit scenarios (in its vocabulary: a tag is a group, a server a backend in a zone of its own).
 */
export interface EquilibriumCase {
  readonly kind: 'equilibrium';
  readonly id: string;
  readonly generation: 'all' | '7.3' | '7.4';
  readonly servers: {
    readonly count: number;
    readonly capacityPagesPerSec: number;
    readonly exceptions?: readonly ServerChange[];
  };
  readonly worstZonesIgnored: number;
  readonly quotas: readonly TagQuota[];
  readonly clients: readonly Client[];
  readonly phases: readonly Phase[];
}

export interface ServerChange {
  readonly server: number;
  readonly capacityPagesPerSec: number;
}

export interface TagQuota {
  readonly tag: string;
  readonly totalPagesPerSec: number;
  readonly reservedPagesPerSec: number;
}

export interface Client {
  readonly tag: string;
  readonly wantedTps: number;
  readonly pagesPerTx: number;
  readonly op: 'read' | 'write';
  readonly servers: 'all' | readonly number[];
  readonly stopAfterSec?: number;
  readonly tags?: number;
}

export interface Phase {
  readonly change?: {
    readonly quotas?: readonly TagQuota[];
    readonly removeQuotas?: readonly string[];
    readonly servers?: readonly ServerChange[];
  };
  readonly expect: readonly Expectation[];
  readonly baselineSettleSec: number;
}

export interface Expectation {
  readonly metric: 'targetTps' | 'sumOfTargetTps' | 'perClientTps' | 'busyTags';
  readonly tag?: string;
  readonly value: number | null;
  readonly exact?: boolean;
}
