import { z } from 'zod';
import {
  count,
  type Described,
  eitherOf,
  integer,
  listOf,
  number,
  oneOf,
  record,
  text,
  yes,
} from '../../../node/api/answer-table.js';
import {
  CHANGE_PREVIEW,
  CHANGED_GROUP,
  CHANGED_KEYS,
  COSTED_GROUP,
  DEFINED_KEYS,
  GROUP_SUMMARY,
  KEYS_PREVIEW,
  REFUSED_GROUP,
} from '../../../node/api/change-answers.js';
import { GROUP_EXPLANATION } from '../../../node/api/group-explanation.js';
import {
  BACKEND_STATUS,
  GROUP_STATUS,
  KEY_STATUS,
  LEVEL,
  NODE_STATUS,
  ONE_DIRECTION,
  REFUSED_UNIT,
} from '../../../node/api/node-status.js';

/**
 * Schemas of answers for GET /openapi.json, over the tables of src/node/api. Answers are not serialised by them: a
 * forgotten member would vanish. test/unit/http checks each answer against its schema.
 */

/** Answer to one item of a bulk: what it led to, or its problem. */
export function itemOf(
  members: Members,
  status = 'The status that a request of its own would have had.',
  always: readonly string[] = [],
): Described<unknown> {
  const all = { ...members, code: text, detail: text, remedy: text };
  const named = Object.entries(all).map(([name, member]) => [
    name,
    always.includes(name) ? member : member.exactOptional(),
  ]);
  return record({ status: integer.meta({ description: status }), ...Object.fromEntries(named) });
}

type Members = Readonly<Record<string, Described<unknown>>>;

export const PROBLEM_MEMBERS = { type: text, title: text, status: count, detail: text, code: text, remedy: text };

const REDUCED_CAPACITY = { ...PROBLEM_MEMBERS, 'violated-policies': listOf(text), retryAfterMs: z.int().min(1) };

const QUOTA_EXCEEDED = {
  ...REDUCED_CAPACITY,
  'violated-policies': listOf(
    text.meta({ description: 'The names of the policies in RateLimit-Policy that were violated.' }),
  ),
  group: text,
  direction: ONE_DIRECTION,
  dimension: REFUSED_UNIT,
  level: LEVEL.meta({ description: 'The first level that refused.' }),
  shadow: z
    .literal('granted')
    .exactOptional()
    .meta({ description: 'The quota planned for the group would have granted it.' }),
};

export const PROBLEM = problem('An error of the catalogue (docs/reference/errors.md).', PROBLEM_MEMBERS);

export const BATCH_PROBLEM = problem(
  'The problem is as for one group; `errors` names the first hundred groups that are refused.',
  {
    ...PROBLEM_MEMBERS,
    errors: listOf(record(REFUSED_GROUP)).exactOptional(),
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

const SHADOW_SAYS = oneOf(['granted', 'refused']).meta({
  description: 'The other decision of a shadow of the group; absent where it is the same, or there is no shadow.',
});

const GRANTED = record({
  granted: z.literal(true),
  messages: count
    .meta({ description: 'The number of messages that were granted; it is there where atMost was sent.' })
    .exactOptional(),
  bytes: count.exactOptional(),
  id: RESERVED.id.exactOptional(),
  validMs: RESERVED.validMs.exactOptional(),
  shadow: SHADOW_SAYS.exactOptional(),
});

const BULK_ANSWER = itemOf(
  {
    granted: yes,
    messages: count,
    bytes: count,
    ...RESERVED,
    group: text,
    level: LEVEL,
    dimension: REFUSED_UNIT,
    retryAfterMs: count,
    shadow: SHADOW_SAYS,
  },
  'The status that a request of its own would have had: 200, 429, 503, 404 or 422.',
  ['granted'],
);

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

export const GROUP_ANSWER = json('The group as this node sees it.', record(GROUP_STATUS));

export const KEY = json('The key as this node knows it.', record(KEY_STATUS));

export const BUSIEST_KEYS = json(
  'The keys that speak at this node and of which most of the quota is wanted there, at most 20.',
  record({ keys: listOf(record(KEY_STATUS)) }),
);

export const GROUPS = json(
  'Configured groups in the order of the configuration, at most 200.',
  record({
    groups: listOf(record(GROUP_SUMMARY)),
    next: text.nullable().meta({ description: 'The value of `after` for the next page; null on the last page.' }),
  }),
);

/** Answer of GET …/definition; ETag = revision. */
export const DEFINITION = json('The group as YAML would write it.', record(COSTED_GROUP));

/** Answers PUT of a new group. ETag = revision. */
export const CHANGED_DEFINITION = json('The group as it is now.', record(CHANGED_GROUP));

/** Answers PUT of a new template, or of a key's new settings. ETag = revision. */
export const CHANGED_KEY_DEFINITION = json('The definition as it is now.', record(CHANGED_KEYS));

/** Answers GET of templates and of keys' own settings. ETag = revision. */
export const KEY_DEFINITION = json(
  'The template, or what the key has of its own, as YAML would write it.',
  record(DEFINED_KEYS),
);

export const KEY_DEFINITIONS = json(
  'Templates in force, and keys with settings of run time.',
  record({ definitions: listOf(record(DEFINED_KEYS)) }),
);

export const INDEX = json(
  'The node and its routes.',
  record({
    name: text,
    version: text,
    cluster: text,
    node: text,
    routes: listOf(text),
    aliases: z.record(z.string(), z.string()),
  }),
);

export function json<Value>(description: string, schema: Described<Value>) {
  return { description, content: { 'application/json': { schema } } };
}

function problem(description: string, members: Members) {
  return { description, content: { 'application/problem+json': { schema: record(members) } } };
}

export const ACCEPTED = json('The report is accepted.', record({ accepted: z.literal(true) }));

export const FACTORS = json(
  'Equal for all nodes of a cluster.',
  record({ readPageBytes: number, writePageBytes: number, writeFactor: number }),
);

export const BACKENDS = json('The backends, each with its name.', record({ backends: listOf(record(BACKEND_STATUS)) }));

export const EXPLANATION = json(
  'The decision in force for a group, and what it follows from.',
  record(GROUP_EXPLANATION),
);

const ACCESS = record({ auth: yes, tokens: count, certificates: count, failures: z.record(z.string(), z.unknown()) });

export const NODES = json(
  'This node, and the members of the cluster as it sees them.',
  record({ ...NODE_STATUS, access: ACCESS }),
);

/** Answer to a change with ?dryRun=true, which changes nothing. */
export const PREVIEW = json(
  'The answer to ?dryRun=true: the shares before and after the change, as the last reports give them.',
  record(CHANGE_PREVIEW),
);

export const DEFINITION_OR_PREVIEW = json(
  'The group as it is now; with ?dryRun=true what would follow.',
  eitherOf(record(CHANGED_GROUP), record(CHANGE_PREVIEW)),
);

export const KEY_PREVIEW = json(
  'The answer to ?dryRun=true: the definition before and after the change, as YAML would write it; null where it is not defined.',
  record(KEYS_PREVIEW),
);

export const KEY_DEFINITION_OR_PREVIEW = json(
  'The definition as it is now; with ?dryRun=true before and after the change.',
  eitherOf(record(CHANGED_KEYS), record(KEYS_PREVIEW)),
);
