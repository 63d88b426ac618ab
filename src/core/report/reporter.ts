import type { LaneTokens } from '../account/lane-tokens.js';
import { type LaneState, shortestSpanMs } from '../account/lanes/lane-state.js';
import type { ShareBook } from '../account/share/share-book.js';
import type { TokenBook } from '../account/share/token-book.js';
import { CLAIM_FACTOR, LEAST_CLAIM } from '../base/claims.js';
import type { ReportRow } from '../base/protocol/record.js';
import { type CoordinatorSettings, windowMsOf } from '../base/settings.js';
import {
  BYTES,
  copyUnits,
  DIMENSION_COUNT,
  DIRECTION_COUNT,
  type LaneUnits,
  laneOf,
  MESSAGES,
  noUnits,
  slotOf,
} from '../base/vocabulary.js';
import type { Limiter } from '../limiter/limiter.js';
import type { CostMeter } from '../target/cost-meter.js';
import { costsWritten, lookAtCosts } from '../target/cost-report.js';
import { MOVING_BEAT_MS } from './heartbeat.js';
import { LookList } from './look-list.js';
import { areRatesOver, areRatesWrong, steadyRates } from './rates-in-log.js';
import type { Bundle, ReportBook } from './report-book.js';
import type { ReportReason } from './report-reason.js';
import { currentRates } from './sample/current-rates.js';
import { createLaneRates, estimate, type LaneRates, usageIn } from './sample/estimate.js';
import { FAST, type LaneSample, LONG, MEDIUM, SLOW } from './sample/lane-sample.js';
import { beginSettling, isUnsettled, isUsageOutdated, type LookRule } from './sample/settling.js';
import { type ChangeRule, noticedIn } from './sample/significant-change.js';

/**
 * The slow span covers up to twice its length. A change that it has not shown by then is diluted further in the long
 * one.
 */
const SILENT_AFTER_SLOW_SPANS = 4;
/** At 3.5, a quiet node that wants more is refused 50 % more before its report goes out. */
const RELAXED_NOISE_FACTOR = 2.8;

/**
 * Changes of the own share above these parts of the share, and of the target, are reported if the strategy remembers.
 */
const LARGE_SHARE_STEP_RATIO = 0.05;
const SMALL_SHARE_STEP_RATIO = 0.01;
const SHARE_STEP_TARGET_RATIO = 0.0001;
/**
 * The same where tokens are shared, where a late step costs nobody tokens: with half of these ratios thirty nodes whose
 * demand moves wrote 0.55 reports per second each, and not 0.46, and were no more exact.
 */
const LARGE_TOKEN_STEP_RATIO = 0.1;
const SMALL_TOKEN_STEP_RATIO = 0.02;
/** Time for a beat (after MOVING_BEAT_MS) and its way back; less than one step counts (250 ms). */
const MOVING_REPORT_MS = MOVING_BEAT_MS + 15;

/**
 * From samples to reports: which lanes changed so much that the others must know, and what a bundle's record says.
 * It decides; the coordinator publishes.
 */
export class Reporter {
  readonly #settings: CoordinatorSettings;
  readonly #limiter: Limiter;
  readonly #shares: ShareBook;
  readonly #book: ReportBook;
  readonly #costs: CostMeter;
  readonly #tokens: TokenBook;
  readonly #looks: LookList;

  constructor(settings: CoordinatorSettings, { limiter, shares, book, costs, tokens }: ReporterParts) {
    this.#settings = settings;
    this.#limiter = limiter;
    this.#shares = shares;
    this.#book = book;
    this.#costs = costs;
    this.#tokens = tokens;
    this.#looks = new LookList(limiter, settings.slowSpanMs, settings.sampleIntervalMs);
  }

  serve(lane: LaneState): void {
    this.#looks.add(lane);
  }

  end(lane: LaneState): void {
    this.#looks.remove(lane);
  }

  /**
   * Samples the served lanes that a round looks at, and marks the bundles that have to be published. `flow` is called
   * before for those that share tokens.
   */
  sampleAll(nowMs: number, flow: (lane: LaneState, nowMs: number) => void): void {
    const looks = this.#looks;
    looks.begin(nowMs);
    for (let at = 0; at < looks.count; at++) {
      const seat = looks.seats[at];
      const lane = looks.at(seat);
      if (this.#isTouched(lane)) lane.touchedMs = nowMs;
      if (!looks.isSampled(seat, lane.touchedMs, nowMs)) continue;
      if (lane.tokens !== null) flow(lane, nowMs);
      const hasMore = !this.#sample(lane, nowMs);
      const isPressing = hasMore && lane.tokens?.isReportDue === true;
      if (hasMore || lane.tokens?.isReturnNear === true) looks.putOff(seat, isPressing);
    }
  }

  /** Returns whether the lane could say what it has to say. */
  #sample(lane: LaneState, nowMs: number): boolean {
    lane.sample.take(this.#limiter, lane.lane, nowMs);
    lane.tokens?.clumps.take(lane.sample);
    const refusals = this.#limiter.refusals.at(lane.lane);
    // A node that holds work back elsewhere asks for no more than it was told, and is never refused here.
    const refusedNow = refusals > lane.refusals || this.#limiter.heldBackElsewhere.has(lane.lane);
    lane.refusals = refusals;
    if (lookAtCosts(lane, this.#costs, nowMs)) this.#entryChanged(lane, 'cost', DUE, nowMs);
    // Nothing is reported and no span has anything to report: the spans only roll on.
    if (!lane.entry.isOpen && (this.#isSilent(lane, nowMs) || lane.sample.isQuiet)) return true;
    this.#claim(lane);
    const bundle = this.#book.bundleOf(lane.group, lane.groupId);
    if (nowMs - bundle.publishedMs < this.#settings.reportGapMs) return false;
    this.#consider(lane, bundle, refusedNow, nowMs);
    return true;
  }

  /**
   * Claims for the lane while its work is held back. Where enforcers do, it claims what they want, which doubles with
   * every report of theirs: a node that claimed its due for one that was short of some units took half of the quota
   * from the others, once a second.
   */
  #claim(lane: LaneState): void {
    const { claim } = lane.sample;
    const wanted = this.#limiter.wantedElsewhere.get(lane.lane);
    if (wanted === undefined) {
      this.#shares.claimInto(claim, lane);
      return;
    }
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const least = LEAST_CLAIM * this.#shares.dueOf(lane, dimension);
      claim[dimension] = Math.max(least, wanted[dimension] / CLAIM_FACTOR);
    }
  }

  /** The lanes that need not be served any more; each is named once. */
  idle(nowMs: number): readonly LaneState[] {
    return this.#looks.idle(nowMs);
  }

  topicsOf(lane: number): number {
    return this.#limiter.topics.of(lane);
  }

  /** Makes the content of a bundle's record: a row of each lane that has an entry. */
  contentOf(bundle: Bundle, lanes: ReadonlyMap<number, LaneState>, nowMs: number): BundleContent {
    const rows: ReportRow[] = [];
    let fullInMs = 0;
    for (const group of bundle.groups) {
      for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
        const state = lanes.get(laneOf(group, direction));
        if (state === undefined) continue;
        this.#refreshRates(state);
        if (!state.entry.isOpen) continue;
        const row = this.#rowOf(state);
        const checkpoint = this.#tokens.checkpointOf(state, nowMs);
        rows.push({ ...row, ...checkpoint.columns });
        fullInMs = Math.max(fullInMs, checkpoint.fullInMs);
      }
    }
    return { rows, fullInMs: Math.ceil(Math.min(fullInMs, FULL_IN_MAX_MS)) };
  }

  /** Compares the rates in the log with the present ones, every RATES_MS. */
  #areRatesWrong(lane: LaneState, nowMs: number): boolean {
    if (nowMs - lane.ratesComparedMs < RATES_MS) return false;
    lane.ratesComparedMs = nowMs;
    const { significantChangeRatio, noiseFactor } = this.#settings;
    // Work that comes together is one chance.
    const clumped = Math.sqrt(Math.max(lane.tokens!.clumps.piecesOf(MESSAGES), lane.tokens!.clumps.piecesOf(BYTES)));
    return areRatesWrong(lane, this.topicsOf(lane.lane), {
      significantChangeRatio,
      noiseFactor: clumped * noiseFactor,
    });
  }

  /** Tells the rates of a lane far below its quota, with those of the other lanes of its record. */
  #publishWithin(lane: LaneState): void {
    if (lane.entry.life === 'ending') return;
    if (!lane.entry.isOpen) lane.entry.life = 'awaited';
    const { publishedMs } = this.#book.bundleOf(lane.group, lane.groupId);
    const isFirst = publishedMs === -Infinity;
    const atMs = isFirst ? lane.ratesComparedMs + FIRST_RATES_MS : publishedMs + FAR_RATES_MS;
    this.#book.forceBy(lane.group, lane.groupId, 'rates-far-below', atMs);
  }

  /** Tells the present rates of a lane far below its quota whenever its record is written. */
  #refreshRates(lane: LaneState): void {
    const { sample, current, reported, tokens, entry } = lane;
    const isAwaited = entry.life === 'awaited';
    if (isAwaited) entry.life = 'none';
    if (tokens === null || !(isAwaited || entry.life === 'written')) return;
    if (tokens.isNearQuota(reported) || !sample.isFull(SLOW)) return;
    if (currentRates(sample, current, tokens) < SLOW) return;
    steadyRates(sample, reported);
    if (!isZero(lane)) entry.life = 'written';
  }

  /**
   * Ends the entries of a node that stops, but for lanes with charges that no record tells, or with buckets that nobody
   * else alive would remember.
   */
  endAll(lanes: Iterable<LaneState>, nowMs: number): void {
    for (const lane of lanes) {
      const stays = lane.tokens?.hasUnread === true || this.#tokens.hasToRemember(lane, nowMs);
      if (!stays && !lane.entry.isOpen) continue;
      if (lane.entry.life !== 'ending') lane.entry.life = stays ? 'due' : 'ending';
      for (const rates of [lane.reported.usage, lane.reported.demand]) rates.fill(0);
      this.#book.changed(lane.group, lane.groupId, 'stop');
    }
  }

  #isSilent({ touchedMs }: LaneState, nowMs: number): boolean {
    return nowMs - touchedMs > SILENT_AFTER_SLOW_SPANS * this.#settings.slowSpanMs;
  }

  #consider(lane: LaneState, bundle: Bundle, refusedNow: boolean, nowMs: number): void {
    if (lane.entry.life === 'ending') return;
    if (lane.tokens !== null && isResting(lane)) {
      // Units that come back while nothing is asked for are told, too.
      const { isReportDue, hasUnread } = lane.tokens;
      const isOver = !(hasUnread || this.#tokens.hasToRemember(lane, nowMs));
      if (isReportDue || isOver) this.#entryChanged(lane, isReportDue ? 'charge' : 'over', DUE, nowMs);
      return;
    }
    if (lane.tokens !== null) {
      const heldBackMs = this.#limiter.enforced.get(lane.lane) ?? Infinity;
      const isCalm = nowMs - heldBackMs >= CALM_MS;
      this.#considerTokens(lane, lane.tokens, { refusedNow, nowMs, silentMs: nowMs - bundle.publishedMs, isCalm });
      return;
    }
    const { sample, settling, reported } = lane;
    const span = isKnown(lane) ? this.#changedSpan(lane, refusedNow) : -1;
    let reason: ReportReason = 'change';
    copyUnits(reported.demand, before.demand);
    copyUnits(reported.usage, before.usage);
    if (span !== -1) {
      estimate(sample, span, reported);
      beginSettling(settling, nowMs, sample.lengthMs(span));
      sample.cut();
    } else if (lane.entry.isOpen && isUnsettled(settling, sample, reported, this.#lookRuleOf(lane))) {
      estimate(sample, LONG, reported);
    } else if (lane.entry.isOpen && isUsageOutdated(settling, sample, reported, this.#lookRuleOf(lane))) {
      copyUnits(usageIn(sample, SLOW), reported.usage);
    } else if (lane.entry.isOpen && this.#isShareOutdated(lane, nowMs - bundle.publishedMs)) {
      reason = 'step';
    } else {
      return;
    }
    this.#entryChanged(lane, reason, DUE + changeOf(before, reported) / SIGNIFICANT_RATIO, nowMs);
  }

  /**
   * Reports a lane when the cluster's bucket would be another one, when work is refused that the report did not
   * announce, or when its rates in the log are wrong (rates-in-log.ts).
   */
  #considerTokens(lane: LaneState, tokens: LaneTokens, since: SinceReport): void {
    const { refusedNow, nowMs, isCalm } = since;
    const { sample, current, reported } = lane;
    const isNearQuota = refusedNow || tokens.isNearQuota(reported);
    const byUsage = this.#shares.strategyOf(lane.group).reads === 'usage';
    const due = this.#dueBy(lane, tokens, since, isNearQuota);
    const isWrong = due === null && this.#areRatesWrong(lane, nowMs);
    if (isWrong && !isNearQuota) {
      this.#publishWithin(lane);
      return;
    }
    // Estimating the rates is a fifth of a look, and most looks end here.
    const hasClaimed = lane.entry.isOpen && isCalm;
    if (due === null && !isWrong && !refusedNow && !hasClaimed && !(lane.entry.isOpen && tokens.isDueByRates)) return;
    // One piece of work in a short span says nothing of how many a node wants.
    if (due === 'over' || (tokens.isInPieces && !byUsage)) estimate(sample, SLOW, current);
    else currentRates(sample, current, tokens);
    if (tokens.isInPieces) spreadOverASecond(current, sample);
    const reason = due ?? (isWrong ? 'rates-near-quota' : dueByRates(lane, tokens, refusedNow, hasClaimed));
    if (reason === null) return;
    if (!isWrong) keepToTaken(lane, tokens);
    copyUnits(current.demand, reported.demand);
    if (!byUsage) copyUnits(current.usage, reported.usage);
    else if (lane.entry.isOpen) this.#shares.takenInto(reported.usage, lane.lane, current.demand);
    else copyUnits(usageOverASecond(sample), reported.usage);
    copyUnits(current.squares, reported.squares);
    lane.ratesComparedMs = nowMs;
    this.#entryChanged(lane, reason, Math.max(DUE, tokens.deviation), nowMs);
  }

  /** Finds why a lane is due whatever its present rates are; null = it is not. */
  #dueBy(lane: LaneState, tokens: LaneTokens, since: SinceReport, isNearQuota: boolean): ReportReason | null {
    const { refusedNow, silentMs } = since;
    if (areRatesOver(lane, isNearQuota)) return 'over';
    if (tokens.isReportDue) return 'charge';
    if (refusedNow && tokens.isShort) return 'refused';
    if (readsUse(lane) && this.#changedSpan(lane, refusedNow) !== -1) return 'change';
    return this.#isStepDue(lane, silentMs) ? 'step' : null;
  }

  /** @param deviation how wrong it is what others believe of the lane, in parts of what makes a report due */
  #entryChanged(lane: LaneState, reason: ReportReason, deviation: number, nowMs: number): void {
    // Costs may be reported at another node than the one that admitted the work.
    const { entry, tokens } = lane;
    const hasToSay =
      !isZero(lane) || lane.costs.now !== null || tokens?.hasUnread === true || this.#tokens.hasToRemember(lane, nowMs);
    if (entry.life !== 'ending' && hasToSay) entry.life = 'due';
    else if (entry.isOpen) entry.life = tokens === null ? 'none' : 'ending';
    this.#book.changed(lane.group, lane.groupId, reason, deviation);
  }

  /**
   * The next step of a strategy that goes by what nodes take starts from what their records say. What a node is
   * expected to take moves when others publish, without a word of its own; so where such a strategy is chosen, it tells
   * that. A node that takes all that it wants does so whatever its share is, and has no step to tell.
   */
  #isStepDue(lane: LaneState, silentMs: number): boolean {
    const { remembers, reads } = this.#shares.strategyOf(lane.group);
    if (!lane.entry.isOpen || (!remembers && reads !== 'usage')) return false;
    const { demand, usage } = lane.reported;
    const ratio = silentMs < this.#settings.heartbeatMs ? LARGE_TOKEN_STEP_RATIO : SMALL_TOKEN_STEP_RATIO;
    if (reads === 'usage') this.#shares.takenInto(taken, lane.lane, demand);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const wanted = demand[dimension];
      let now = taken[dimension];
      let before = usage[dimension];
      if (reads !== 'usage') {
        now = Math.min(wanted, this.#shares.reportable(lane.lane, dimension));
        before = Math.min(wanted, lane.reportedShare[dimension]);
      }
      if (Math.abs(now - before) > ratio * Math.max(now, before)) return true;
    }
    return false;
  }

  /**
   * Tests if the others need to know what this node applies now, because the strategy remembers: the next step starts
   * from there. A large step is told at once, a small one within a heartbeat, none at rest. On the way of a wrapper
   * every step is told, but only right after a beat has moved log time on: what passes between them is lost.
   */
  #isShareOutdated(lane: LaneState, silentMs: number): boolean {
    if (!this.#shares.strategyOf(lane.group).remembers) return false;
    const target = this.#shares.targetOf(lane.lane);
    const settled = silentMs < this.#settings.heartbeatMs ? LARGE_SHARE_STEP_RATIO : SMALL_SHARE_STEP_RATIO;
    if (lane.isOwnMoving && silentMs < MOVING_REPORT_MS) return false;
    const ratio = lane.isOwnMoving ? 0 : settled;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const before = lane.reportedShare[dimension];
      const now = this.#shares.reportable(lane.lane, dimension);
      const least = Math.max(ratio * Math.max(before, now), SHARE_STEP_TARGET_RATIO * target[dimension]);
      if (Math.abs(now - before) > least) return true;
    }
    return false;
  }

  /** The shortest span that shows that the rate is not what was reported, or −1. */
  #changedSpan(lane: LaneState, refusedNow: boolean): number {
    const { sample, reported, entry } = lane;
    const noticed = noticedIn(sample, reported, this.#ruleOf(lane, refusedNow));
    if (noticed !== -1) return noticed;
    // These rates are too small for the noise rule to see them come and go.
    if (!entry.isOpen && sample.isFull(MEDIUM) && hasArrivals(sample, MEDIUM)) return MEDIUM;
    if (entry.isOpen && sample.isFull(SLOW) && !hasArrivals(sample, SLOW)) return SLOW;
    return -1;
  }

  #lookRuleOf(lane: LaneState): LookRule {
    return {
      reads: this.#shares.strategyOf(lane.group).reads,
      fastSpanMs: shortestSpanMs(lane.settings, this.#settings),
      target: this.#shares.targetOf(lane.lane),
    };
  }

  /**
   * The noise rule, except where work is being refused although the reported demand is served: then the report is too
   * low, and every round until the next one refuses work that the quota could carry. Less than three standard
   * deviations suffice then.
   */
  #ruleOf(lane: LaneState, refusedNow: boolean): ChangeRule {
    const { significantChangeRatio, noiseFactor } = this.#settings;
    const relaxed = refusedNow && this.#shares.isServed(lane.lane, lane.reported.demand);
    return {
      reads: this.#shares.strategyOf(lane.group).reads,
      significantChangeRatio,
      noiseFactor: relaxed ? RELAXED_NOISE_FACTOR : noiseFactor,
      restsOnMs: restsOnMs(lane),
    };
  }

  #isTouched(lane: LaneState): boolean {
    if (this.#limiter.refusals.at(lane.lane) !== lane.refusals || this.#limiter.heldBack[lane.lane] !== 0) return true;
    if (this.#limiter.heldBackElsewhere.has(lane.lane)) return true;
    const mark = lane.sample.now;
    const slot = slotOf(lane.lane, 0);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      if (this.#limiter.attempted.at(slot + dimension) !== mark.attempted(dimension)) return true;
      if (this.#limiter.admitted.at(slot + dimension) !== mark.admitted(dimension)) return true;
    }
    return false;
  }

  #rowOf(lane: LaneState): ReportRow {
    const { usage, demand } = lane.reported;
    const costs = costsWritten(lane.costs);
    const { reportedShare } = lane;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      reportedShare[dimension] = this.#shares.reportable(lane.lane, dimension);
    }
    lane.reportedTopics = this.#limiter.topics.of(lane.lane);
    lane.entry.life = 'written';
    return {
      groupId: lane.groupId,
      direction: lane.direction,
      topics: lane.reportedTopics,
      usageMessages: usage[MESSAGES],
      usageBytes: usage[BYTES],
      demandMessages: demand[MESSAGES],
      demandBytes: demand[BYTES],
      shareMessages: reportedShare[MESSAGES],
      shareBytes: reportedShare[BYTES],
      ...(lane.tokens === null ? {} : { charge: lane.tokens.publish() }),
      ...(costs === null ? {} : { costs }),
    };
  }
}

export interface ReporterParts {
  readonly limiter: Limiter;
  readonly shares: ShareBook;
  readonly book: ReportBook;
  readonly costs: CostMeter;
  readonly tokens: TokenBook;
}

export interface BundleContent {
  readonly rows: readonly ReportRow[];
  /** Until the buckets of all rows are full, if nobody takes anything, ms. */
  readonly fullInMs: number;
}

/** For so long a node that is gone is remembered at most: longer than any quota takes to fill its bucket. */
const FULL_IN_MAX_MS = 40 * 86_400_000;

interface SinceReport {
  readonly nowMs: number;
  /** True = work has been refused since the last sample. */
  readonly refusedNow: boolean;
  /** True = the enforcers of the lane, if it has any, have not been held back for a while. */
  readonly isCalm: boolean;
  /** Since this node's last report of the lane. */
  readonly silentMs: number;
}

/** Finds why present rates are news; null = they are not. @param hasClaimed true = it claimed, and is not held back now */
function dueByRates(
  lane: LaneState,
  tokens: LaneTokens,
  refusedNow: boolean,
  hasClaimed: boolean,
): ReportReason | null {
  const { current, reported, entry } = lane;
  if (refusedNow && tokens.isUnannounced(current, reported)) return 'refused';
  if (entry.isOpen && isOverstated(tokens, lane)) return 'overstated';
  return hasClaimed && isClaimOver(current, reported) ? 'overstated' : null;
}

/** Scratch. */
const taken = noUnits();
const before = createLaneRates();

/** So often a lane's rates are compared with those in the log. More shows changes later, and writes less. */
const RATES_MS = 5000;
/** Wrong rates far below the quota wait so long for each other: more of them come in one record. */
const FAR_RATES_MS = 20_000;
/** The same for the first ones of a record. */
const FIRST_RATES_MS = 5000;

/** The deviation of a lane whose report is just due. */
const DUE = 1;
/**
 * A change by this part counts as much as a charge at its threshold, where rates are shared. It is the default of
 * `significantChangeRatio`, which may be 0.
 */
const SIGNIFICANT_RATIO = 0.1;

/** By which part of the larger one the rates differ, 0 … 1. */
function changeOf(before: LaneRates, now: LaneRates): number {
  let most = 0;
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    most = Math.max(
      most,
      partOf(before.demand[dimension], now.demand[dimension]),
      partOf(before.usage[dimension], now.usage[dimension]),
    );
  }
  return most;
}

function partOf(before: number, now: number): number {
  return before === now ? 0 : Math.abs(now - before) / Math.max(before, now);
}

/**
 * A node that has left what it was expected to take, though it is refused work, cannot take it: its work comes in
 * bursts. What it tells is expected of it, so it tells what it takes, and a little more: a node that told less than it
 * takes would have to publish again at once. The next burst is no reason to tell more, though it has to be told.
 */
function keepToTaken({ current, reported, entry }: LaneState, tokens: LaneTokens): void {
  const { demand, usage } = current;
  const isAnnounced = entry.isOpen && !tokens.isUnannounced(current, reported);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const wanted = demand[dimension];
    const published = reported.demand[dimension];
    if (tokens.hasLeft(dimension)) demand[dimension] = Math.min(wanted, TAKEN_RATIO * usage[dimension]);
    else if (isAnnounced && tokens.clumpsOf(dimension) > 1) demand[dimension] = Math.min(wanted, published);
  }
}

const TAKEN_RATIO = 1.2;

/** In between two batches nothing arrives, so the slow span has to say it too. */
function isOverstated(tokens: LaneTokens, { sample, current, reported }: LaneState): boolean {
  if (!tokens.isOverstated(current, reported)) return false;
  estimate(sample, SLOW, slow);
  return tokens.isOverstated(slow, reported);
}

const slow = createLaneRates();

/**
 * Tests if much less is wanted than was claimed while enforcers held work back. The cluster's bucket shows it, too, but
 * after half a second in which others went without.
 */
function isClaimOver(now: LaneRates, published: LaneRates): boolean {
  return published.demand.some((demand, dimension) => demand > CLAIM_OVER_RATIO * now.demand[dimension]);
}

const CLAIM_OVER_RATIO = 1.5;
/** The rates of the brief span, 232 ms, are those of a time in which nobody was held down: less would be taken away. */
const CALM_MS = 250;

/**
 * Estimates the usage of a node that publishes for the first time: where the split follows usage, the burst of a node
 * that has just woken is not what it has been using.
 */
function usageOverASecond(sample: LaneSample): LaneUnits {
  const usage = usageIn(sample, SLOW);
  spread(usage, sample);
  return usage;
}

/** Takes what came within less than a second for that of a second: of a lane that begins one piece says as much. */
function spreadOverASecond(rates: LaneRates, sample: LaneSample): void {
  for (const column of [rates.usage, rates.demand, rates.squares]) spread(column, sample);
}

function spread(rates: LaneUnits, sample: LaneSample): void {
  const part = Math.min(1, sample.lengthMs(SLOW) / 1000);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) rates[dimension] = part * rates[dimension];
}

/** A reported rate of nothing is exact, not an estimate; such an entry may exist for its costs alone. */
function restsOnMs({ entry, settling }: LaneState): number {
  return entry.isOpen && settling.restsOnMs > 0 ? settling.restsOnMs : Infinity;
}

/**
 * Tests if the spans show a rate. After a change they begin anew, and a part of a window shows either all that the
 * window hands out or nothing.
 */
function isKnown({ entry, sample, settings }: LaneState): boolean {
  return !entry.isOpen || windowMsOf(settings) === 0 || sample.isFull(FAST);
}

/**
 * Tests if the ramp has to know how much of it is used. Then rates are told as where rates are shared: a group that is
 * far from its quota would otherwise say nothing, and its ceiling never rise.
 */
function readsUse({ settings: { ramp } }: LaneState): boolean {
  return ramp?.mode === 'only-if-used' || ramp?.mode === 'go-back-n';
}

function hasArrivals(sample: LaneSample, span: number): boolean {
  const now = sample.now;
  const begin = sample.beginOf(span);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (now.attempted(dimension) > begin.attempted(dimension)) return true;
    if (now.admitted(dimension) > begin.admitted(dimension)) return true;
  }
  return false;
}

/** Tests if the entry of a lane stays for what it says of the buckets alone: nothing was asked for lately. */
function isResting(lane: LaneState): boolean {
  return (
    lane.entry.isOpen &&
    isZero(lane) &&
    lane.costs.now === null &&
    lane.sample.isFull(SLOW) &&
    !hasArrivals(lane.sample, SLOW)
  );
}

function isZero(lane: LaneState): boolean {
  const { usage, demand } = lane.reported;
  return usage.every((rate) => rate === 0) && demand.every((rate) => rate === 0);
}
