import { readVectors } from '../../../vectors/read-vectors.js';

/** test/vectors/fdb-gtt.json as its header describes it. */
export interface GttFile {
  readonly cases: readonly GttCase[];
}

export type GttCase =
  | EquilibriumCase
  | LifecycleCase
  | ProxyLimiterCase
  | ProxyOrderCase
  | ProxyTableCase
  | ReleaseWindowCase
  | TopTagsCase
  | LatencyTableCase
  | EndToEndCase;

/** A tag is a group, a server a backend in a zone of its own. */
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

export interface LifecycleCase {
  readonly kind: 'lifecycle';
  readonly id: string;
  readonly clients: readonly [Client];
  readonly steps: readonly {
    readonly op?: 'removeExpired';
    readonly atSec: number;
    readonly expectTagsTracked: number;
  }[];
}

export interface ProxyLimiterCase {
  readonly kind: 'proxyLimiter';
  readonly id: string;
  readonly ratesTps: Readonly<Record<string, number>>;
  readonly clients: readonly {
    readonly tag: string;
    readonly count: number;
    readonly batch: number;
    readonly wantedTps: number;
  }[];
  /** Without clients, before; 0 where absent. */
  readonly idleBeforeSec?: number;
  readonly durationSec: number;
  readonly expectReleased: Readonly<Record<string, number>>;
  readonly tolerance: number;
}

export interface TopTagsCase {
  readonly kind: 'topTags';
  readonly id: string;
  readonly maxTags: number;
  readonly floorPagesPerSec: number;
  readonly intervalSec: number;
  readonly requests: readonly { readonly tag: string; readonly pages: number }[];
  readonly expectTags: readonly string[];
}

export interface LatencyTableCase {
  readonly kind: 'latencyTable';
  readonly id: string;
  readonly maxTags: number;
  readonly measure?: readonly string[];
  readonly measureOnce?: readonly string[];
  readonly keepMeasuringEverySec?: { readonly tags: readonly string[]; readonly sec: number };
  readonly durationSec?: number;
  readonly expectSize: number;
}

export interface ReleaseWindowCase {
  readonly kind: 'releaseWindow';
  readonly id: string;
}

export interface ProxyOrderCase {
  readonly kind: 'proxyOrder';
  readonly id: string;
  readonly ratesTps: Readonly<Record<string, number>>;
  readonly requests: { readonly total: number; readonly tags: Readonly<Record<string, number>> };
}

export type ProxyTableCase = { readonly kind: 'proxyTable'; readonly id: string } & (
  | { readonly repeat: number; readonly each: string; readonly expectSizeAfterEach: number }
  | { readonly steps: readonly ProxyTableStep[] }
);

type ProxyTableStep =
  | { readonly op: 'addRequest'; readonly tag: string; readonly expectSize: number }
  | { readonly op: 'setRates'; readonly rates: Readonly<Record<string, number>>; readonly expectSize: number }
  | { readonly op: 'release'; readonly elapsedSec: number };

export type EndToEndCase = {
  readonly kind: 'endToEnd';
  readonly quotaPagesPerSec: number;
  readonly measureSec: number;
} & (
  | {
      readonly id: 'run/ExpectStableThroughput';
      readonly actors: number;
      readonly wantedTpsPerActor: number;
      readonly readsPerTx: number;
      readonly pagesPerRead: number;
      readonly warmUpSec: number;
      readonly tolerance: number;
      readonly expectPagesPerSec: number;
    }
  | { readonly id: 'run/ThroughputQuota'; readonly otherLoadTps: number }
);

export const GTT_CASES: readonly GttCase[] = readVectors<GttFile>('fdb-gtt.json').cases;

export function casesOf<Kind extends GttCase['kind']>(
  kind: Kind,
): readonly Extract<GttCase, { readonly kind: Kind }>[] {
  return GTT_CASES.filter((one): one is Extract<GttCase, { readonly kind: Kind }> => one.kind === kind);
}
