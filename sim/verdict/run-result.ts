/** What a run leaves behind: the table, `--json` and the page are made of nothing else. Units per second throughout. */
export interface RunResult {
  readonly scenario: string;
  readonly seed: number;
  /** `quotamesh max-min`, `pulsar`, … */
  readonly system: string;
  readonly durationMs: number;
  /** Distance of the samples in `series`. */
  readonly sampleMs: number;
  readonly nodes: readonly string[];
  readonly series: readonly DimensionSeries[];
  /** What happened in the world, in order: `3.0 s crash of b`. */
  readonly happenings: readonly { readonly atMs: number; readonly says: string }[];
  readonly verdict: Verdict;
  /** What the scenario expects of this system, and whether that held. */
  readonly expectations: readonly ExpectationResult[];
}

export interface ExpectationResult {
  /** A key of the verdict. */
  readonly metric: string;
  readonly atLeast: number | null;
  readonly atMost: number | null;
  /** The worst of several numbers; null = unknown, or never settled, and then the bound is not kept. */
  readonly value: number | null;
  readonly isKept: boolean;
}

/** Columns of equal length; sample k covers [k · sampleMs, (k + 1) · sampleMs). */
export interface DimensionSeries {
  readonly dimension: 'messages' | 'bytes';
  /** The quota in force; null = unlimited (JSON has no Infinity). */
  readonly quota: readonly (number | null)[];
  /** node → columns. Demand = first attempts; refused = attempts refused, retries included. */
  readonly perNode: Readonly<Record<string, NodeSeries>>;
  /** The bucket that all nodes have in common; absent where they have none. */
  readonly bucket?: BucketSeries;
}

/** At the end of each sample, as one node sees it, in units; null = that is not known then. */
export interface BucketSeries {
  /** Negative = a debt. */
  readonly tokens: readonly (number | null)[];
  readonly depth: readonly (number | null)[];
  readonly setPoint: readonly (number | null)[];
  /** Units per second. */
  readonly correction: readonly (number | null)[];
  /** node → what it took beyond what was expected of it, since its entry in the log began. */
  readonly charged: Readonly<Record<string, readonly (number | null)[]>>;
}

export interface NodeSeries {
  readonly demand: readonly number[];
  readonly admitted: readonly number[];
  readonly refused: readonly number[];
  /** The limiter's rate at the end of the sample; null = unlimited. */
  readonly limit: readonly (number | null)[];
}

/**
 * What a run is measured by (docs/background/max-min-fairness.md); the worst of several dimensions. Ratios: 1 = 100 %.
 */
export interface Verdict {
  /** Σ admitted ÷ Σ quota over the steady parts, minus 1; only where demand covers the quota, else null. */
  readonly steadyError: number | null;
  /** max over 5 s spans (every 10 ms) of admitted ÷ granted by the quota, minus 1; ≥ 0. */
  readonly overAdmission: number;
  /** Most that any sliding second (every 10 ms) admitted ÷ what the quota granted in that second. */
  readonly worstSecond: number;
  /** Seconds (of sliding seconds, every 100 ms) above 1.01 quotas. */
  readonly secondsOver: number;
  /** Tokens over the reference bucket (quota, 100 ms burst). */
  readonly overshootTokens: number;
  /** Admitted ÷ ∫ min(quota, Σ demand), demand being the rates that the scenario says of nodes that can serve. */
  readonly utilisation: number;
  /** First attempts refused ÷ asked, of nodes that ask for less than 95 % of the water level; 0 when there are none. */
  readonly refusedBelowFair: number;
  /**
   * Per step of demand, quota or membership: ms until Σ |min(limit, demand) − fair| ÷ quota stays within 5 % for 5 s
   * or until the next step or fault; null = not before that.
   */
  readonly convergenceMs: readonly (number | null)[];
  /** Jain's index of admitted ÷ max-min in the worst steady part of 2 s or more; null where there is none. */
  readonly jain: number | null;
  /** Σ over nodes |admitted in a second − in the second before| ÷ quota, mean over the steady parts. */
  readonly oscillation: number;
  readonly records: number;
  readonly bytes: number;
}
