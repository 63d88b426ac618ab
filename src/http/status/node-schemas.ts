import { count, json, listOf, number, orNull, record, text, yes } from '../route/answer-schemas.js';

/** By name. */
const COUNTS = { type: 'object', additionalProperties: count } as const;

const MEMBER = record({
  nodeId: text,
  incarnation: count,
  state: { type: 'string', enum: ['alive', 'left', 'expired'] },
  self: yes,
  silentMs: { type: 'integer' },
  version: text,
});

const TOPIC = record({
  kind: text,
  partitions: count,
  epoch: orNull(text),
  epochChanges: count,
  lost: orNull(text),
  positions: listOf({ type: 'integer' }),
  pendingAppends: count,
  counters: COUNTS,
});

const CONFIGURATION = record({
  source: text,
  taken: count,
  refused: count,
  refusedBecause: orNull(text),
  needsRestart: listOf(text),
  ...{ differingGroups: count, differs: listOf(record({ group: text, nodes: listOf(text) })) },
});

const REGISTRY = record({
  enabled: yes,
  ready: yes,
  lost: orNull(text),
  epoch: orNull(text),
  epochChanges: count,
  position: count,
  groups: count,
  refused: listOf(text),
  recordsIgnored: count,
});

const SIGNATURES = record({
  log: text,
  keyId: text,
  mode: text,
  unverifiedKeys: count,
  previousKeys: count,
  verified: COUNTS,
  unverified: COUNTS,
  strangers: count,
  isApart: yes,
});

const ACCESS = record({ auth: yes, tokens: count, certificates: count, failures: { type: 'object' } });

export const NODES = json(
  'This node, and the members of the cluster as it sees them.',
  record({
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
    signatures: listOf(SIGNATURES),
    configuration: CONFIGURATION,
    access: ACCESS,
    rounds: count,
    reportRoundTripMs: number,
    lastRebalancingMs: number,
    pool: orNull(
      record({ size: count, agreed: { type: 'boolean' } }, 'What strategy equal divides by; null = no such group.'),
    ),
    recordsIgnored: COUNTS,
    busyLanes: { ...count, description: 'Lanes that saturated backends hold below their quota.' },
    busyGroups: listOf(
      record({ group: text, direction: text, binding: text, targetMessagesPerSecond: orNull(number) }),
    ),
  }),
);
