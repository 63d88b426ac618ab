import { grown } from '../base/grown.js';
import type { TopicSplitName } from '../base/settings.js';
import { DIMENSION_COUNT, type Rates, slotOf, UNLIMITED } from '../base/vocabulary.js';
import { createLaneView, type LaneView, type Strategy } from '../convergence/strategy.js';
import { gateDepth } from './burst.js';
import { DIVIDE_EVERY_MS, DIVIDED_RATIO, MET_DEMAND_RATIO, TOPIC_AVERAGE_MS, TOPIC_NOISE_RATIO } from './constants.js';
import { KeyedBuckets } from './keyed-buckets.js';

/** Strategies that divide a share. PIP-82's "evenly" wastes what a quiet topic leaves; max-min divides that, too. */
export const SPLIT_STRATEGY: Readonly<Record<Exclude<TopicSplitName, 'shared'>, string>> = {
  even: 'max-min',
  proportional: 'proportional',
};

export interface SplitRule {
  readonly strategy: Strategy;
  readonly max: number;
  readonly floorRatio: number;
}

/**
 * Divides one lane's limit on this node over the topics used here. It uses the strategies of the cluster, with a topic
 * in the role of a node. The lane's own bucket still bounds the sum; the topics' buckets keep any topic from starving
 * the others.
 *
 * A topic whose demand is met may take a quarter of it on top, so that noise in its arrivals is not refused. 2 % of the
 * lane's limit are not divided. Otherwise the lane's bucket would run dry at exactly the limit, and refuse whatever
 * comes next, from quiet topics as well. Worked: limit 1,000, demands 5,000 and 20 → divided 980: shares 960 and 20,
 * limits 960 and 25.
 *
 * Rates are averages over about half a second. Between two divisions a new topic gets an even part.
 */
export class TopicSplit {
  readonly keyed: KeyedBuckets;
  /** Units per slot of the topic since the last division: attempted for the first time, and admitted. */
  #attempted = new Float64Array(0);
  #admitted = new Float64Array(0);
  #demand = new Float64Array(0);
  #usage = new Float64Array(0);
  readonly rule: SplitRule;
  #view: LaneView = createLaneView(16);
  #rows: number[] = [];
  #dividedMs = -Infinity;

  constructor(rule: SplitRule) {
    this.rule = rule;
    this.keyed = new KeyedBuckets(rule.max, UNLIMITED, UNLIMITED);
  }

  /** Returns the row of a topic, or −1 at the bound. A new topic begins with an even part. */
  rowOf(topic: string, limit: Rates, nowMs: number): number {
    const known = this.keyed.find(topic);
    if (known !== -1) return this.keyed.rowOf(topic, nowMs);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const part = limit[dimension] / (this.keyed.size + 1);
      this.keyed.rates[dimension] = part;
      this.keyed.depths[dimension] = this.#depthOf(part, 1, part);
    }
    const row = this.keyed.rowOf(topic, nowMs);
    if (row !== -1) this.#begin(row);
    return row;
  }

  countAttempt(row: number, messages: number, bytes: number): void {
    add(this.#attempted, row, messages, bytes);
  }

  countAdmission(row: number, messages: number, bytes: number): void {
    add(this.#admitted, row, messages, bytes);
  }

  /** Divides `limit`, the lane's present one, anew if DIVIDE_EVERY_MS have passed. */
  divide(limit: Rates, nowMs: number): void {
    const elapsedMs = nowMs - this.#dividedMs;
    if (elapsedMs < DIVIDE_EVERY_MS || this.keyed.size === 0) return;
    this.#dividedMs = nowMs;
    this.#gather(limit, elapsedMs === Infinity ? TOPIC_AVERAGE_MS : elapsedMs);
    if (this.#rows.length === 0) return;
    this.rule.strategy.converge(this.#view);
    for (let at = 0; at < this.#rows.length; at++) this.#apply(at, nowMs);
  }

  #gather(limit: Rates, elapsedMs: number): void {
    const rows = this.#rows;
    rows.length = 0;
    for (let row = 0; row < this.keyed.rowCount; row++) if (this.keyed.nameOf(row) !== null) rows.push(row);
    if (this.#view.weight.length < rows.length) this.#view = createLaneView(rows.length * 2);
    const view = this.#view;
    view.count = rows.length;
    view.floorRatio = this.rule.floorRatio;
    view.weight.fill(1, 0, rows.length);
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      view.target[dimension] = limit[dimension] * DIVIDED_RATIO;
      const usage = view.usage[dimension];
      const demand = view.demand[dimension];
      for (let at = 0; at < rows.length; at++) {
        const slot = slotOf(rows[at], dimension);
        const used = follow(this.#usage, this.#admitted, slot, elapsedMs);
        usage[at] = used;
        demand[at] = Math.max(used, follow(this.#demand, this.#attempted, slot, elapsedMs));
      }
    }
  }

  #apply(at: number, nowMs: number): void {
    const row = this.#rows[at];
    const view = this.#view;
    const { share, demand } = view;
    let met = true;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      if (share[dimension][at] < demand[dimension][at] * MET_DEMAND_RATIO) met = false;
    }
    const messages = demand[0][at];
    const pieceSize = messages > 0 ? Math.max(1, demand[1][at] / messages) : 1;
    for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
      const target = view.target[dimension];
      const finite = target > 0 && target !== Infinity;
      const forNoise = met && finite ? TOPIC_NOISE_RATIO * demand[dimension][at] : 0;
      const perSecond = share[dimension][at] + forNoise;
      const depth = this.#depthOf(perSecond, dimension === 0 ? 1 : pieceSize, target / view.count);
      this.keyed.buckets.setLimit(row, dimension, perSecond, depth, nowMs);
    }
  }

  #depthOf(perSecond: number, pieceSize: number, equalShare: number): number {
    if (perSecond === Infinity) return perSecond;
    return Math.max(pieceSize, gateDepth(perSecond, pieceSize, equalShare));
  }

  /** Sets the counts of a new row to 0: another topic may have had it before. */
  #begin(row: number): void {
    const slots = slotOf(this.keyed.buckets.refilledMs.length, 0);
    if (this.#attempted.length < slots) {
      this.#attempted = grown(this.#attempted, slots);
      this.#admitted = grown(this.#admitted, slots);
      this.#demand = grown(this.#demand, slots);
      this.#usage = grown(this.#usage, slots);
    }
    for (const column of [this.#attempted, this.#admitted, this.#demand, this.#usage]) {
      column.fill(0, slotOf(row, 0), slotOf(row + 1, 0));
    }
  }
}

/** Moves an average towards the rate since the last division. Sets the count to 0. */
function follow(average: Float64Array, counts: Float64Array, slot: number, elapsedMs: number): number {
  const rate = (counts[slot] * 1000) / elapsedMs;
  counts[slot] = 0;
  const weight = Math.min(1, elapsedMs / TOPIC_AVERAGE_MS);
  const next = average[slot] + (rate - average[slot]) * weight;
  average[slot] = next;
  return next;
}

function add(column: Float64Array, row: number, messages: number, bytes: number): void {
  const first = slotOf(row, 0);
  column[first] = column[first] + messages;
  column[first + 1] = column[first + 1] + bytes;
}
