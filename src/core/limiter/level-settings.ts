import type { LimiterKind, TopicSplitName } from '../base/settings.js';
import { BYTES, DIRECTION_COUNT, DIRECTIONS, type Direction, MESSAGES, type Rates } from '../base/vocabulary.js';
import { STRATEGIES } from '../convergence/strategies.js';
import { Buckets } from './buckets.js';
import { gateDepth } from './burst.js';
import { GATE_BURST_MS } from './constants.js';
import { KeyedBuckets } from './keyed-buckets.js';
import { SPLIT_STRATEGY, type SplitRule } from './topic-split.js';

/** Limit of every single topic or client on this node. */
export interface KeyedLimit extends Readonly<Record<Direction, Rates>> {
  /** Most topics or clients in use at once, per direction. */
  readonly max: number;
}

/** Configuration of a group beside its quota. */
export interface GroupLevels {
  readonly topics: TopicSplitName;
  readonly perTopic: KeyedLimit;
  readonly perClient: KeyedLimit;
  readonly floorRatio: number;
  readonly limiter: LimiterKind;
  readonly windowMs: number;
  /** shadow = the group decides, and refuses nothing; absent = enforce. */
  readonly mode?: 'enforce' | 'shadow';
  /** Another group that is asked too and refuses nothing; null and absent = none. */
  readonly shadow?: object | null;
}

export interface NodeLimit extends Readonly<Record<Direction, Rates>> {
  readonly burstMs: number;
}

export function hasLimit(rates: Rates): boolean {
  return rates.some((perSecond) => perSecond !== Infinity);
}

export function hasLevels(group: GroupLevels, direction: number): boolean {
  const name = DIRECTIONS[direction];
  return group.topics !== 'shared' || hasLimit(group.perTopic[name]) || hasLimit(group.perClient[name]);
}

/** Depths in units of a limit that is no group's share (burst.ts). */
function depthsOf(rates: Rates, burstMs: number): Rates {
  const depth = (perSecond: number) =>
    perSecond === Infinity ? perSecond : Math.max(1, gateDepth(perSecond, 1, perSecond, burstMs));
  return [depth(rates[0]), depth(rates[1])];
}

export function splitRuleOf(group: GroupLevels): SplitRule | null {
  if (group.topics === 'shared') return null;
  const strategy = STRATEGIES[SPLIT_STRATEGY[group.topics]];
  return { strategy, max: group.perTopic.max, floorRatio: group.floorRatio };
}

export function nodeBuckets(limit: NodeLimit, nowMs: number): Buckets | null {
  if (!DIRECTIONS.some((direction) => hasLimit(limit[direction]))) return null;
  const buckets = new Buckets(DIRECTION_COUNT);
  DIRECTIONS.forEach((direction, row) => {
    const rates = limit[direction];
    const depths = depthsOf(rates, limit.burstMs);
    for (const dimension of [MESSAGES, BYTES] as const) {
      buckets.setLimit(row, dimension, rates[dimension], depths[dimension], nowMs);
    }
    buckets.fill(row, nowMs);
  });
  return buckets;
}

export function keyedOf(limit: KeyedLimit, direction: Direction): KeyedBuckets | null {
  const rates = limit[direction];
  return hasLimit(rates) ? new KeyedBuckets(limit.max, rates, depthsOf(rates, GATE_BURST_MS)) : null;
}
