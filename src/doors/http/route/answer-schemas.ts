import { z } from 'zod';
import { GATES } from '../../../core/base/local-gate.js';
import { DIMENSIONS, DIRECTIONS } from '../../../core/base/vocabulary.js';
import { LEVELS } from '../../../core/limiter/levels.js';

/**
 * Schemas of answers for GET /openapi.json. Answers are not serialised by them: a forgotten member would vanish.
 * test/unit/http checks each answer against its schema, answer-types.test.ts that they equal the interfaces of
 * src/node/api, which embedders get without zod.
 */
export const text = z.string();
export const number = z.number().min(0);
export const count = z.int().min(0);
export const yes = z.boolean();

/** Object with exactly these members. */
export function record<const Members extends z.ZodRawShape>(members: Members, description?: string) {
  const schema = z.strictObject(members);
  return description === undefined ? schema : schema.meta({ description });
}

export const listOf = z.array;

/** Answer to one item of a bulk: what it led to, or its problem. */
export function itemOf<const Members extends z.ZodRawShape>(
  members: Members,
  status = 'The status that a request of its own would have had.',
) {
  return z
    .strictObject({ status: z.int().meta({ description: status }), ...members, code: text, detail: text, remedy: text })
    .partial()
    .required({ status: true });
}

export const COUNTS = z.record(z.string(), count);

const PROBLEM_MEMBERS = { type: text, title: text, status: count, detail: text, code: text, remedy: text } as const;

export const RATES = record(
  { messagesPerSecond: number.nullable(), bytesPerSecond: number.nullable() },
  'Units per second; null = no quota (unlimited).',
);

const AMOUNTS = record({ messages: number.nullable(), bytes: number.nullable() });

const REDUCED_CAPACITY = { ...PROBLEM_MEMBERS, 'violated-policies': listOf(text), retryAfterMs: z.int().min(1) };

const LEVEL = z.enum(LEVELS);
const DIMENSION = z.enum(DIMENSIONS);

const QUOTA_AS_WRITTEN = z.record(z.string(), z.union([number, z.string()])).meta({
  description: 'Rates as YAML would write them: 5 per second, or "5/min".',
});

const QUOTA = { quota: RATES, quotaAsWritten: QUOTA_AS_WRITTEN };

/** Settings as YAML would write them. */
const WRITTEN = z.record(z.string(), z.unknown());

const QUOTA_EXCEEDED = {
  ...REDUCED_CAPACITY,
  'violated-policies': listOf(
    text.meta({ description: 'The names of the policies in RateLimit-Policy that were violated.' }),
  ),
  group: text,
  direction: z.enum(DIRECTIONS),
  dimension: DIMENSION,
  level: LEVEL.meta({ description: 'The first level that refused.' }),
  shadow: z
    .literal('granted')
    .optional()
    .meta({ description: 'The quota planned for the group would have granted it.' }),
};

export const PROBLEM = problem('An error of the catalogue (docs/reference/errors.md).', PROBLEM_MEMBERS);

export const BATCH_PROBLEM = problem(
  'The problem is as for one group; `errors` names the first hundred groups that are refused.',
  {
    ...PROBLEM_MEMBERS,
    errors: listOf(record({ group: text, status: count, code: text, detail: text, remedy: text })).exactOptional(),
  },
);

/** Answers that any route with a body may give. */
export const BODY_PROBLEMS = { 400: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM };

/** Answers that any change of the registry may give. */
export const CHANGE_PROBLEMS = {
  ...BODY_PROBLEMS,
  403: PROBLEM,
  404: PROBLEM,
  409: PROBLEM,
  412: PROBLEM,
  503: PROBLEM,
};

const RETRY_AFTER = {
  'Retry-After': { type: 'integer', description: 'After how many seconds to come back, rounded up; at least 1.' },
};

const RATE_LIMIT = {
  'RateLimit-Policy': {
    type: 'string',
    description: 'The quota of the whole cluster: q units in w seconds, 5 in 60 for 5/min.',
  },
  RateLimit: {
    type: 'string',
    description:
      '`r` is what this node would admit now; where tokens are shared, what the bucket of the cluster holds as far as the ' +
      'node knows. `t` is the seconds of Retry-After after a refusal, else the seconds until most would be left if nobody took anything.',
  },
};

const RESERVED = {
  id: text.meta({
    description: 'The id for POST /v1/commit or /v1/cancel at this node; it is there where cost or reserve was sent.',
  }),
  validMs: number.meta({
    description: 'The milliseconds that the reservation stays open; afterwards it is charged as estimated.',
  }),
};

const SHADOW_SAYS = z.enum(['granted', 'refused']).meta({
  description: 'The other decision of a shadow of the group; absent where it is the same, or there is no shadow.',
});

const GRANTED = z.strictObject({
  granted: z.literal(true),
  messages: count
    .meta({ description: 'The number of messages that were granted; it is there where atMost was sent.' })
    .optional(),
  bytes: count.optional(),
  id: RESERVED.id.optional(),
  validMs: RESERVED.validMs.optional(),
  shadow: SHADOW_SAYS.optional(),
});

const BULK_ANSWER = itemOf(
  {
    granted: yes,
    messages: count,
    bytes: count,
    ...RESERVED,
    group: text,
    level: LEVEL,
    dimension: DIMENSION,
    retryAfterMs: count,
    shadow: SHADOW_SAYS,
  },
  'The status that a request of its own would have had: 200, 429, 503, 404 or 422.',
).required({ granted: true });

export const ACQUIRE_ANSWERS = {
  200: { ...json('The work is granted.', GRANTED), headers: RATE_LIMIT },
  ...BODY_PROBLEMS,
  404: PROBLEM,
  429: {
    ...problem('The quota is used up for now, or the limit of this node, topic or client.', QUOTA_EXCEEDED),
    headers: { ...RETRY_AFTER, ...RATE_LIMIT },
  },
  503: { ...problem('The node does not know its share yet.', REDUCED_CAPACITY), headers: RETRY_AFTER },
};

export const BULK_ANSWERS = {
  200: json('One answer per request, in their order.', record({ answers: listOf(BULK_ANSWER) })),
  ...BODY_PROBLEMS,
};

export const READY = json(
  'The node decides. `degraded` names what is not as it should be.',
  record({ ready: yes, degraded: listOf(text) }),
);

export const NOT_READY = {
  ...problem('The node does not decide; `reasons` says why.', {
    ...PROBLEM_MEMBERS,
    reasons: listOf(text),
    degraded: listOf(text),
  }),
  headers: RETRY_AFTER,
};

export const LIVE = json('The process answers.', record({ alive: yes }));

const LOCAL_RATES = { share: RATES, limit: RATES };

const LOCAL = record({
  served: yes.meta({
    description: 'False until somebody uses the group at this node; until then nothing is computed for it here.',
  }),
  link: z.enum(['linked', 'held', 'fallback']),
  ...LOCAL_RATES,
  admittedMessages: number,
  admittedBytes: number,
  attemptedMessages: number,
  attemptedBytes: number,
  refusedMessages: number,
  refusedBytes: number,
  heldBack: count.meta({
    description: 'The number of requests and connections that are held back now instead of being refused.',
  }),
  debtMessages: number,
  debtBytes: number,
  letOffMessages: number,
  letOffBytes: number,
});

const NODE_SHARE = record({
  nodeId: text,
  self: yes,
  usage: RATES,
  demand: RATES,
  share: RATES,
  reportedShare: RATES,
  topics: count.describe(
    'Topics of the group that requests named there within ten seconds, as told last; 10,000 = so many or more.',
  ),
  reportAgeMs: count.nullable(),
});

const RAMP_STATUS = record(
  {
    mode: text,
    state: z.enum(['waiting', 'climbing', 'top']),
    ceiling: number,
    from: number,
    to: number,
    overMs: number,
  },
  'The ceiling of this direction’s ramp, in messages per second; null means that it has none.',
).nullable();

const CLUSTER_BUCKET_DIMENSION = record({
  tokens: z.number().meta({ description: 'In it now; negative = a debt.' }),
  depth: number,
  setPoint: number.meta({ description: 'The amount to which a busy bucket returns.' }),
  correctionPerSecond: z.number().meta({
    description: 'The cluster is given so much more than the target, or less, until the bucket holds the set point.',
  }),
  expectedPerSecond: number.meta({ description: 'The rate that all nodes are expected to take together.' }),
  ownExpectedPerSecond: number,
  unread: z.number().meta({ description: 'The amount that this node took beyond that, and the log does not know.' }),
  charged: listOf(record({ nodeId: text, units: z.number() })).meta({
    description:
      'The amount that each node has reported to have taken beyond its expected part; negative = it took less.',
  }),
  takeable: z
    .number()
    .meta({ description: 'The amount that this node may take now; negative = so much has to come back first.' }),
  passesInMs: count.meta({
    description: 'The milliseconds until a piece of work would pass if nobody else took anything; 0 = now.',
  }),
  inPieces: yes.meta({ description: 'The bucket is so small that the log gives whole pieces.' }),
  throttled: yes.meta({ description: 'This node wants more than its share: it is given nothing below the set point.' }),
}).nullable();

const CLUSTER_BUCKET = record(
  { messages: CLUSTER_BUCKET_DIMENSION, bytes: CLUSTER_BUCKET_DIMENSION },
  'The bucket of the cluster; null where each node has a gate, and where the direction is not used here.',
).nullable();

const DIRECTION = record({
  ...QUOTA,
  target: RATES,
  ramp: RAMP_STATUS,
  clusterBucket: CLUSTER_BUCKET,
  shareSum: RATES,
  local: LOCAL,
  nodes: listOf(NODE_SHARE),
});

const BINDINGS = ['unlimited', 'messages', 'cost', 'limiting', 'minimum', 'reserved'] as const;
const BINDING = z.enum(BINDINGS);
const REASONS = [...BINDINGS, 'bytes', 'isolated', 'own-limit', 'no-room', 'not-ready'] as const;

const REFUSED_BECAUSE = listOf(
  record({
    level: LEVEL.nullable(),
    dimension: DIMENSION.nullable(),
    reason: z.enum(REASONS),
    count: number,
    lastAgoMs: number,
  }),
);

const DIFFERENCE = record({ requests: number, messages: number, bytes: number });

const SHADOW_DIRECTION = record({
  ...QUOTA,
  usage: RATES,
  demand: RATES,
  share: RATES,
  admittedMessages: number,
  admittedBytes: number,
  refusedMessages: number,
  refusedBytes: number,
  wouldRefuse: DIFFERENCE.meta({ description: 'Granted in force, and the shadow would have refused it.' }),
  wouldGrant: DIFFERENCE.meta({ description: 'Refused in force at once, and the shadow would have granted it.' }),
  refusedBecause: REFUSED_BECAUSE,
});

const SHADOW = record({
  kind: z.enum(['group', 'planned']),
  strategy: text,
  directions: record({ publish: SHADOW_DIRECTION, dispatch: SHADOW_DIRECTION }),
})
  .meta({
    description: 'The decisions that would have been; null = the group is enforced, and nothing is planned for it.',
  })
  .nullable();

const ORIGIN = z.enum(['yaml', 'run-time']).meta({
  description: 'The place of the definition. A group that is defined at run time is in force whatever YAML says.',
});
const REVISION = count.meta({
  description: 'The revision of the last change at run time; 0 means that there was none.',
});

export const GROUP_STATUS = record({
  group: text,
  strategy: text,
  promise: z.enum(['relaxed']),
  enabled: yes,
  mode: z.enum(['enforce', 'shadow']),
  shadow: SHADOW,
  origin: ORIGIN,
  revision: REVISION,
  directions: record({ publish: DIRECTION, dispatch: DIRECTION }),
});

export const GROUP_ANSWER = json('The group as this node sees it.', GROUP_STATUS);

const TOLD = listOf(
  record({ nodeId: text, self: yes, usage: RATES, demand: RATES, charged: AMOUNTS, reportAgeMs: z.int().nullable() }),
);

export const KEY_STATUS = record({
  key: text,
  template: text,
  quota: record({ publish: QUOTA_AS_WRITTEN, dispatch: QUOTA_AS_WRITTEN }),
  used: yes,
  silent: yes,
  leftUnpublished: record({ publish: AMOUNTS, dispatch: AMOUNTS }).nullable(),
  remaining: record({ publish: AMOUNTS, dispatch: AMOUNTS }).nullable(),
  group: GROUP_STATUS.nullable(),
  told: record({ publish: TOLD, dispatch: TOLD }),
});

export const KEY = json('The key as this node knows it.', KEY_STATUS);

export const BUSIEST_KEYS = json(
  'The keys that speak at this node and of which most of the quota is wanted there, at most 20.',
  record({ keys: listOf(KEY_STATUS) }),
);

const GROUP_SUMMARY_DIRECTION = record({
  ...QUOTA,
  served: yes,
  ...LOCAL_RATES,
  usage: RATES,
  demand: RATES,
});

export const GROUP_SUMMARY = record({
  group: text,
  strategy: text,
  origin: ORIGIN,
  revision: REVISION,
  publish: GROUP_SUMMARY_DIRECTION,
  dispatch: GROUP_SUMMARY_DIRECTION,
});

export const GROUPS = json(
  'Configured groups in the order of the configuration, at most 200.',
  record({
    groups: listOf(GROUP_SUMMARY),
    next: text.nullable().meta({ description: 'The value of `after` for the next page; null on the last page.' }),
  }),
);

const IN_FORCE = { origin: ORIGIN, revision: REVISION, definition: WRITTEN };

const DEFINED = record({
  group: text,
  ...IN_FORCE,
  readPageBytes: number.meta({
    description: 'The number of bytes in one cost unit (docs/guide/target-rate.md).',
  }),
});

/** Answer of PUT, PATCH and GET …/definition; ETag = revision. */
export const DEFINITION = json('The group as YAML would write it.', DEFINED);

const KEYS_NAME = { kind: z.enum(['template', 'key']), name: text };
const KEYS_DEFINED = record({ ...KEYS_NAME, ...IN_FORCE });

/** Answer of PUT and GET of a template or a key's own settings; ETag = revision. */
export const KEY_DEFINITION = json(
  'The template, or what the key has of its own, as YAML would write it.',
  KEYS_DEFINED,
);

export const KEY_DEFINITIONS = json(
  'Templates in force, and keys with settings of run time.',
  record({ definitions: listOf(KEYS_DEFINED) }),
);

export const INDEX = json(
  'The node and its routes.',
  record({ name: text, version: text, cluster: text, node: text, routes: listOf(text), aliases: z.record(text, text) }),
);

export function json<Schema extends z.ZodType>(description: string, schema: Schema) {
  return { description, content: { 'application/json': { schema } } };
}

function problem(description: string, members: z.ZodRawShape) {
  return { description, content: { 'application/problem+json': { schema: record(members) } } };
}

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

const EXPLAINED_DIRECTION = record({
  quota: record({ ...RATES.shape, costPerSecond: number.nullable(), reservedCostPerSecond: number }),
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
    ...LOCAL_RATES,
    tokens: AMOUNTS,
    remaining: AMOUNTS,
    resetMs: AMOUNTS,
    depth: AMOUNTS,
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
  directions: record({ publish: EXPLAINED_DIRECTION, dispatch: EXPLAINED_DIRECTION }),
});

export const EXPLANATION = json('The decision in force for a group, and what it follows from.', EXPLAINED);

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
  pool: record({ size: count, agreed: yes }, 'The divisor of strategy equal; null = no such group.').nullable(),
  recordsIgnored: COUNTS,
  telemetryFailures: count.meta({ description: 'Log lines that were lost because the telemetry failed.' }),
  busyLanes: count.meta({
    description: 'The number of lanes (a direction of a group) that saturated backends hold below their quota.',
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

const PREVIEWED_DIRECTION = record({
  ...QUOTA,
  target: RATES,
  nodes: listOf(record({ nodeId: text, demand: RATES, share: RATES })),
});

const PREVIEWED_GROUP = record({ publish: PREVIEWED_DIRECTION, dispatch: PREVIEWED_DIRECTION }).nullable();

const PREVIEWED = record({
  group: text,
  dryRun: z.literal(true),
  definition: WRITTEN.nullable().meta({
    description: 'The definition that would be in force; null means that there would be no such group.',
  }),
  before: PREVIEWED_GROUP,
  after: PREVIEWED_GROUP,
});

/** Answer to a change with ?dryRun=true, which changes nothing. */
export const PREVIEW = json(
  'The answer to ?dryRun=true: the shares before and after the change, as the last reports give them.',
  PREVIEWED,
);

export const DEFINITION_OR_PREVIEW = json(
  'The group as it is now; with ?dryRun=true what would follow.',
  z.union([DEFINITION.content['application/json'].schema, PREVIEWED]),
);

const KEYS_PREVIEWED = record({
  ...KEYS_NAME,
  dryRun: z.literal(true),
  before: WRITTEN.nullable(),
  after: WRITTEN.nullable(),
});

export const KEY_PREVIEW = json(
  'The answer to ?dryRun=true: the definition before and after the change, as YAML would write it; null where it is not defined.',
  KEYS_PREVIEWED,
);

export const KEY_DEFINITION_OR_PREVIEW = json(
  'The definition as it is now; with ?dryRun=true before and after the change.',
  z.union([KEY_DEFINITION.content['application/json'].schema, KEYS_PREVIEWED]),
);
