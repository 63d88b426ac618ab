import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { finiteOrNull, shownRates } from '../../../core/base/shown-rates.js';
import { BYTES, directionIndex, directionOfLane, laneOf, MESSAGES, UNLIMITED } from '../../../core/base/vocabulary.js';
import { count, listOf, number, record, text, yes } from '../../../node/api/answer-table.js';
import { RATES } from '../../../node/api/node-status.js';
import type { Part } from '../../../node/enforcers/membership.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { BODY_PROBLEMS, itemOf, json, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { amount, bulkOf, flag, GROUP_LENGTH_MAX, HTTP_WAIT_MS_MAX, milliseconds, textUpTo } from '../route/fields.js';
import { itemProblem } from '../route/problem.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { withAllowed } from '../route/wording.js';
import { untilHangUp } from './acquire-answers.js';
import { BULK_BODY_LIMIT_FACTOR } from './bulk-route.js';
import { DIRECTION } from './scope-fields.js';

/** Adds `POST /v1/enforce`, a long poll (src/node/enforcers), and `GET /v1/enforcers`. */
export function addEnforceRoutes(app: FastifyInstance, node: NodeParts): void {
  route(app, {
    method: 'POST',
    url: '/v1/enforce',
    access: needs('traffic'),
    tag: 'admission',
    summary: 'Tells who enforces by itself what to admit, and takes what it has admitted; waits for a change',
    body: ENFORCE_BODY,
    answers: ENFORCE_ANSWERS,
    bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
    handler: (request, reply) => enforce(request, reply, node),
  });
  route(app, {
    method: 'GET',
    url: '/v1/enforcers',
    access: needs('viewer'),
    tag: 'status',
    summary: 'Lists those who enforce by themselves, and when each reported last',
    query: NO_QUERY,
    answers: ENFORCERS_ANSWERS,
    handler: () => ({ alive: node.enforcers.alive, enforcers: node.enforcers.list(LISTED_MAX) }),
  });
}

const LISTED_MAX = 200;

async function enforce(request: FastifyRequest<{ Body: EnforceBody }>, reply: FastifyReply, node: NodeParts) {
  const { enforcer, life, ttlMs = TTL_MS, seen = null, waitMs = 0, groups } = request.body;
  const found = lanesOf(groups, node);
  const lanes = groups.flatMap(({ admitted = {}, heldBack = false, topics = 0 }, at) => {
    const lane = found[at];
    if (typeof lane !== 'number') return [];
    return [{ lane, admitted: [admitted.messages ?? 0, admitted.bytes ?? 0] as const, isHeldBack: heldBack, topics }];
  });
  return untilHangUp(reply, async (signal) => {
    // A mistake in one group is answered at once, whatever the others wait for.
    const patience = { seen, waitMs: lanes.length === groups.length ? waitMs : 0, signal };
    const { version, validMs, parts } = await node.enforcers.report({ enforcer, life, ttlMs, lanes }, patience);
    let next = 0;
    const answers = found.map((lane) =>
      typeof lane === 'number' ? answerOf(lane, parts[next++], node) : itemProblem(lane),
    );
    if (signal.aborted) reply.hijack();
    else reply.send({ version, validMs, groups: answers });
    return reply;
  });
}

const TTL_MS = 3000;

function lanesOf(groups: EnforceBody['groups'], { gate }: NodeParts): (number | QuotameshError)[] {
  const seen = new Set<number>();
  return groups.map(({ group, direction = 'publish' }, at) => {
    try {
      const lane = laneOf(gate.groupIndex(group), directionIndex(direction));
      const reason = 'names a group and direction that stands in the request already';
      gate.slots.refuse([lane]);
      for (const kept of [gate.strict, gate.budgets])
        kept.refuse({ lane, further: [] }, 'tell others what to admit (enforce)');
      if (seen.has(lane)) throw new QuotameshError('FIELD_INVALID', { field: `groups[${at}].group`, reason });
      seen.add(lane);
      return lane;
    } catch (error) {
      if (error instanceof QuotameshError) return error;
      throw error;
    }
  });
}

function answerOf(lane: number, { isKnown, rate, depth }: Part, node: NodeParts) {
  if (!isKnown) return itemProblem(node.notReady());
  const group = node.groups.ofLane(lane);
  const quota = group.quota[directionOfLane(lane)];
  // A shadow refuses nothing, so it has no quota for a time without the node either.
  const isShadow = group.mode === 'shadow';
  return {
    status: 200,
    ...shownRates([rate[MESSAGES], rate[BYTES]]),
    messagesDepth: finiteOrNull(depth[MESSAGES]),
    bytesDepth: finiteOrNull(depth[BYTES]),
    quota: shownRates(isShadow ? UNLIMITED : quota),
  };
}

const ENFORCER_LENGTH_MAX = 256;
const TTL_MS_LEAST = 500;
const TTL_MS_MOST = 60_000;
const TOPICS_MAX = 1_000_000;

const life = z
  .int()
  .min(0)
  .meta({ description: 'Rises with every start of the enforcer, as the time in milliseconds.', examples: [1] });
const ttlMs = z
  .number()
  .min(TTL_MS_LEAST)
  .max(TTL_MS_MOST)
  .meta({ description: 'The milliseconds that its parts last without a report. Absent means 3,000.' });
const seen = z.int().min(0).meta({ description: '`version` of the last answer; absent = answer at once.' });
const topics = z
  .int()
  .min(0)
  .max(TOPICS_MAX)
  .meta({
    description: 'The number of topics of the group that it serves now, shown and nothing else; absent means 0.',
    examples: [12],
  });

const admitted = body({
  messages: amount('Messages since the life began.').exactOptional(),
  bytes: amount('Bytes since the life began.').exactOptional(),
});

const enforced = body({
  group: textUpTo(GROUP_LENGTH_MAX, 'The name of a group.', 'orders'),
  direction: DIRECTION,
  admitted: admitted
    .meta({ description: 'The amount that it has admitted in its life so far; absent means 0.' })
    .exactOptional(),
  topics: withAllowed(topics, `must be a whole number from 0 to ${TOPICS_MAX}`).exactOptional(),
  heldBack: flag('True if work was refused or delayed since the last report.').exactOptional(),
});

const ENFORCE_BODY = body({
  enforcer: textUpTo(ENFORCER_LENGTH_MAX, 'The name of the enforcer; each process has one of its own.', 'proxy-1'),
  life: withAllowed(life, 'must be a whole number from 0 on'),
  ttlMs: withAllowed(ttlMs, `must be a number of milliseconds from ${TTL_MS_LEAST} to ${TTL_MS_MOST}`).exactOptional(),
  seen: withAllowed(seen, 'must be the version of an answer').exactOptional(),
  waitMs: milliseconds(
    HTTP_WAIT_MS_MAX,
    'The milliseconds to wait for other parts than those seen; at most a third of ttlMs.',
  ).exactOptional(),
  groups: bulkOf(enforced, 'groups'),
});

type EnforceBody = z.output<typeof ENFORCE_BODY>;

const PART = itemOf(
  {
    messagesPerSecond: number.nullable(),
    bytesPerSecond: number.nullable(),
    messagesDepth: number.nullable(),
    bytesDepth: number.nullable(),
    quota: RATES.meta({ description: 'The whole cluster’s quota, for when the node is away.' }),
  },
  'It is 200, or says what is wrong: 404 no such group, 422 named twice, 503 not ready.',
);

const ENFORCE_ANSWERS = {
  200: json(
    'The amounts to admit, one entry per group, in their order; null = unlimited.',
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

const ENFORCERS_ANSWERS = {
  200: json(
    'At most 200 enforcers, in the order in which they came.',
    record({
      alive: count.meta({ description: 'The number of enforcers that have parts now.' }),
      enforcers: listOf(
        record<ReturnType<NodeParts['enforcers']['list']>[number]>({
          enforcer: text,
          life: count,
          alive: yes.meta({ description: 'False after its time to live; its counts are kept for what comes late.' }),
          silentMs: count,
          groups: count,
          heldBack: count.meta({ description: 'The number of these groups in which it holds work back.' }),
        }),
      ),
    }),
  ),
  422: PROBLEM,
};
