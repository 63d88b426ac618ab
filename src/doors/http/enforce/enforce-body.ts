import { z } from 'zod';
import { DIRECTION } from '../acquire/scope-fields.js';
import { BODY_PROBLEMS, count, json, listOf, number, PROBLEM, record, text, yes } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { amount, bulkOf, flag, GROUP_LENGTH_MAX, HTTP_WAIT_MS_MAX, milliseconds } from '../route/fields.js';
import { withAllowed } from '../route/wording.js';

const ENFORCER_LENGTH_MAX = 256;
const TTL_MS_LEAST = 500;
const TTL_MS_MOST = 60_000;
const TOPICS_MAX = 1_000_000;

const enforcer = z
  .string()
  .min(1)
  .max(ENFORCER_LENGTH_MAX)
  .meta({ description: 'The name of the enforcer; each process has one of its own.', examples: ['proxy-1'] });
const life = z
  .int()
  .min(0)
  .meta({ description: 'Rises with every start of the enforcer, as the time in milliseconds.', examples: [1] });
const ttlMs = z
  .number()
  .min(TTL_MS_LEAST)
  .max(TTL_MS_MOST)
  .meta({ description: 'How long its parts last without a report, in milliseconds. Absent means 3,000.' });
const seen = z.int().min(0).meta({ description: '`version` of the last answer; absent = answer at once.' });
const group = z
  .string()
  .min(1)
  .max(GROUP_LENGTH_MAX)
  .meta({ description: 'The name of a group.', examples: ['orders'] });

const topics = z
  .int()
  .min(0)
  .max(TOPICS_MAX)
  .meta({ description: 'How many topics of the group it serves now, for who looks; absent means 0.', examples: [12] });

const admitted = body({
  messages: amount('Messages since the life began.').exactOptional(),
  bytes: amount('Bytes since the life began.').exactOptional(),
});

const enforced = body({
  group: withAllowed(group, `must be a string of 1 to ${GROUP_LENGTH_MAX} characters`),
  direction: DIRECTION,
  admitted: admitted.meta({ description: 'What it has admitted in its life so far; absent means 0.' }).exactOptional(),
  topics: withAllowed(topics, `must be a whole number from 0 to ${TOPICS_MAX}`).exactOptional(),
  heldBack: flag('True if work was refused or delayed since the last report.').exactOptional(),
});

export const ENFORCE_BODY = body({
  enforcer: withAllowed(enforcer, `must be a string of 1 to ${ENFORCER_LENGTH_MAX} characters`),
  life: withAllowed(life, 'must be a whole number from 0 on'),
  ttlMs: withAllowed(ttlMs, `must be a number of milliseconds from ${TTL_MS_LEAST} to ${TTL_MS_MOST}`).exactOptional(),
  seen: withAllowed(seen, 'must be the version of an answer').exactOptional(),
  waitMs: milliseconds(
    HTTP_WAIT_MS_MAX,
    'How long to wait for other parts than those seen, in milliseconds; at most a third of ttlMs.',
  ).exactOptional(),
  groups: bulkOf(enforced, 'groups'),
});

export type EnforceBody = z.output<typeof ENFORCE_BODY>;

const PART = z.strictObject({
  status: count.meta({
    description: 'It is 200, or says what is wrong: 404 no such group, 422 named twice, 503 not ready.',
  }),
  messagesPerSecond: number.nullable().optional(),
  bytesPerSecond: number.nullable().optional(),
  messagesDepth: number.nullable().optional(),
  bytesDepth: number.nullable().optional(),
  quota: record({ messagesPerSecond: number.nullable(), bytesPerSecond: number.nullable() })
    .meta({ description: 'The whole cluster’s quota, for when the node is away.' })
    .optional(),
  code: text.optional(),
  detail: text.optional(),
  remedy: text.optional(),
});

export const ENFORCE_ANSWERS = {
  200: json(
    'What to admit, one entry per group, in their order; null = unlimited.',
    record({
      version: count.meta({ description: 'Send it as `seen` to wait until something changes.' }),
      validMs: number.meta({ description: 'The parts end so long after the request was sent.' }),
      groups: listOf(PART),
    }),
  ),
  ...BODY_PROBLEMS,
  409: PROBLEM,
  503: PROBLEM,
};

export const ENFORCERS_ANSWERS = {
  200: json(
    'At most 200 enforcers, in the order in which they came.',
    record({
      alive: count.meta({ description: 'How many have parts now.' }),
      enforcers: listOf(
        record({
          enforcer: text,
          life: count,
          alive: yes.meta({ description: 'False after its time to live; its counts are kept for what comes late.' }),
          silentMs: count,
          groups: count,
          heldBack: count.meta({ description: 'In how many of them it holds work back.' }),
        }),
      ),
    }),
  ),
  422: PROBLEM,
};
