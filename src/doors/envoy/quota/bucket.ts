import { splitLimit } from '../../../core/account/parts/split-limit.js';
import type { Assignment } from './assignment.js';
import type { BucketId } from './bucket-id.js';

/** One bucket of a stream. */
export class Bucket {
  readonly id: BucketId;
  /** The id as a text (bucket-id.ts). */
  readonly text: string;
  target: Target = NO_TARGET;
  /** Null = it is limited by no lane. */
  use: LaneUse | null = null;
  /** The last assignment, and when it was told. */
  inForce: Assignment | null = null;
  toldMs = -Infinity;
  usedMs: number;
  /** Requests/s that came between the last two reports. */
  rate = 0;
  /** Part of what its lane is given. */
  part = 1;
  #came = 0;
  #countedMs: number;
  /** Longest milliseconds between its reports lately: each bucket may have an interval of its own. */
  #gapMs = 0;
  #reportedMs = -Infinity;

  constructor(id: BucketId, text: string, nowMs: number) {
    this.id = id;
    this.text = text;
    this.usedMs = nowMs;
    this.#countedMs = nowMs;
  }

  /** Tests if nothing has come for so long, or for some intervals. One report shows none. */
  isIdle(nowMs: number, idleMs: number): boolean {
    return nowMs - this.usedMs >= Math.max(idleMs, this.#gapMs === 0 ? GAP_MS_MOST : IDLE_GAPS * this.#gapMs);
  }

  count(came: number, nowMs: number): void {
    if (came > 0) this.usedMs = nowMs;
    if (this.#reportedMs > -Infinity) this.#gapMs = Math.max(nowMs - this.#reportedMs, GAP_KEPT * this.#gapMs);
    this.#reportedMs = nowMs;
    this.#came += came;
    const seconds = (nowMs - this.#countedMs) / 1000;
    if (seconds < RATE_SECONDS_LEAST) return;
    this.rate = this.#came / seconds;
    this.#came = 0;
    this.#countedMs = nowMs;
  }
}

/** Limits a bucket, or says why it is told nothing. */
export type Target =
  | { readonly kind: 'lane'; readonly lane: number }
  | { readonly kind: 'allow' | 'deny' }
  /** Nothing is assigned: the reason, for people. */
  | { readonly kind: 'none'; readonly reason: string };

/** Adds up a stream's buckets of one lane, since it began. */
export class LaneUse {
  readonly lane: number;
  readonly buckets = new Set<Bucket>();
  admitted = 0;
  offered = 0;
  /** True = the node has taken a report of it. */
  isMember = false;
  /** True = the report that is read now has denied requests. */
  isHeldBack = false;
  /** The moment of the last division; '' = a bucket alone. */
  #divided = '';

  constructor(lane: number) {
    this.lane = lane;
  }

  remove(bucket: Bucket): void {
    bucket.part = 1;
    this.buckets.delete(bucket);
    this.#divided = '';
  }

  /** Divides the lane among its buckets, by what came; once a moment. */
  divide(rate: number, nowMs: number): void {
    const count = this.buckets.size;
    const moment = `${rate} ${count} ${nowMs}`;
    if (count === 1 && this.#divided === '') return;
    if (moment === this.#divided) return;
    this.#divided = count === 1 ? '' : moment;
    const isWhole = count === 1 || rate === 0 || rate === Infinity;
    const parts = new Float64Array(count);
    if (!isWhole)
      splitLimit(
        parts,
        rate,
        Float64Array.from(this.buckets, (bucket) => bucket.rate),
        FLOOR_RATIO,
      );
    let at = 0;
    for (const bucket of this.buckets) bucket.part = isWhole ? 1 : parts[at++] / rate;
  }
}

const IDLE_GAPS = 2.5;
/** Longest interval of reports. */
const GAP_MS_MOST = 120_000;
/** Part of the longest gap that the next report leaves of it. */
export const GAP_KEPT = 0.8;
const NO_TARGET: Target = { kind: 'none', reason: '' };
/** Seconds between reports that show a rate. */
const RATE_SECONDS_LEAST = 0.5;
/** Part of an equal part that each bucket has, wanted or not. */
const FLOOR_RATIO = 0.06;
