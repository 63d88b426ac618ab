import { z } from 'zod';
import { DIRECTIONS } from '../../../core/base/vocabulary.js';
import { COUNTS, count, json, listOf, number, record, text, yes } from '../route/answer-schemas.js';
import { BINDING } from '../target/target-answers.js';

export const MEMBER = record({
  nodeId: text,
  incarnation: count,
  state: z.enum(['alive', 'left', 'expired']),
  self: yes,
  silentMs: z.int(),
  version: text,
});

const TOPIC = record({
  kind: text,
  partitions: count,
  epoch: text.nullable(),
  epochChanges: count,
  lost: text.nullable(),
  offsets: listOf(z.int()),
  pendingAppends: count,
  counters: COUNTS,
});

const CONFIGURATION = record({
  source: text,
  taken: count,
  refused: count,
  refusedBecause: text.nullable(),
  needsRestart: listOf(text),
  differingGroups: count,
  differs: listOf(record({ group: text, nodes: listOf(text) })),
  hiddenByRunTime: count,
  hidden: listOf(text),
});

export const TEMPLATE = record({
  template: text,
  live: count,
  loud: count,
  made: count,
  forgotten: count,
  refused: count,
  overQuota: count,
  limitsRefused: count,
  granted: count,
});

const REGISTRY = record({
  enabled: yes,
  ready: yes,
  lost: text.nullable(),
  epoch: text.nullable(),
  epochChanges: count,
  offset: count,
  groups: count,
  refused: listOf(text),
  recordsIgnored: count,
});

const SIGNATURES = record({
  log: z.enum(['reports', 'registry']),
  keyId: text,
  mode: z.enum(['require', 'warn']),
  unverifiedKeys: count,
  previousKeys: count,
  verified: COUNTS,
  unverified: COUNTS,
  strangers: count,
  isApart: yes,
});

const ACCESS = record({ auth: yes, tokens: count, certificates: count, failures: z.record(z.string(), z.unknown()) });

export const NODE_STATUS = record({
  cluster: text,
  nodeId: text,
  version: text,
  incarnation: count,
  phase: text,
  ready: yes,
  notReadyBecause: listOf(text),
  degraded: listOf(text),
  uptimeMs: number,
  members: listOf(MEMBER),
  topic: TOPIC,
  registry: REGISTRY,
  keys: listOf(TEMPLATE),
  signatures: listOf(SIGNATURES),
  configuration: CONFIGURATION,
  access: ACCESS,
  rounds: count,
  reportRoundTripMs: number,
  lastRebalancingMs: number,
  pool: record({ size: count, agreed: yes }, 'What strategy equal divides by; null = no such group.').nullable(),
  recordsIgnored: COUNTS,
  telemetryFailures: count.meta({ description: 'Log lines that were lost because the telemetry failed.' }),
  busyLanes: count.meta({
    description: 'How many lanes (a direction of a group) saturated backends hold below their quota.',
  }),
  busyGroups: listOf(
    record({
      group: text,
      direction: z.enum(DIRECTIONS),
      binding: BINDING,
      targetMessagesPerSecond: number.nullable(),
    }),
  ),
});

export const NODES = json('This node, and the members of the cluster as it sees them.', NODE_STATUS);
