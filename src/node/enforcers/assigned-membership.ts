import { DIMENSION_COUNT, MESSAGES } from '../../core/base/vocabulary.js';
import { CHARGE_MAX, type Counts, createPart, type LaneMember } from './membership.js';

/**
 * Follows one enforcer in one lane that is *assigned* its part: it tells every some seconds how much came and how much
 * passed, and its bucket begins full. So its demand is known, not inferred, and between reports it is presumed to admit
 * the lesser of what came last and its rate; before its second report, its rate.
 *
 * *Why no guess is carried over:* an interval whose guess was wrong is over. Others' rates left room for the whole part,
 * so what was presumed and not admitted was lost, and what was admitted and not presumed had flowed over.
 *
 * *Worked:* a rate of 500/s, 100/s presumed and 500/s admitted for 5 s: 2,000 late, of which 100 are charged while
 * nobody else uses the lane at this node, and all of them while somebody does.
 */
export class AssignedMembership implements LaneMember {
  readonly lane: number;
  readonly group: string;
  readonly part = createPart();
  readonly answered = createPart();
  readonly isDemandKnown = true;
  isHeldBack = false;
  topics = 0;
  readonly had = new Float64Array(DIMENSION_COUNT);
  readonly growth = 1;
  readonly usage = new Float64Array(DIMENSION_COUNT);
  /** Units/s that came, and what chance adds. */
  readonly demand = new Float64Array(DIMENSION_COUNT);
  /** Units/s that came between the last two reports. */
  readonly #offeredRate = new Float64Array(DIMENSION_COUNT).fill(Infinity);
  /** Units since its life began. */
  readonly #admitted = new Float64Array(DIMENSION_COUNT);
  readonly #offered = new Float64Array(DIMENSION_COUNT);
  /** Units presumed since the last report, and units to charge. */
  readonly #presumed = new Float64Array(DIMENSION_COUNT);
  readonly #uncharged = new Float64Array(DIMENSION_COUNT);
  /** Units of the last report that had not been presumed. */
  readonly #late = new Float64Array(DIMENSION_COUNT);
  /** Seconds for which they have been charged. */
  #lateForSeconds = 0;
  #reportedMs: number;
  #presumedMs: number;

  constructor(lane: number, group: string, nowMs: number) {
    this.lane = lane;
    this.group = group;
    this.#reportedMs = nowMs;
    this.#presumedMs = nowMs;
  }

  /** True until its second report: what it wants is not known. */
  get isNew(): boolean {
    return this.#offeredRate[MESSAGES] === Infinity;
  }

  /** Takes counts; returns true if any are lower. Of reports that follow at once the counts come with the next. */
  take(admitted: Counts, isHeldBack: boolean, nowMs: number, offered: Counts = admitted): boolean {
    const seconds = (nowMs - this.#reportedMs) / 1000;
    if (seconds < REPORT_SECONDS_LEAST) return false;
    this.isHeldBack = isHeldBack;
    this.#presume(nowMs);
    this.#reportedMs = nowMs;
    this.#lateForSeconds = 0;
    let isLower = false;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const passed = admitted[dimension] - this.#admitted[dimension];
      const came = offered[dimension] - this.#offered[dimension];
      isLower ||= passed < 0 || came < 0;
      this.#admitted[dimension] = Math.max(this.#admitted[dimension], admitted[dimension]);
      this.#offered[dimension] = Math.max(this.#offered[dimension], offered[dimension]);
      this.#late[dimension] = Math.max(0, passed - this.#presumed[dimension]);
      this.#presumed[dimension] = 0;
      const units = Math.max(0, came);
      this.usage[dimension] = Math.max(0, passed) / seconds;
      this.#offeredRate[dimension] = units / seconds;
      this.demand[dimension] = (units + CHANCE_DEVIATIONS * Math.sqrt(units)) / seconds;
    }
    return isLower;
  }

  /** Charges units that a larger bucket begins with. */
  begin(units: number): void {
    this.#presumed[MESSAGES] = this.#presumed[MESSAGES] + units;
  }

  /** Returns whole units to charge now per dimension; read it at once. @param isShared others use the lane here */
  due(nowMs: number, isShared: boolean): Float64Array {
    const seconds = (nowMs - this.#presumedMs) / 1000;
    this.#presume(nowMs);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const most = isShared ? Infinity : LATE_SECONDS * this.#rateOf(dimension);
      const late = Math.min(most, this.#late[dimension]);
      const part = Math.min(1, seconds / (LATE_OVER_SECONDS - this.#lateForSeconds));
      const charged = part < 1 ? part * late : late;
      this.#late[dimension] = late - charged;
      const units = Math.floor(this.#uncharged[dimension] + charged);
      due[dimension] = Math.min(CHARGE_MAX, units);
      this.#uncharged[dimension] = this.#uncharged[dimension] + charged - units;
    }
    this.#lateForSeconds = Math.min(LATE_OVER_SECONDS, this.#lateForSeconds + seconds);
    return due;
  }

  /** Presumes what passed since the last look, by the rate. */
  #presume(nowMs: number): void {
    const seconds = (nowMs - this.#presumedMs) / 1000;
    this.#presumedMs = nowMs;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const perSecond = Math.min(this.#offeredRate[dimension], this.#rateOf(dimension));
      if (perSecond === Infinity) continue;
      this.#presumed[dimension] = this.#presumed[dimension] + seconds * perSecond;
      this.#uncharged[dimension] = this.#uncharged[dimension] + seconds * perSecond;
    }
  }

  /** Returns the rate in force; 0 = none is known. */
  #rateOf(dimension: number): number {
    return this.answered.isKnown ? this.answered.rate[dimension] : 0;
  }
}

/** Seconds between reports that show a rate. */
const REPORT_SECONDS_LEAST = 0.5;
/** Standard deviations of what comes that the demand has room for. */
const CHANCE_DEVIATIONS = 2;
/** Seconds of its rate that are charged late, where nobody shares. */
const LATE_SECONDS = 0.2;
/** Seconds over which they are charged: at once they would look like a rise of demand. */
const LATE_OVER_SECONDS = 1;

const due = new Float64Array(DIMENSION_COUNT);
