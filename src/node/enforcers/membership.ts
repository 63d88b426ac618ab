import { DIMENSION_COUNT } from '../../core/base/vocabulary.js';

/** Part of a lane: units/s (Infinity = unlimited), and units of depth. */
export interface Part {
  readonly rate: Float64Array;
  readonly depth: Float64Array;
  isKnown: boolean;
}

export function createPart(): Part {
  return { rate: new Float64Array(DIMENSION_COUNT), depth: new Float64Array(DIMENSION_COUNT), isKnown: false };
}

/** One enforcer in one lane, as lane-parts.ts divides and charges it. */
export interface LaneMember {
  readonly lane: number;
  readonly group: string;
  readonly part: Part;
  readonly answered: Part;
  /** False = the demand is raised while work is held back. */
  readonly isDemandKnown: boolean;
  isHeldBack: boolean;
  topics: number;
  readonly had: Float64Array;
  readonly growth: number;
  readonly usage: Float64Array;
  readonly demand: Float64Array;
  take(admitted: Counts, isHeldBack: boolean, nowMs: number, offered?: Counts): boolean;
  due(nowMs: number, isShared: boolean): Float64Array;
}

/**
 * Follows one enforcer in one lane: its reports, charges and part. Between reports it is charged for what it presumably
 * admits, so that the bucket sees a flow; the next report corrects that. A charge never falls: an excess is set off
 * against what comes next.
 */
export class EnforcerMembership implements LaneMember {
  readonly lane: number;
  readonly group: string;
  readonly part = createPart();
  readonly answered = createPart();
  readonly isDemandKnown = false;
  isHeldBack = false;
  topics = 0;
  /** Rate it had at its last word on held-back work; doubling later parts would claim twice the lack. */
  readonly had = new Float64Array(DIMENSION_COUNT);
  /** Units/s, mean of about the last half second. */
  readonly usage = new Float64Array(DIMENSION_COUNT);
  /**
   * Units/s that it wants, raised while work is held back (lane-parts.ts). Falls to the usage as slowly as that is
   * measured: at once, it would lose the part that had just sufficed.
   */
  readonly demand = new Float64Array(DIMENSION_COUNT);
  /** Units since the life began, as reported and as charged. */
  readonly #admitted: Float64Array;
  readonly #charged: Float64Array;
  #reportedMs: number;
  #reportedEverySeconds = 0;

  /** Charges nothing for a life's first counts: an earlier process charged them. */
  constructor(lane: number, group: string, counts: Counts, nowMs: number) {
    this.lane = lane;
    this.group = group;
    this.#admitted = Float64Array.of(...counts);
    this.#charged = Float64Array.of(...counts);
    this.#reportedMs = nowMs;
  }

  /** Takes counts; returns true if any are lower, those of a request that others have overtaken. */
  take(counts: Counts, isHeldBack: boolean, nowMs: number): boolean {
    const seconds = (nowMs - this.#reportedMs) / 1000;
    let isLower = false;
    this.isHeldBack = isHeldBack;
    this.had.set(this.answered.rate);
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
    if (seconds > 0) [this.#reportedMs, this.#reportedEverySeconds] = [nowMs, seconds];
    return isLower;
  }

  /** Largest growth of its claim by one report; one that reports seldom catches up, if it has used its part. */
  get growth(): number {
    const isUsedUp = this.usage.some((usage, dimension) => usage >= USED_UP * this.answered.rate[dimension]);
    const doublings = this.#reportedEverySeconds / DOUBLED_EVERY_SECONDS - 1;
    return isUsedUp ? 2 ** Math.min(DOUBLINGS_MAX, Math.max(0, doublings)) : 1;
  }

  /** Returns whole units to charge now per dimension; read it at once. */
  due(nowMs: number): Float64Array {
    const seconds = (nowMs - this.#reportedMs) / 1000;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const presumed = this.#admitted[dimension] + seconds * this.#presumedRate(dimension);
      const charged = this.#charged[dimension];
      const units = Math.max(0, Math.floor(presumed - charged));
      due[dimension] = Math.min(CHARGE_MAX, units);
      this.#charged[dimension] = charged + units;
    }
    return due;
  }

  /** Bounds the demand by its part unless held back. @param kept of what the demand exceeds the usage */
  #settleDemand(dimension: number, kept: number): void {
    const usage = this.usage[dimension];
    const wanted = Math.min(this.demand[dimension], this.answered.rate[dimension]);
    const excess = this.isHeldBack ? 0 : Math.max(0, wanted - usage);
    this.demand[dimension] = usage + kept * excess;
  }

  /** Returns the presumed rate; held back, all of its part. */
  #presumedRate(dimension: number): number {
    const rate = this.answered.isKnown ? this.answered.rate[dimension] : 0;
    const usage = this.usage[dimension];
    return this.isHeldBack && usage > HELD_BY_PART * rate ? Math.min(rate, 2 * usage) : Math.min(usage, rate);
  }
}

/** Units since the life began, per dimension. */
export type Counts = readonly [messages: number, bytes: number];

const USAGE_SECONDS = 0.5;
/** Part that counts as used up, in whole units. */
const USED_UP = 0.9;
const DOUBLED_EVERY_SECONDS = 0.1;
/** Doublings from the least claim to an equal part. */
const DOUBLINGS_MAX = 4;
/** Part below which a dimension does not hold the work back. */
const HELD_BY_PART = 0.5;
/** Most units per charge; more at once is let off, or one wrong count would block the lane for minutes. */
export const CHARGE_MAX = 2 ** 40;

const due = new Float64Array(DIMENSION_COUNT);
