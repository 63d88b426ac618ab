import { GATES } from '../../core/base/local-gate.js';
import { type AnswerOf, listOf, number, oneOf, perDirection, record, text, yes } from './answer-table.js';
import {
  AMOUNTS,
  BINDING,
  BUDGET_NOW,
  CLUSTER_BUCKET,
  QUOTA,
  RAMP_NOW,
  RATE_STATUS,
  RATES,
  REFUSED_BECAUSE,
  RULE,
  SHADOW_DIRECTION,
  SLOTS_NOW,
  STRICT_NOW,
} from './node-status.js';

export type { RefusalCount, RefusalReason } from './node-status.js';

const ZONE_EXPLANATION = { zone: text, backend: text, rate: number };
export interface ZoneExplanation extends AnswerOf<typeof ZONE_EXPLANATION> {}

const ZONE = record<ZoneExplanation>(ZONE_EXPLANATION);
const LIMITING_EXPLANATION = {
  mode: text,
  split: text,
  rate: number.nullable(),
  /** Messages/s that backends never take away. */
  minimum: number,
  /** Zone and backend that decide; null = nothing limits. */
  deciding: ZONE.nullable(),
  leftOut: listOf(ZONE),
  backends: listOf(record({ backend: text, zone: text, throttlingRatio: number.nullable(), costPerSecond: number })),
};
export interface LimitingExplanation extends AnswerOf<typeof LIMITING_EXPLANATION> {}

const LOCAL_EXPLANATION = {
  served: yes,
  link: text,
  share: RATES,
  /** Units in the bucket now. */
  tokens: AMOUNTS,
  /** Whole units and milliseconds, as in answers (`remaining`, `resetMs`). */
  remaining: AMOUNTS,
  resetMs: AMOUNTS,
  /** Units that let a larger request pass, which owes the rest; null = unlimited, or nothing passes. */
  depth: AMOUNTS,
  /** Units/s that come back if nobody else takes any; null = unlimited. */
  comesBack: RATES,
  /** Milliseconds of a window, which never grants more than it holds; 0 = a bucket. */
  windowMs: number,
  refusals: number,
  refusedMessages: number,
  refusedBytes: number,
  /** Refusals by level, dimension and reason, the newest first. */
  refusedBecause: REFUSED_BECAUSE,
};
export interface LocalExplanation extends AnswerOf<typeof LOCAL_EXPLANATION> {}

const DIRECTION_EXPLANATION = {
  quota: record({ ...RATE_STATUS, costPerSecond: number.nullable(), reservedCostPerSecond: number }),
  quotaAsWritten: QUOTA.quotaAsWritten,
  /** Sums over all nodes, as last published. */
  usage: RATES,
  demand: RATES,
  cost: record({
    transactionsPerSecond: number,
    costPerSecond: number,
    /** Cost units per message; expectedCost until costs are reported. */
    average: number,
    expected: number,
  }),
  reserved: number,
  desired: number.nullable(),
  limiting: record<LimitingExplanation>(LIMITING_EXPLANATION),
  /** Target in messages/s; report-only does not enforce it. */
  target: number.nullable(),
  binding: BINDING,
  busy: yes,
  /** Ceiling over the target while it climbs; null = none. */
  ramp: RAMP_NOW,
  inForce: RATES,
  shareSum: RATES,
  /** Null where each node has a gate; where the direction is unused here. */
  clusterBucket: CLUSTER_BUCKET,
  /** Strict bucket, which decides alone; null = none. */
  strict: STRICT_NOW,
  local: record<LocalExplanation>(LOCAL_EXPLANATION),
  /** Answers of the group's shadow; null = it has none. */
  shadow: SHADOW_DIRECTION.nullable(),
};
/** Rates per second, null = unlimited; costs in cost units. */
export interface DirectionExplanation extends AnswerOf<typeof DIRECTION_EXPLANATION> {}

export const GROUP_EXPLANATION = {
  group: text,
  node: text,
  strategy: text,
  /** Rule of Envoy that it was made of; null = it was made of none. */
  rule: RULE,
  /** Setting for which each node has a gate on its own share; null = the cluster has a bucket. */
  gate: oneOf(GATES).nullable().meta({
    description: 'The setting for which each node has a gate on its own share; null = the cluster has a bucket.',
  }),
  /** Slots, which are taken before tokens; null = the group limits no concurrency. */
  slots: SLOTS_NOW,
  /** Budget, which both directions are charged to; null = the group has none. */
  budget: BUDGET_NOW,
  directions: perDirection(record<DirectionExplanation>(DIRECTION_EXPLANATION)),
};
/** Explains a group's limits: every input of the decision, in the order of use. */
export interface GroupExplanation extends AnswerOf<typeof GROUP_EXPLANATION> {}
