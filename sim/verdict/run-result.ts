export interface RunResult {
  readonly scenario: string;
  readonly seed: number;
  readonly system: string;
  readonly durationMs: number;
  readonly sampleMs: number;
  readonly nodes: readonly string[];
  readonly series: readonly DimensionSeries[];
  /** Events in order: `3.0 s crash of b`. */
  readonly happenings: readonly { readonly atMs: number; readonly says: string }[];
  readonly verdict: Verdict;
  /** Expectations of the scenario, and outcomes. */
  readonly expectations: readonly ExpectationResult[];
}

export interface ExpectationResult {
  readonly metric: string;
  readonly atLeast: number | null;
  readonly atMost: number | null;
  /** Figure, of several the worst; null = unknown or never settled: the bound is broken. */
  readonly value: number | null;
  readonly isKept: boolean;
}

export interface DimensionSeries {
  readonly dimension: 'messages' | 'bytes';
  /** Quota in force; null = unlimited (JSON has no Infinity). */
  readonly quota: readonly (number | null)[];
  /** Node → columns. Demand = first attempts; refused = with retries. */
  readonly perNode: Readonly<Record<string, NodeSeries>>;
  /** Common bucket of the cluster; absent = none. */
  readonly bucket?: BucketSeries;
}

/** Units in the bucket as each sample ends; null = unknown. One node is asked. */
export interface BucketSeries {
  readonly tokens: readonly (number | null)[];
  readonly depth: readonly (number | null)[];
  readonly setPoint: readonly (number | null)[];
  readonly correction: readonly (number | null)[];
  /** Node → what it took beyond expectation since its entry began. */
  readonly charged: Readonly<Record<string, readonly (number | null)[]>>;
}

export interface NodeSeries {
  readonly demand: readonly number[];
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
  readonly limit: readonly (number | null)[];
}

/** Figures of a run (docs/background/max-min-fairness.md), of its worst dimension; 1 = 100 %. */
export interface Verdict {
  /** Σ admitted ÷ Σ quota − 1 over steady parts; null = demand below the quota. */
  readonly steadyError: number | null;
  /** Most of admitted ÷ granted in 5 s, minus 1; at least 0. Spans begin every 10 ms. */
  readonly overAdmission: number;
  /** Most of admitted ÷ granted in a sliding second, every 10 ms. */
  readonly worstSecond: number;
  /** Sliding seconds (every 100 ms) above 1.01 quotas. */
  readonly secondsOver: number;
  /** Tokens beyond a bucket of the quota, 100 ms deep. */
  readonly overshootTokens: number;
  /** Admitted ÷ ∫ min(quota, Σ demand): by the scenario's rates of serving nodes. */
  readonly utilisation: number;
  /** Refused ÷ first attempts of nodes below 95 % of the level. 0 = none. */
  readonly refusedBelowFair: number;
  /**
   * Milliseconds per step until shares fit for 5 s; null = not before. Fit: Σ |min(limit, demand) − fair| ÷ quota
   * within 5 %. Also to the next step or fault.
   */
  readonly convergenceMs: readonly (number | null)[];
  /** Jain's index of admitted ÷ max-min; null = none. In the worst steady part of 2 s or more. */
  readonly jain: number | null;
  /** Σ over nodes |admitted − that of the second before| ÷ quota: mean over steady parts. */
  readonly oscillation: number;
  readonly records: number;
  readonly bytes: number;
}
