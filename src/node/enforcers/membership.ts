import { DIMENSION_COUNT } from '../../core/base/vocabulary.js';

/** What an enforcer is told of a lane: units per second (Infinity = unlimited), and units of depth. */
export interface Part {
  readonly rate: Float64Array;
  readonly depth: Float64Array;
  /** False while the node has no limit for the lane that is confirmed. */
  isKnown: boolean;
}

export function createPart(): Part {
  return { rate: new Float64Array(DIMENSION_COUNT), depth: new Float64Array(DIMENSION_COUNT), isKnown: false };
}

/**
 * One enforcer in one lane: what it told, what was charged for it, and its part.
 *
 * Between two reports it is charged for what it presumably admits, so that a lane's bucket sees a flow and not a lump
 * per report; the next report corrects that. What is charged never falls: an excess is set off against what comes next.
 */
export class EnforcerMembership {
  readonly lane: number;
  /** The lane of a key may be another key's later. */
  readonly group: string;
  readonly part = createPart();
  /** The part in the newest answer. */
  readonly told = createPart();
  isHeldBack = false;
  /** Topics of the group that it serves. */
  topics = 0;
  /**
   * The rate that it was told before it said the last time whether it holds work back. What it was told since may be
   * enough: doubled as well, twice what was short was claimed.
   */
  readonly had = new Float64Array(DIMENSION_COUNT);
  /** Units per second: the mean of about the last half second. */
  readonly usage = new Float64Array(DIMENSION_COUNT);
  /**
   * Units per second that it wants (lane-parts.ts raises it while work is held back). Afterwards it falls to the usage
   * as slowly as that is measured: at once, it would take the part away that had just sufficed.
   */
  readonly demand = new Float64Array(DIMENSION_COUNT);
  /** Units since the life began: as told, and as charged here. */
  readonly #admitted: Float64Array;
  readonly #charged: Float64Array;
  #toldMs: number;
  #reportedEverySeconds = 0;

  /** The first counts of a life charge nothing: another node, or this one before its restart, was told of them. */
  constructor(lane: number, group: string, counts: Counts, nowMs: number) {
    this.lane = lane;
    this.group = group;
    this.#admitted = Float64Array.of(...counts);
    this.#charged = Float64Array.of(...counts);
    this.#toldMs = nowMs;
  }

  /**
   * Counts that are lower than known ones come from a request that others have passed on the way: they say nothing.
   * Returns whether there were any.
   */
  tell(counts: Counts, isHeldBack: boolean, nowMs: number): boolean {
    const seconds = (nowMs - this.#toldMs) / 1000;
    let isLower = false;
    this.isHeldBack = isHeldBack;
    this.had.set(this.told.rate);
    // Two reports in one instant are one report.
    const weight = 1 - Math.exp(-seconds / USAGE_SECONDS);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const before = this.#admitted[dimension];
      const now = Math.max(before, counts[dimension]);
      isLower ||= now > counts[dimension];
      if (seconds > 0) {
        const usage = this.usage[dimension];
        this.usage[dimension] = usage + weight * ((now - before) / seconds - usage);
        this.#admitted[dimension] = now;
      }
      this.#settleDemand(dimension, 1 - weight);
    }
    if (seconds > 0) [this.#toldMs, this.#reportedEverySeconds] = [nowMs, seconds];
    return isLower;
  }

  /**
   * By how much its claim may grow with one report: one that reports seldom catches up with those that report often,
   * if it has used what it was told, which a moment in which it was held back by chance does not show.
   */
  get growth(): number {
    const isUsedUp = this.usage.some((usage, dimension) => usage >= USED_UP * this.told.rate[dimension]);
    const doublings = this.#reportedEverySeconds / DOUBLED_EVERY_SECONDS - 1;
    return isUsedUp ? 2 ** Math.min(DOUBLINGS_MAX, Math.max(0, doublings)) : 1;
  }

  /** What is to be charged now, whole units per dimension; read it at once. */
  due(nowMs: number): Float64Array {
    const seconds = (nowMs - this.#toldMs) / 1000;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const presumed = this.#admitted[dimension] + seconds * this.#presumedRate(dimension);
      const charged = this.#charged[dimension];
      const units = Math.max(0, Math.floor(presumed - charged));
      due[dimension] = Math.min(CHARGE_MAX, units);
      this.#charged[dimension] = charged + units;
    }
    return due;
  }

  /** Who is not held back wants no more than it was told to admit. @param kept of what the demand exceeds the usage */
  #settleDemand(dimension: number, kept: number): void {
    const usage = this.usage[dimension];
    const wanted = Math.min(this.demand[dimension], this.told.rate[dimension]);
    const excess = this.isHeldBack ? 0 : Math.max(0, wanted - usage);
    this.demand[dimension] = usage + kept * excess;
  }

  /** What is held back admits all that it was told to. */
  #presumedRate(dimension: number): number {
    const rate = this.told.isKnown ? this.told.rate[dimension] : 0;
    const usage = this.usage[dimension];
    return this.isHeldBack && usage > HELD_BY_PART * rate ? Math.min(rate, 2 * usage) : Math.min(usage, rate);
  }
}

/** Units since the life began, per dimension. */
export type Counts = readonly [messages: number, bytes: number];

const USAGE_SECONDS = 0.5;
/** In whole units, so that little is used up sooner. */
const USED_UP = 0.9;
const DOUBLED_EVERY_SECONDS = 0.1;
/** From the least claim to an equal part. */
const DOUBLINGS_MAX = 4;
/** A dimension that is used less than this is not what holds the work back. */
const HELD_BY_PART = 0.5;
/**
 * Keeps sums exact (limiter.ts). What is above it at once (a terabyte between two looks) is let off, as a lane forgives
 * all but `debtMs` of its limit anyway: charged piece by piece, one wrong count would block the lane for minutes.
 */
const CHARGE_MAX = 2 ** 40;

/** Scratch. */
const due = new Float64Array(DIMENSION_COUNT);
