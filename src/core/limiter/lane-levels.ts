import { DIRECTIONS } from '../base/vocabulary.js';
import type { KeyedBuckets } from './keyed-buckets.js';
import { type GroupLevels, keyedOf, splitRuleOf } from './level-settings.js';
import { TopicSplit } from './topic-split.js';

/** The levels of a lane beside the group and the node. */
export interface LaneLevels {
  readonly perTopic: KeyedBuckets | null;
  readonly perClient: KeyedBuckets | null;
  readonly split: TopicSplit | null;
}

export const NO_LEVELS: LaneLevels = { perTopic: null, perClient: null, split: null };

export function laneLevelsOf(group: GroupLevels, direction: number): LaneLevels {
  const name = DIRECTIONS[direction];
  const rule = splitRuleOf(group);
  return {
    perTopic: keyedOf(group.perTopic, name),
    perClient: keyedOf(group.perClient, name),
    split: rule === null ? null : new TopicSplit(rule),
  };
}

/**
 * Applies new limits. The rows of topics and clients keep their tokens and debts, under the new limits and the new
 * bound on their number. Only a new way to divide a share starts with new rows; the group's bucket bounds their sum.
 */
export function changedLevels(before: LaneLevels, now: LaneLevels, nowMs: number): LaneLevels {
  const splitStays = JSON.stringify(before.split?.rule) === JSON.stringify(now.split?.rule);
  return {
    perTopic: kept(before.perTopic, now.perTopic, nowMs),
    perClient: kept(before.perClient, now.perClient, nowMs),
    split: splitStays ? before.split : now.split,
  };
}

function kept(before: KeyedBuckets | null, now: KeyedBuckets | null, nowMs: number): KeyedBuckets | null {
  if (before === null || now === null) return now;
  before.max = now.max;
  before.setLimits(now.rates, now.depths, nowMs);
  return before;
}
