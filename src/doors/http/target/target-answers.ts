import { z } from 'zod';
import { GATES } from '../../../core/base/local-gate.js';
import {
  BINDINGS,
  CLUSTER_BUCKET,
  json,
  listOf,
  number,
  QUOTA_AS_WRITTEN,
  RAMP_STATUS,
  RATES,
  REFUSED_BECAUSE,
  record,
  SHADOW_DIRECTION,
  text,
  yes,
} from '../route/answer-schemas.js';

export const BINDING = z.enum(BINDINGS);

export const ACCEPTED = json('The report is accepted.', record({ accepted: z.literal(true) }));

export const FACTORS = json(
  'Equal for all nodes of a cluster.',
  record({ readPageBytes: number, writePageBytes: number, writeFactor: number }),
);

const BUSY_GROUP = record({ group: text, direction: text, costPerSecond: number, busyness: number });

export const BACKEND = record({
  backend: text,
  zone: text,
  throttlingRatio: number.nullable(),
  level: number.nullable(),
  target: number.nullable(),
  spring: number.nullable(),
  silent: yes,
  heardAgoMs: number,
  costPerSecond: number,
  busiestGroups: listOf(BUSY_GROUP),
});

export const BACKENDS = json('The backends, each with its name.', record({ backends: listOf(BACKEND) }));

const ZONE = record({ zone: text, backend: text, rate: number });

const LIMITING = record({
  mode: text,
  split: text,
  rate: number.nullable(),
  minimum: number,
  deciding: ZONE.nullable(),
  leftOut: listOf(ZONE),
  backends: listOf(record({ backend: text, zone: text, throttlingRatio: number.nullable(), costPerSecond: number })),
});

const DIRECTION = record({
  quota: record({
    ...RATES.shape,
    costPerSecond: number.nullable(),
    reservedCostPerSecond: number,
  }),
  quotaAsWritten: QUOTA_AS_WRITTEN,
  usage: RATES,
  demand: RATES,
  cost: record({ transactionsPerSecond: number, costPerSecond: number, average: number, expected: number }),
  reserved: number,
  desired: number.nullable(),
  limiting: LIMITING,
  target: number.nullable(),
  binding: BINDING,
  busy: yes,
  ramp: RAMP_STATUS,
  inForce: RATES,
  shareSum: RATES,
  clusterBucket: CLUSTER_BUCKET,
  local: record({
    served: yes,
    link: text,
    share: RATES,
    limit: RATES,
    tokens: record({ messages: number.nullable(), bytes: number.nullable() }),
    remaining: record({ messages: number.nullable(), bytes: number.nullable() }),
    resetMs: record({ messages: number.nullable(), bytes: number.nullable() }),
    depth: record({ messages: number.nullable(), bytes: number.nullable() }),
    comesBack: RATES,
    windowMs: number,
    refusals: number,
    refusedMessages: number,
    refusedBytes: number,
    refusedBecause: REFUSED_BECAUSE,
  }),
  shadow: SHADOW_DIRECTION.nullable(),
});

export const EXPLAINED = record({
  group: text,
  node: text,
  strategy: text,
  gate: z.enum(GATES).nullable().meta({
    description: 'The setting for which each node has a gate on its own share; null = the cluster has a bucket.',
  }),
  directions: record({ publish: DIRECTION, dispatch: DIRECTION }),
});

export const EXPLANATION = json('The decision in force for a group, and what it follows from.', EXPLAINED);
