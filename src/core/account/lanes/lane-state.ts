import { type CoordinatorSettings, type GroupSettings, windowMsOf } from '../../base/settings.js';
import { type GroupId, type LaneUnits, noUnits } from '../../base/vocabulary.js';
import { createLaneRates, type LaneRates } from '../../report/sample/estimate.js';
import { LaneSample } from '../../report/sample/lane-sample.js';
import { createSettling, type Settling } from '../../report/sample/settling.js';
import { type CostReport, createCostReport } from '../../target/cost-report.js';
import { createRampTurn, type RampTurn } from '../../target/ramp/ramp-turn.js';
import type { Binding } from '../../target/target-rate.js';
import type { LaneTokens } from '../lane-tokens.js';
import { OwnEntry } from '../own-entry.js';
import type { Link } from './isolation.js';
import { LeastShare } from './least-share.js';

/** A served lane: its samples, its newest report and its limits. */
export interface LaneState {
  readonly lane: number;
  readonly group: number;
  settings: GroupSettings;
  readonly direction: number;
  readonly groupId: GroupId;
  readonly partition: number;
  /** The usage map's own number of the lane. */
  readonly mapLane: number;
  /** Index among the served lanes, constant for the lane; another lane has it later. */
  readonly seat: number;
  /** Replaced where the group gets windows of another length. */
  sample: LaneSample;
  readonly reported: LaneRates;
  /** Units per second and dimension: the applied share in the newest own record. */
  readonly reportedShare: LaneUnits;
  /** Local monotonic time of the last comparison with the log's rates. */
  ratesComparedMs: number;
  /** True while the published rates rest on less than a slow span. */
  isCoarse: boolean;
  /** Topics in use by the newest own record. */
  reportedTopics: number;
  /** True while the share of some node moves with log time alone. */
  isMoving: boolean;
  /** True while this node's own share moves so. */
  isOwnMoving: boolean;
  /** The least share applied lately: the lane may hold it without the topic. */
  readonly least: LeastShare;
  /** Link at the last computation of its limits. */
  link: Link;
  /** Shared with its tokens, which outlive it. */
  entry: OwnEntry;
  /** Local monotonic time of the last arrival, ms. */
  touchedMs: number;
  /** The limiter's count of refusals at the last sample. */
  refusals: number;
  readonly settling: Settling;
  readonly costs: CostReport;
  /** Cause of the target at the last computation; below, true if backends reduce it. */
  binding: Binding;
  isBusy: boolean;
  readonly rampTurn: RampTurn;
  /** Null where the cluster has no bucket for the group. */
  tokens: LaneTokens | null;
  /** True while the limiter follows the tokens, and not the share. */
  isLimitedByTokens: boolean;
  /** Units per dimension admitted until the last look at the tokens. */
  readonly taken: LaneUnits;
  /** Present rates where tokens are shared. `reported` are those of the newest own record. */
  readonly current: LaneRates;
}

type LaneIdentity = Pick<
  LaneState,
  'lane' | 'group' | 'settings' | 'direction' | 'groupId' | 'partition' | 'mapLane' | 'seat'
>;

/** The identity comes last: with a spread in front every lane has a hidden class of its own, which is slow to read. */
export function createLaneState(identity: LaneIdentity, timing: SampleTiming, nowMs: number): LaneState {
  return {
    sample: createSample(identity.settings, timing),
    reported: createLaneRates(),
    reportedShare: noUnits(),
    ratesComparedMs: -Infinity,
    isCoarse: false,
    reportedTopics: 0,
    isMoving: false,
    isOwnMoving: false,
    least: new LeastShare(),
    link: 'linked',
    entry: new OwnEntry(),
    touchedMs: nowMs,
    refusals: 0,
    settling: createSettling(),
    costs: createCostReport(),
    binding: 'unlimited',
    isBusy: false,
    rampTurn: createRampTurn(),
    tokens: null,
    isLimitedByTokens: false,
    taken: noUnits(),
    current: createLaneRates(),
    ...identity,
  };
}

type SampleTiming = Pick<CoordinatorSettings, 'fastSpanMs' | 'slowSpanMs' | 'sampleIntervalMs'>;

/**
 * Makes a lane's sample, with no span shorter than a window. A window hands out its tokens at once, so shorter spans
 * measure several times the share and then nothing, and the shares of all nodes would swing with them. Only the slow
 * span bounds them: the marks of an hour would take 10 MB, and a change would be noticed an hour later.
 * Worked: three nodes with 20/s each take 20 at the beginning of every window of 1 s. In spans of 50 ms that is 400/s
 * and then 0.
 */
export function createSample(settings: GroupSettings, timing: SampleTiming): LaneSample {
  return new LaneSample(shortestSpanMs(settings, timing), timing.slowSpanMs, timing.sampleIntervalMs);
}

export function shortestSpanMs(settings: GroupSettings, { fastSpanMs, slowSpanMs }: SampleTiming): number {
  return Math.min(slowSpanMs, Math.max(fastSpanMs, windowMsOf(settings)));
}
