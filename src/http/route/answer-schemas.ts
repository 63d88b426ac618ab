import { LEVELS } from '../../core/limiter/levels.js';

/**
 * What the routes answer, for GET /openapi.json. Answers are not serialised by these schemas (a member that a schema
 * forgot would vanish silently): test/unit/http checks that every answer matches its schema, both ways.
 */
export const text = { type: 'string' } as const;
export const number = { type: 'number', minimum: 0 } as const;
export const count = { type: 'integer', minimum: 0 } as const;
export const yes = { type: 'boolean' } as const;

/** An object whose members are all there, and no others. */
export function record<Members extends Readonly<Record<string, unknown>>>(properties: Members, description?: string) {
  const described = description === undefined ? {} : { description };
  return { type: 'object', ...described, additionalProperties: false, required: Object.keys(properties), properties };
}

export function listOf(items: unknown) {
  return { type: 'array', items };
}

export function orNull(schema: { readonly type: string }) {
  return { ...schema, type: [schema.type, 'null'] };
}

const PROBLEM_MEMBERS = { type: text, title: text, status: count, detail: text, code: text, remedy: text } as const;

export const RATES = record(
  { messagesPerSecond: orNull(number), bytesPerSecond: orNull(number) },
  'Units per second; null = no quota (unlimited).',
);

const REDUCED_CAPACITY = {
  ...PROBLEM_MEMBERS,
  'violated-policies': listOf(text),
  retryAfterMs: { ...count, minimum: 1 },
};

const QUOTA_EXCEEDED = {
  ...REDUCED_CAPACITY,
  'violated-policies': listOf({ ...text, description: 'Names of items of RateLimit-Policy.' }),
  group: text,
  direction: { type: 'string', enum: ['publish', 'dispatch'] },
  dimension: { type: 'string', enum: ['messages', 'bytes'] },
  level: { type: 'string', enum: LEVELS, description: 'The first level that refused.' },
};

export const PROBLEM = problem('An error of the catalogue (docs/reference/errors.md).', PROBLEM_MEMBERS);

const RETRY_AFTER = { 'Retry-After': { type: 'integer', description: 'Whole seconds, rounded up; at least 1.' } };

const RATE_LIMIT = {
  'RateLimit-Policy': { type: 'string', description: 'q = the quota of the whole cluster per w seconds.' },
  RateLimit: { type: 'string', description: 'r = what this node would admit now; t = Retry-After, where it refused.' },
};

const RESERVED = {
  id: { ...text, description: 'Where cost or reserve was sent: for POST /v1/commit or /v1/cancel at this node.' },
  validMs: { ...number, description: 'Afterwards it is charged as it was estimated.' },
};

const GRANTED = {
  ...record({ granted: { type: 'boolean', enum: [true] } }),
  properties: {
    granted: { type: 'boolean', enum: [true] },
    messages: { ...count, description: 'What was granted, where atMost was asked for.' },
    bytes: count,
    ...RESERVED,
  },
};

const BULK_ANSWER = {
  type: 'object',
  required: ['status', 'granted'],
  additionalProperties: false,
  properties: {
    status: { type: 'integer', description: 'As that of a single acquire: 200, 429, 503, 404 or 422.' },
    granted: yes,
    messages: count,
    bytes: count,
    ...RESERVED,
    code: text,
    detail: text,
    remedy: text,
    group: text,
    level: { type: 'string', enum: LEVELS },
    dimension: { type: 'string', enum: ['messages', 'bytes'] },
    retryAfterMs: count,
  },
};

export const ACQUIRE_ANSWERS = {
  200: { ...json('Granted: go on.', GRANTED), headers: RATE_LIMIT },
  400: PROBLEM,
  404: PROBLEM,
  413: PROBLEM,
  415: PROBLEM,
  422: PROBLEM,
  429: {
    ...problem('The share of this node is used up.', QUOTA_EXCEEDED),
    headers: { ...RETRY_AFTER, ...RATE_LIMIT },
  },
  503: { ...problem('The node does not know its share yet.', REDUCED_CAPACITY), headers: RETRY_AFTER },
} as const;

export const BULK_ANSWERS = {
  200: json('One answer per request, in their order.', record({ answers: listOf(BULK_ANSWER) })),
  400: PROBLEM,
  413: PROBLEM,
  415: PROBLEM,
  422: PROBLEM,
} as const;

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

export const LIVE = json('The event loop turns.', record({ alive: yes }));

const LOCAL_RATES = { share: RATES, limit: RATES };

const LOCAL = record({
  served: { ...yes, description: 'False until the first use here: nothing is computed for a group that nobody uses.' },
  link: { type: 'string', enum: ['linked', 'held', 'fallback'] },
  ...LOCAL_RATES,
  admittedMessages: number,
  admittedBytes: number,
  attemptedMessages: number,
  attemptedBytes: number,
  refusedMessages: number,
  refusedBytes: number,
  heldBack: { ...count, description: 'Asks and connections that are held back now, instead of refused.' },
  debtMessages: number,
  debtBytes: number,
});

const NODE_SHARE = record({
  nodeId: text,
  self: yes,
  usage: RATES,
  demand: RATES,
  share: RATES,
  reportedShare: RATES,
  reportAgeMs: orNull(count),
});

export const RAMP = orNull(
  record(
    {
      mode: text,
      state: { type: 'string', enum: ['waiting', 'climbing', 'top'] },
      ...{ level: number, from: number, to: number, overMs: number },
    },
    'Where the ramp of the direction stands, messages/s; null = it has none.',
  ),
);

const DIRECTION = record({
  ...{ quota: RATES, target: RATES, ramp: RAMP, shareSum: RATES, local: LOCAL, nodes: listOf(NODE_SHARE) },
});

const ORIGIN = {
  type: 'string',
  enum: ['yaml', 'run-time'],
  description: 'run-time: the definition of the registry is in force, whatever YAML says.',
} as const;
const REVISION = { ...count, description: 'Of the last change at run time; 0 = there was none.' } as const;

export const GROUP = json(
  'A group as this node sees it.',
  record({
    group: text,
    strategy: text,
    promise: { type: 'string', enum: ['relaxed'] },
    enabled: yes,
    origin: ORIGIN,
    revision: REVISION,
    directions: record({ publish: DIRECTION, dispatch: DIRECTION }),
  }),
);

const GROUP_SUMMARY_DIRECTION = record({ quota: RATES, served: yes, ...LOCAL_RATES, usage: RATES, demand: RATES });

export const GROUPS = json(
  'Configured groups in the order of the configuration, at most 200.',
  record({
    groups: listOf(
      record({
        group: text,
        strategy: text,
        origin: ORIGIN,
        revision: REVISION,
        publish: GROUP_SUMMARY_DIRECTION,
        dispatch: GROUP_SUMMARY_DIRECTION,
      }),
    ),
    next: { type: ['string', 'null'], description: 'Value of `after` for the next page; null on the last one.' },
  }),
);

/** What PUT, PATCH and GET …/definition answer; ETag is the revision. */
export const DEFINITION = json(
  'A group as YAML would write it.',
  record({
    group: text,
    origin: ORIGIN,
    revision: REVISION,
    definition: { type: 'object' },
    readPageBytes: {
      ...number,
      description: 'Bytes per second ÷ this = cost units per second (docs/guide/target-rate.md).',
    },
  }),
);

export const INDEX = json(
  'Where to look.',
  record({ name: text, version: text, cluster: text, node: text, routes: listOf(text) }),
);

export function json(description: string, schema: unknown) {
  return { description, content: { 'application/json': { schema } } };
}

function problem(description: string, members: Readonly<Record<string, unknown>>) {
  return { description, content: { 'application/problem+json': { schema: record(members) } } };
}
