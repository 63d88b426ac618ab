import { grown } from '../base/grown.js';
import { windowMsOf } from '../base/settings.js';
import { BYTES, DIMENSION_COUNT, DIRECTION_COUNT, laneOf, MESSAGES, slotOf } from '../base/vocabulary.js';
import type { Buckets } from './buckets.js';
import { KEYED_IDLE_MS, SWEEP_EVERY_MS, SWEPT_ROWS } from './constants.js';
import type { Hold } from './held-tokens.js';
import { changedLevels, type LaneLevels, laneLevelsOf, NO_LEVELS } from './lane-levels.js';
import { type GroupLevels, hasLevels, type NodeLimit, nodeBuckets } from './level-settings.js';
import { GRANTED, type Limiter, REFUSED, UNCONFIRMED } from './limiter.js';
import type { TokenRequest } from './token-request.js';

/** Levels in the order of the answers: REFUSED + 2 · level + dimension; the group's is the limiter's. */
export const LEVELS = ['group', 'node', 'topic', 'client'] as const;
export type Level = (typeof LEVELS)[number];
/** Answers where no row is left for another topic or client. */
export const TOPICS_FULL = -1;
export const CLIENTS_FULL = -2;

/** Bits of `beside`. */
export const OTHER_LEVELS = 1;
export const IS_SHADOW = 2;
export const HAS_SHADOW = 4;
export const IS_STRICT = 8;
export const HAS_SLOTS = 16;
export const HAS_BUDGET = 32;

/** Level and dimension of a refusal by one of the levels. */
export function refusedBy(answer: number): { readonly level: Level; readonly dimension: number } {
  const level = LEVELS[Math.floor((answer - REFUSED) / DIMENSION_COUNT)];
  return { level, dimension: (answer - REFUSED) % DIMENSION_COUNT };
}

/** Tests if a limit of one topic or client has refused. */
export function isOwnLimit(answer: number): boolean {
  return answer >= FIRST_OWN_LIMIT;
}

const FIRST_OWN_LIMIT = REFUSED + LEVELS.indexOf('topic') * DIMENSION_COUNT;

/**
 * Bounds work by node, group, topic and client at once (PIP-322): all levels are tested before any is charged, so that
 * a refusal costs nothing anywhere. Lanes without such limits never come here (`beside`).
 *
 * Work that a fixed limit refuses (node, topic, client) is not demand of the group, because a larger share would not
 * admit it. Work that a topic's part of the share refuses is demand.
 */
export class Levels {
  /**
   * Bits per lane; 0 = the group alone decides. OTHER_LEVELS: other levels decide, too. IS_SHADOW: the group refuses
   * nothing. HAS_SHADOW: another group that refuses nothing is asked. IS_STRICT: a strict bucket decides. HAS_SLOTS:
   * requests enter, and hold a slot. HAS_BUDGET: a budget decides, too.
   */
  beside: Uint8Array;
  /** Refusals per level since creation, except those by the group's own limit. */
  readonly refusals = new Float64Array(LEVELS.length);
  readonly #limiter: Limiter;
  readonly #groups: readonly GroupLevels[];
  readonly #node: Buckets | null;
  readonly #lanes = new Map<number, LaneLevels>();
  readonly #limit: [number, number] = [0, 0];
  /** Rows of the request at hand; −1 where there is no such level. */
  #at: LaneLevels = NO_LEVELS;
  #topicRow = -1;
  #clientRow = -1;
  #splitRow = -1;
  #sweptMs = -Infinity;

  constructor(limiter: Limiter, groups: readonly GroupLevels[], node: NodeLimit, nowMs: number) {
    this.#limiter = limiter;
    this.#groups = groups;
    this.#node = nodeBuckets(node, nowMs);
    this.beside = new Uint8Array(limiter.laneCount);
    groups.forEach((_, group) => {
      this.#lookAt(group);
    });
  }

  /** Called when a group is new or its limits have changed. The limiter has its rows by then. */
  groupChanged(group: number, nowMs: number): void {
    const { laneCount } = this.#limiter;
    if (this.beside.length < laneCount) this.beside = grown(this.beside, laneCount);
    this.#lookAt(group);
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      const lane = laneOf(group, direction);
      this.#limiter.buckets.setWindow(lane, windowMsOf(this.#groups[group]), nowMs);
      const before = this.#lanes.get(lane);
      if (before === undefined) continue;
      this.#lanes.set(lane, changedLevels(before, this.#begin(lane), nowMs));
    }
  }

  #lookAt(group: number): void {
    const settings = this.#groups[group];
    const shadows =
      (settings.mode === 'shadow' ? IS_SHADOW : 0) | ((settings.shadow ?? null) === null ? 0 : HAS_SHADOW);
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      const isUsed = this.#node !== null || hasLevels(settings, direction);
      this.beside[laneOf(group, direction)] = shadows | (isUsed ? OTHER_LEVELS : 0);
    }
  }

  /** Takes from every level or from none. */
  tryAcquire(request: TokenRequest, nowMs: number): number {
    const { lane, messages, bytes, retry } = request;
    if (nowMs > this.#limiter.validUntilMs.at(lane)) return UNCONFIRMED;
    const others = this.#tryOthers(request, nowMs);
    if (others !== GRANTED) return others;
    const answer = this.#limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    if (answer === GRANTED) this.#takeOthers(request);
    return answer;
  }

  /** Reserves like `tryAcquire`, for work whose cost is known later. End the `holds` before you call `settle`. */
  reserve(request: TokenRequest, nowMs: number, holds: Hold[] | null): number {
    const { lane, messages, bytes } = request;
    if (nowMs > this.#limiter.validUntilMs.at(lane)) return UNCONFIRMED;
    const others = this.#tryOthers(request, nowMs);
    if (others !== GRANTED) return others;
    const answer = this.#limiter.reserve(lane, messages, bytes, nowMs, request.retry);
    if (answer !== GRANTED) return answer;
    this.#takeOthers(request);
    if (holds === null) return answer;
    holds.push(this.#limiter.buckets.hold(lane, messages, bytes));
    this.#each(request, (buckets, row) => holds.push(buckets.hold(row, messages, bytes)));
    return answer;
  }

  /** Undoes a `reserve` of the same instant. */
  putBack(request: TokenRequest): void {
    this.#find(request);
    this.#limiter.buckets.putBack(request.lane, request.messages, request.bytes);
    this.#limiter.endReserved(request.lane, request.messages, request.bytes);
    this.#each(request, (buckets, row) => {
      buckets.putBack(row, request.messages, request.bytes);
    });
  }

  /** Tests if every level would grant this now. Takes nothing, counts nothing, makes no rows. */
  containsTokens(request: TokenRequest, nowMs: number): boolean {
    const { lane, messages, bytes } = request;
    if (!this.#limiter.containsTokens(lane, messages, bytes, nowMs)) return false;
    this.#find(request);
    return this.#each(request, (buckets, row) => {
      buckets.refill(row, nowMs);
      return buckets.refusedBy(row, messages, bytes) === -1;
    });
  }

  /** Charges every level for work that cannot be refused. */
  consume(request: TokenRequest, debtMs: number, nowMs: number): void {
    this.#make(request, nowMs);
    this.#limiter.consume(request.lane, request.messages, request.bytes, debtMs, nowMs);
    this.#charge(request, request.messages, request.bytes, { debtMs, nowMs });
    if (this.#splitRow === -1) return;
    this.#at.split!.countAttempt(this.#splitRow, request.messages, request.bytes);
    this.#at.split!.countAdmission(this.#splitRow, request.messages, request.bytes);
  }

  /** Counts the cost of reserved work. Charges its excess over the reservation in every level. */
  settle(request: TokenRequest, messages: number, bytes: number, debtMs: number, nowMs: number): void {
    this.#make(request, nowMs);
    const more = [Math.max(0, messages - request.messages), Math.max(0, bytes - request.bytes)] as const;
    if (more[0] > 0 || more[1] > 0) this.#limiter.chargeUnrefused(request.lane, more[0], more[1], debtMs, nowMs);
    this.#limiter.endReserved(request.lane, request.messages, request.bytes, messages, bytes);
    if (messages > 0 || bytes > 0) this.#limiter.countSettled(request.lane, messages, bytes, request.retry);
    this.#charge(request, more[0], more[1], { debtMs, nowMs });
  }

  /** Milliseconds until all levels could grant this; Infinity while one of them is blocked. */
  waitMs(request: TokenRequest, nowMs: number): number {
    const { lane, messages, bytes } = request;
    this.#find(request);
    let waitMs = this.#limiter.buckets.waitMs(lane, messages, bytes, nowMs);
    this.#each(request, (buckets, row) => {
      waitMs = Math.max(waitMs, buckets.waitMs(row, messages, bytes, nowMs));
    });
    return waitMs;
  }

  /** Milliseconds until a useful amount is back in every level. */
  throttleMs(request: TokenRequest, nowMs: number): number {
    this.#find(request);
    let waitMs = this.#limiter.buckets.throttleMs(request.lane, nowMs);
    this.#each(request, (buckets, row) => {
      waitMs = Math.max(waitMs, buckets.throttleMs(row, nowMs));
    });
    return waitMs;
  }

  /** Tokens of the level that has the fewest, ≥ 0; Infinity where nothing limits. */
  available(request: TokenRequest, dimension: number, nowMs: number): number {
    this.#find(request);
    let least = this.#limiter.available(request.lane, dimension, nowMs);
    this.#each(request, (buckets, row) => {
      least = Math.min(least, buckets.available(row, dimension, nowMs));
    });
    return least;
  }

  /** Divides the shares over their topics, and drops idle rows; called every round. */
  keep(nowMs: number): void {
    const sweep = nowMs - this.#sweptMs >= SWEEP_EVERY_MS;
    if (sweep) this.#sweptMs = nowMs;
    for (const [lane, { perTopic, perClient, split }] of this.#lanes) {
      split?.divide(this.#limitOf(lane), nowMs);
      if (!sweep) continue;
      split?.keyed.sweep(nowMs, KEYED_IDLE_MS, SWEPT_ROWS);
      perTopic?.sweep(nowMs, KEYED_IDLE_MS, SWEPT_ROWS);
      perClient?.sweep(nowMs, KEYED_IDLE_MS, SWEPT_ROWS);
    }
  }

  /** The bound on rows that causes the answer TOPICS_FULL or CLIENTS_FULL. */
  maxOf(lane: number, level: Level): number {
    const group = this.#groups[Math.floor(lane / DIRECTION_COUNT)];
    return level === 'client' ? group.perClient.max : group.perTopic.max;
  }

  #tryOthers(request: TokenRequest, nowMs: number): number {
    const { lane, messages, bytes, retry } = request;
    const made = this.#make(request, nowMs);
    if (made !== GRANTED) return made;
    const { perTopic, perClient, split } = this.#at;
    let answer = GRANTED;
    const node = this.#nodeFor(request);
    if (node !== null) answer = this.#tryLevel(1, node, lane % DIRECTION_COUNT, request, nowMs);
    if (answer === GRANTED && perTopic !== null) {
      answer = this.#tryLevel(2, perTopic.buckets, this.#topicRow, request, nowMs);
    }
    if (answer === GRANTED && perClient !== null) {
      answer = this.#tryLevel(3, perClient.buckets, this.#clientRow, request, nowMs);
    }
    if (answer !== GRANTED || split === null) return answer;
    if (!retry) split.countAttempt(this.#splitRow, messages, bytes);
    answer = this.#tryLevel(2, split.keyed.buckets, this.#splitRow, request, nowMs);
    if (answer !== GRANTED) this.#limiter.countRefused(lane, messages, bytes, retry);
    return answer;
  }

  #tryLevel(level: number, buckets: Buckets, row: number, request: TokenRequest, nowMs: number): number {
    const { lane, messages, bytes } = request;
    buckets.refill(row, nowMs);
    const refusedBy = buckets.refusedBy(row, messages, bytes);
    if (refusedBy === -1) return GRANTED;
    // Refusals by a shadow are not counted.
    if ((this.beside[lane] & IS_SHADOW) === 0) this.refusals[level] = this.refusals[level] + 1;
    return REFUSED + level * DIMENSION_COUNT + refusedBy;
  }

  #takeOthers(request: TokenRequest): void {
    const { lane, messages, bytes } = request;
    const { perTopic, perClient, split } = this.#at;
    this.#nodeFor(request)?.take(lane % DIRECTION_COUNT, messages, bytes);
    perTopic?.buckets.take(this.#topicRow, messages, bytes);
    perClient?.buckets.take(this.#clientRow, messages, bytes);
    if (split === null) return;
    split.keyed.buckets.take(this.#splitRow, messages, bytes);
    split.countAdmission(this.#splitRow, messages, bytes);
  }

  #charge(request: TokenRequest, messages: number, bytes: number, when: { debtMs: number; nowMs: number }): void {
    this.#each(request, (buckets, row) => {
      buckets.charge(row, messages, bytes, when.debtMs, when.nowMs);
    });
  }

  /** Calls `visit` for every level but the group's; stops at the first false, and returns it. */
  #each(request: TokenRequest, visit: (buckets: Buckets, row: number) => unknown): boolean {
    const { perTopic, perClient, split } = this.#at;
    const node = this.#nodeFor(request);
    if (node !== null && visit(node, request.lane % DIRECTION_COUNT) === false) return false;
    if (this.#topicRow !== -1 && visit(perTopic!.buckets, this.#topicRow) === false) return false;
    if (this.#clientRow !== -1 && visit(perClient!.buckets, this.#clientRow) === false) return false;
    return this.#splitRow === -1 || visit(split!.keyed.buckets, this.#splitRow) !== false;
  }

  #nodeFor({ isFurther }: TokenRequest): Buckets | null {
    return isFurther === true ? null : this.#node;
  }

  /** Finds the rows of the request, without making any. */
  #find({ lane, topic, client }: TokenRequest): void {
    this.#at = this.#lanes.get(lane) ?? NO_LEVELS;
    this.#topicRow = this.#at.perTopic?.find(topic) ?? -1;
    this.#clientRow = this.#at.perClient?.find(client) ?? -1;
    this.#splitRow = this.#at.split?.keyed.find(topic) ?? -1;
  }

  /** Finds the rows of the request, and makes those that are missing. */
  #make({ lane, topic, client }: TokenRequest, nowMs: number): number {
    this.#at = this.#lanes.get(lane) ?? this.#begin(lane);
    const { perTopic, perClient, split } = this.#at;
    this.#topicRow = perTopic?.rowOf(topic, nowMs) ?? -1;
    this.#clientRow = perClient?.rowOf(client, nowMs) ?? -1;
    this.#splitRow = split?.rowOf(topic, this.#limitOf(lane), nowMs) ?? -1;
    if ((perTopic !== null && this.#topicRow === -1) || (split !== null && this.#splitRow === -1)) return TOPICS_FULL;
    return perClient !== null && this.#clientRow === -1 ? CLIENTS_FULL : GRANTED;
  }

  #begin(lane: number): LaneLevels {
    const levels = laneLevelsOf(this.#groups[Math.floor(lane / DIRECTION_COUNT)], lane % DIRECTION_COUNT);
    this.#lanes.set(lane, levels);
    return levels;
  }

  #limitOf(lane: number): readonly [number, number] {
    const { buckets } = this.#limiter;
    for (const dimension of [MESSAGES, BYTES] as const) {
      const slot = slotOf(lane, dimension);
      const unlimited = buckets.depth.at(slot) === Infinity;
      this.#limit[dimension] = unlimited ? Infinity : buckets.comesBackAt(slot);
    }
    return this.#limit;
  }
}
