import { HEADROOM_RATIO } from '../account/constants.js';
import type { LaneTokens } from '../account/lane-tokens.js';
import { type LaneState, shortestSpanMs } from '../account/lanes/lane-state.js';
import type { ShareBook } from '../account/share/share-book.js';
import type { TokenBook } from '../account/share/token-book.js';
import { CLAIM_FACTOR, LEAST_CLAIM } from '../base/constants.js';
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
import {
  CHANCE_DEVIATIONS,
  CLAIM_OVER_RATIO,
  FULL_IN_MAX_MS,
  LATELY_MS,
  MOVING_BEAT_MS,
  SILENT_SLOW_SPANS,
  SMALL_CHANGE_RATIO,
  SOON_MS,
  TARGET_STEP_RATIO,
} from './constants/constants.js';
import { LookList } from './look-list.js';
import { areRatesOver, steadyRates, wrongSpan } from './rates-in-log.js';
import type { Bundle, ReportBook } from './report-book.js';
import type { ReportReason } from './report-reason.js';
import { currentRates } from './sample/current-rates.js';
import { createLaneRates, estimate, type LaneRates, usageIn } from './sample/estimate.js';
import { FAST, type LaneSample, LONG, MEDIUM, SLOW } from './sample/lane-sample.js';
import { beginSettling, isUnsettled, isUsageOutdated, type LookRule } from './sample/settling.js';
import { type ChangeRule, noticedIn } from './sample/significant-change.js';

/** Milliseconds for a beat (after MOVING_BEAT_MS) and its way back; less than one step counts (250 ms). */
const MOVING_REPORT_MS = MOVING_BEAT_MS + 15;

/**
 * Turns samples into reports: it finds changed lanes, and makes the records of bundles. The coordinator publishes them.
 */
export class Reporter {
  readonly looks: LookList;
  readonly #settings: CoordinatorSettings;
  readonly #limiter: Limiter;
  readonly #shares: ShareBook;
  readonly #book: ReportBook;
  readonly #costs: CostMeter;
  readonly #tokens: TokenBook;

  constructor(settings: CoordinatorSettings, { limiter, shares, book, costs, tokens }: ReporterParts) {
    this.#settings = settings;
    this.#limiter = limiter;
    this.#shares = shares;
    this.#book = book;
    this.#costs = costs;
    this.#tokens = tokens;
    this.looks = new LookList(limiter, settings.slowSpanMs, settings.sampleIntervalMs);
  }

  /** Samples the lanes of a round, and marks bundles. `flow` is called first for lanes that share tokens. */
  sampleAll(nowMs: number, flow: (lane: LaneState, nowMs: number) => void): void {
    const { looks } = this;
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

  /** Returns false if the lane has to wait with its report. */
  #sample(lane: LaneState, nowMs: number): boolean {
    lane.sample.take(this.#limiter, lane.lane, nowMs);
    lane.tokens?.clumps.take(lane.sample);
    const refusals = this.#limiter.refusals.at(lane.lane);
    // A node that holds work back elsewhere requests no more than its part, and is never refused here.
    const refusedNow = refusals > lane.refusals || this.#limiter.heldBackElsewhere.has(lane.lane);
    lane.refusals = refusals;
    if (lookAtCosts(lane, this.#costs, nowMs)) this.#entryChanged(lane, 'cost', DUE, nowMs);
    // Nothing is reported, charged (a reservation counts in no span) or sampled: the spans only roll on.
    const isQuiet = this.#isSilent(lane, nowMs) || lane.sample.isQuiet;
    if (isQuiet && !lane.entry.isOpen && lane.tokens?.isReportDue !== true) return true;
    this.#claim(lane);
    const bundle = this.#book.bundleOf(lane.group, lane.groupId);
    if (nowMs - bundle.publishedMs < this.#settings.reportGapMs) return false;
    this.#consider(lane, bundle, refusedNow, nowMs);
    return true;
  }

  /**
   * Claims for the lane while its work is held back. Enforcers claim their demand instead, which doubles with every
   * report of theirs: a claim of the node's due for one that lacked some units would take half of the quota from the
   * others.
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
        rows.push(Object.assign(row, checkpoint.columns));
        fullInMs = Math.max(fullInMs, checkpoint.fullInMs);
      }
    }
    return { rows, fullInMs: Math.ceil(Math.min(fullInMs, FULL_IN_MAX_MS)) };
  }

  /** Compares the rates in the log with the present ones, every LATELY_MS. Returns the span that differs, or −1. */
  #wrongSpan(lane: LaneState, nowMs: number): number {
    if (nowMs - lane.ratesComparedMs < LATELY_MS) return -1;
    lane.ratesComparedMs = nowMs;
    const { significantChangeRatio, noiseFactor } = this.#settings;
    // Work that comes together is one chance.
    const clumped = Math.sqrt(Math.max(lane.tokens!.clumps.piecesOf(MESSAGES), lane.tokens!.clumps.piecesOf(BYTES)));
    return wrongSpan(lane, this.#limiter.topics.of(lane.lane), { significantChangeRatio, noiseFactor, clumped });
  }

  /** Schedules the rates of a lane far below its quota. */
  #publishWithin(lane: LaneState): void {
    if (lane.entry.life === 'ending') return;
    if (!lane.entry.isOpen) lane.entry.life = 'awaited';
    const { publishedMs } = this.#book.bundleOf(lane.group, lane.groupId);
    const isFirst = publishedMs === -Infinity;
    const atMs = isFirst ? lane.ratesComparedMs + LATELY_MS : publishedMs + FAR_RATES_MS;
    this.#book.forceBy(lane.group, lane.groupId, 'rates-far-below', atMs);
  }

  /** Refreshes the rates of a lane far below its quota. */
  #refreshRates(lane: LaneState): void {
    const { sample, current, reported, tokens, entry } = lane;
    const isAwaited = entry.life === 'awaited';
    if (isAwaited) entry.life = 'none';
    if (tokens === null || !(isAwaited || entry.life === 'written')) return;
    if (tokens.isNearQuota(reported) || !sample.isFull(SLOW)) return;
    if (currentRates(sample, current, tokens) < SLOW) return;
    steadyRates(sample, reported);
    lane.isCoarse = false;
    if (!isZero(lane)) entry.life = 'written';
  }

  /** Makes a lane's row due if the log must hold its stock. */
  remember(lane: LaneState, nowMs: number): void {
    if (this.#tokens.hasToRemember(lane, nowMs)) this.#entryChanged(lane, 'new-log', DUE, nowMs);
  }

  /** Ends a stopping node's entries. Those with unread charges, or with stocks that only it holds, stay. */
  endAll(lanes: Iterable<LaneState>, nowMs: number): void {
    for (const lane of lanes) {
      const stays = this.#hasToStand(lane, nowMs);
      if (!stays && !lane.entry.isOpen) continue;
      if (lane.entry.life !== 'ending') lane.entry.life = stays ? 'due' : 'ending';
      for (const rates of [lane.reported.usage, lane.reported.demand]) rates.fill(0);
      this.#book.changed(lane.group, lane.groupId, 'stop');
    }
  }

  /** Tests if nothing touched a lane in its slow span: up to twice its length. */
  #isSilent({ touchedMs }: LaneState, nowMs: number): boolean {
    return nowMs - touchedMs > SILENT_SLOW_SPANS * this.#settings.slowSpanMs;
  }

  #consider(lane: LaneState, bundle: Bundle, refusedNow: boolean, nowMs: number): void {
    if (lane.entry.life === 'ending') return;
    if (lane.tokens !== null && isResting(lane)) {
      // Units given back without a request are published, too.
      const { isReportDue } = lane.tokens;
      const isOver = !this.#mayCharge(lane, nowMs);
      if (isReportDue || isOver) this.#entryChanged(lane, isReportDue ? 'charge' : 'over', DUE, nowMs);
      return;
    }
    if (lane.tokens !== null) {
      const heldBackMs = this.#limiter.enforced.get(lane.lane) ?? Infinity;
      const isCalm = nowMs - heldBackMs >= SOON_MS;
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
    this.#entryChanged(lane, reason, DUE + changeOf(before, reported) / this.#settings.significantChangeRatio, nowMs);
  }

  /**
   * Reports a lane whose report is due or whose rates are wrong: when the cluster's bucket would differ, when more work
   * is refused than published, or when its rates in the log are wrong (rates-in-log.ts).
   */
  #considerTokens(lane: LaneState, tokens: LaneTokens, since: SinceReport): void {
    const { refusedNow, nowMs, isCalm } = since;
    const { sample, current, reported } = lane;
    const isNearQuota = refusedNow || tokens.isNearQuota(reported);
    const byUsage = this.#shares.strategyOf(lane.group).reads === 'usage';
    const due = this.#dueBy(lane, tokens, since, isNearQuota);
    const wrong = due === null ? this.#wrongSpan(lane, nowMs) : -1;
    const isWrong = wrong !== -1;
    // Rates before the change would pass for the present ones. Those that wait for others are cut once.
    const isCut = isNearQuota || (lane.entry.isOpen && sample.isFull(LONG));
    if (wrong === SLOW && isCut) sample.cutLong(sample.beginOf(SLOW));
    if (isWrong && !isNearQuota) {
      this.#publishWithin(lane);
      return;
    }
    // Estimating the rates is a fifth of a look, and most looks end here.
    const hasClaimed = lane.entry.isOpen && isCalm;
    if (due === null && !isWrong && !refusedNow && !hasClaimed && !(lane.entry.isOpen && tokens.isDueByRates)) return;
    // One piece of work in a short span says nothing of how many a node wants.
    let span = wrong === LONG ? LONG : SLOW;
    if (wrong === LONG || due === 'over' || (tokens.isInPieces && !byUsage)) estimate(sample, span, current);
    else span = currentRates(sample, current, tokens);
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
    lane.isCoarse = span < SLOW || !sample.isFull(SLOW);
    if (lane.isCoarse) sample.cutLong(sample.now);
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

  /**
   * Tests if a lane has to stand in the log, reservations included: the first record of an entry can give nothing back.
   */
  #mayCharge(lane: LaneState, nowMs: number): boolean {
    return lane.tokens !== null && (this.#limiter.mayComeBack(lane.lane) || this.#hasToStand(lane, nowMs));
  }

  /** Tests if the log has to hold a lane's charge or stock. */
  #hasToStand(lane: LaneState, nowMs: number): boolean {
    return lane.tokens?.hasUnread === true || this.#tokens.hasToRemember(lane, nowMs);
  }

  /** @param deviation published error ÷ that of a due report */
  #entryChanged(lane: LaneState, reason: ReportReason, deviation: number, nowMs: number): void {
    // Costs may be reported at another node than the one that admitted the work.
    const { entry, tokens } = lane;
    const hasToSay = !isZero(lane) || lane.costs.now !== null || this.#mayCharge(lane, nowMs);
    if (entry.life !== 'ending' && hasToSay) entry.life = 'due';
    else if (entry.isOpen) entry.life = tokens === null ? 'none' : 'ending';
    this.#book.changed(lane.group, lane.groupId, reason, deviation);
  }

  /**
   * Tests if a strategy needs this node's newer use or share. The next step of one that reads usage or remembers starts
   * from the records. The expected use of a node moves when others publish, without a record of its own; so the node
   * publishes that use. A node whose demand is met takes the same at any share, and has no step to publish.
   */
  #isStepDue(lane: LaneState, silentMs: number): boolean {
    const { remembers, reads } = this.#shares.strategyOf(lane.group);
    if (!lane.entry.isOpen || (!remembers && reads !== 'usage')) return false;
    const { demand, usage } = lane.reported;
    const ratio = this.#noticedAfter(silentMs);
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
   * Tests if a strategy that remembers needs a newer applied share. Its next step starts from that. A large step is
   * published at once, a small one within a heartbeat, none at rest. On the way of a wrapper every step is published,
   * but only right after a beat has moved log time on: steps between two beats are lost.
   */
  #isShareOutdated(lane: LaneState, silentMs: number): boolean {
    if (!this.#shares.strategyOf(lane.group).remembers) return false;
    const target = this.#shares.targetOf(lane.lane);
    // A late step of shared tokens costs none, one of a remembered share does.
    const settled = this.#noticedAfter(silentMs) / 2;
    if (lane.isOwnMoving && silentMs < MOVING_REPORT_MS) return false;
    const ratio = lane.isOwnMoving ? 0 : settled;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const before = lane.reportedShare[dimension];
      const now = this.#shares.reportable(lane.lane, dimension);
      const least = Math.max(ratio * Math.max(before, now), TARGET_STEP_RATIO * target[dimension]);
      if (Math.abs(now - before) > least) return true;
    }
    return false;
  }

  /** Returns the relative change that is published: a large one at once, a small one within a heartbeat. */
  #noticedAfter(silentMs: number): number {
    const { heartbeatMs, significantChangeRatio } = this.#settings;
    return silentMs < heartbeatMs ? significantChangeRatio : SMALL_CHANGE_RATIO;
  }

  /** Finds the shortest span with another rate than reported, or −1. */
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
    const { significantChangeRatio } = this.#settings;
    return {
      significantChangeRatio,
      reads: this.#shares.strategyOf(lane.group).reads,
      fastSpanMs: shortestSpanMs(lane.settings, this.#settings),
      target: this.#shares.targetOf(lane.lane),
    };
  }

  /**
   * Returns the noise rule, relaxed where the report is too low. There work is refused although the reported demand is
   * served: every round until the next report refuses work that the quota could carry.
   */
  #ruleOf(lane: LaneState, refusedNow: boolean): ChangeRule {
    const { significantChangeRatio, noiseFactor } = this.#settings;
    const relaxed = refusedNow && this.#shares.isServed(lane.lane, lane.reported.demand);
    return {
      reads: this.#shares.strategyOf(lane.group).reads,
      significantChangeRatio,
      noiseFactor: relaxed ? CHANCE_DEVIATIONS : noiseFactor,
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
      // A reservation counts as admitted only when it is settled, and as taken at once.
      if (lane.tokens !== null && this.#limiter.taken(slot + dimension) !== lane.taken[dimension]) return true;
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
  /** Milliseconds until the buckets of all rows are full, without any use. */
  readonly fullInMs: number;
}

interface SinceReport {
  readonly nowMs: number;
  /** True = work has been refused since the last sample. */
  readonly refusedNow: boolean;
  /** True = the lane's enforcers have held nothing back lately. */
  readonly isCalm: boolean;
  /** Milliseconds since this node's last report of the lane. */
  readonly silentMs: number;
}

/**
 * Finds why present rates are news; null = they are not.
 *
 * @param hasClaimed true = the lane claimed, and is not held back now
 */
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

const taken = noUnits();
const before = createLaneRates();

/** Milliseconds that rates far below the quota wait for others. */
const FAR_RATES_MS = 4 * LATELY_MS;

/** The deviation of a lane whose report is just due. */
const DUE = 1;

/** Computes the largest change of a rate. It is a part of the larger value, 0 … 1. */
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
 * Bounds the published demand of a node that left expected use. Its work is refused all the same, because it comes in
 * bursts. Its published demand is expected of it, so it publishes its usage and a little more: with less it would have
 * to publish again at once. The next burst does not raise that demand, though it has to be published.
 */
function keepToTaken({ current, reported, entry }: LaneState, tokens: LaneTokens): void {
  const { demand, usage } = current;
  const isAnnounced = entry.isOpen && !tokens.isUnannounced(current, reported);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const wanted = demand[dimension];
    const published = reported.demand[dimension];
    if (tokens.hasLeft(dimension)) demand[dimension] = Math.min(wanted, HEADROOM_RATIO * usage[dimension]);
    else if (isAnnounced && tokens.clumpsOf(dimension) > 1) demand[dimension] = Math.min(wanted, published);
  }
}

/** Tests if the reported demand is too high. Between two batches nothing arrives, so the slow span has to agree. */
function isOverstated(tokens: LaneTokens, { sample, current, reported }: LaneState): boolean {
  if (!tokens.isOverstated(current, reported)) return false;
  estimate(sample, SLOW, slow);
  return tokens.isOverstated(slow, reported);
}

const slow = createLaneRates();

/** Tests if demand is far below the enforcers' claim. The cluster's bucket shows it half a second later. */
function isClaimOver(now: LaneRates, published: LaneRates): boolean {
  return published.demand.some((demand, dimension) => demand > CLAIM_OVER_RATIO * now.demand[dimension]);
}

/** Estimates the usage of a first report over a whole second: its split by usage ignores the first burst. */
function usageOverASecond(sample: LaneSample): LaneUnits {
  const usage = usageIn(sample, SLOW);
  spread(usage, sample);
  return usage;
}

/** Divides arrivals of less than a second by a whole one: one piece in 50 ms shows no rate of 20/s. */
function spreadOverASecond(rates: LaneRates, sample: LaneSample): void {
  for (const column of [rates.usage, rates.demand, rates.squares]) spread(column, sample);
}

function spread(rates: LaneUnits, sample: LaneSample): void {
  const part = Math.min(1, sample.lengthMs(SLOW) / 1000);
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) rates[dimension] = part * rates[dimension];
}

/** Milliseconds from which the report was estimated; Infinity where it is exact, as for costs alone. */
function restsOnMs({ entry, settling }: LaneState): number {
  return entry.isOpen && settling.restsOnMs > 0 ? settling.restsOnMs : Infinity;
}

/** Tests if the spans show a rate. After a change, part of a window shows all of the window's tokens, or none. */
function isKnown({ entry, sample, settings }: LaneState): boolean {
  return !entry.isOpen || windowMsOf(settings) === 0 || sample.isFull(FAST);
}

/**
 * Tests if the lane's ramp depends on its usage. Then rates are published as where rates are shared: a group that is
 * far from its quota would otherwise publish none, and its ceiling never rise.
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

/** Tests if an entry stays for its buckets alone: no request came lately. */
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
