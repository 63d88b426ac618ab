import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { directionIndex, laneOf } from '../../../core/base/vocabulary.js';
import { count, listOf, number, record, text, yes } from '../../../node/api/answer-table.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { callerOf } from '../access/caller.js';
import { BODY_PROBLEMS, itemOf, json, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { amount, bulkOf, flag, HTTP_WAIT_MS_MAX, milliseconds } from '../route/fields.js';
import { readPart } from '../route/invalid-input.js';
import { itemAnswer } from '../route/problem.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { judgedLater, withAllowed } from '../route/wording.js';
import {
  type AcquireOutcomes,
  countFailure,
  notReadyAnswer,
  RefusalAnswers,
  refusedAnswer,
  sendByFastify,
  untilHangUp,
} from './acquire-answers.js';
import { BULK_BODY_LIMIT_FACTOR } from './bulk-route.js';
import { RateLimitFields } from './rate-limit-fields.js';
import {
  DIRECTION,
  KEY_LIMIT,
  NAMES_AMOUNT,
  NAMES_SCOPE,
  nameIn,
  rejectLimitOf,
  SCOPE_FIELDS,
  whereOf,
} from './scope-fields.js';

/** Adds `POST /v1/take`, and `/v1/refund` with its bulk form. */
export function addTakeRoutes(app: FastifyInstance, node: NodeParts, outcomes: AcquireOutcomes): void {
  const answers = new RefusalAnswers(node, new RateLimitFields(node));
  const { batches } = node.gate;
  const refund = ({ id, ...left }: z.output<typeof REFUND_BODY>) => {
    batches.refund(id, left);
    return { ended: true };
  };
  const described = { method: 'POST', access: needs('traffic'), tag: 'admission' } as const;
  route(app, {
    ...described,
    url: '/v1/take',
    summary: 'Takes a batch: as many tokens as there are, up to a number; unused ones can be refunded',
    body: TAKE_BODY,
    answers: TAKE_ANSWERS,
    handler: (request, reply) => take(request, reply, { node, outcomes, answers }),
  });
  route(app, {
    ...described,
    url: '/v1/refund',
    summary: 'Ends a batch; unused tokens go back to the window or bucket that they came from',
    body: REFUND_BODY,
    answers: REFUND_ANSWERS,
    handler: ({ body }) => refund(body),
  });
  route(app, {
    ...described,
    url: '/v1/refund/bulk',
    summary: 'Ends several batches in one request, in order; each counts by itself',
    body: REFUNDS_BODY,
    answers: REFUNDS_ANSWERS,
    bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
    handler: ({ body: { refunds } }) => ({
      answers: refunds.map((given, at) => itemAnswer(() => refund(readPart(REFUND_BODY, given, `refunds[${at}].`)))),
    }),
  });
}

interface Taking {
  readonly node: NodeParts;
  readonly outcomes: AcquireOutcomes;
  readonly answers: RefusalAnswers;
}

type TakeRequest = FastifyRequest<{ Body: z.output<typeof TAKE_BODY> }>;

/** Takes at once, or within `waitMs`; a client that hangs up waits no longer. */
async function take(request: TakeRequest, reply: FastifyReply, { node, outcomes, answers }: Taking) {
  const { body } = request;
  return untilHangUp(reply, async (signal) => {
    try {
      if (body.limit !== undefined) rejectLimitOf(node.keys, callerOf(request), body);
      const amounts = body.all === true ? 'all' : body;
      const answer = await node.gate.batches.take(whereOf(body), amounts, { ...body, signal });
      if (answer.granted) {
        outcomes.granted++;
        const { refund: _, ...told } = answer;
        return reply.send(told);
      }
      if (answer.reason === 'quota') {
        outcomes.refused++;
        // A scope's refusal names its group itself.
        const group = answer.group ?? (nameIn(body) as string);
        const lane = laneOf(node.gate.groupIndex(group), directionIndex(body.direction ?? 'publish'));
        sendByFastify(reply, refusedAnswer(answer, { lane, answers, nowMs: node.clock() }));
      } else {
        outcomes.notReady++;
        sendByFastify(reply, notReadyAnswer(answer, node));
      }
    } catch (error) {
      countFailure(outcomes, error);
      // A client that hung up reads no answer.
      if (!signal.aborted) throw error;
      reply.hijack();
    }
    return reply;
  });
}

const TAKE_ANSWERS = {
  200: json(
    'Taken; maybe less than asked for.',
    record({
      granted: yes,
      id: text,
      messages: count,
      bytes: count,
      epoch: z.int().nullable().meta({
        description: 'The number of the window that the tokens came from; null where the group has no windows.',
      }),
      validMs: number.meta({ description: 'The milliseconds within which tokens of the batch can be refunded.' }),
    }),
  ),
  ...BODY_PROBLEMS,
  404: PROBLEM,
  429: PROBLEM,
  503: PROBLEM,
};

const REFUND_ANSWERS = {
  200: json('The batch has ended.', record({ ended: yes })),
  ...BODY_PROBLEMS,
  404: PROBLEM,
  409: PROBLEM,
};

const REFUNDS_ANSWERS = {
  200: json('One answer per refund, in their order.', record({ answers: listOf(itemOf({ ended: yes })) })),
  ...BODY_PROBLEMS,
};

const all = z.literal(true).meta({ description: 'True takes everything that the share of this node has now.' });

const TAKE_BODY = body(
  {
    ...SCOPE_FIELDS,
    direction: DIRECTION,
    limit: KEY_LIMIT,
    messages: amount('The most messages that are taken.').exactOptional(),
    bytes: amount('The bytes of all these messages together; absent means 0.').exactOptional(),
    all: withAllowed(all, 'must be true, or absent').exactOptional(),
    retry: flag('True if this work was refused before, so that it is not counted as demand twice.').exactOptional(),
    waitMs: milliseconds(HTTP_WAIT_MS_MAX, 'The milliseconds to wait for the first message.').exactOptional(),
  },
  [
    NAMES_SCOPE,
    {
      isKept: (wanted) => wanted.all !== undefined || NAMES_AMOUNT.isKept(wanted),
      mistake: NAMES_AMOUNT.mistake,
      explainedBy: 'any-unknown-field',
    },
    {
      isKept: ({ all: everything, messages, bytes }) =>
        everything === undefined || (messages === undefined && bytes === undefined),
      mistake: (where) =>
        new QuotameshError('FIELD_INVALID', { field: `${where}all`, reason: 'excludes messages and bytes' }),
      schema: { oneOf: [{ required: ['all'] }, { anyOf: [{ required: ['messages'] }, { required: ['bytes'] }] }] },
    },
  ],
);

const id = z.string().meta({ description: 'The `id` in the answer to POST /v1/take.', examples: ['9f86d081884c-17'] });

const dropped = body({
  messages: amount('The number of messages that were dropped.').exactOptional(),
  bytes: amount('The number of bytes that were dropped.').exactOptional(),
}).meta({
  description:
    'Work that was dropped before it used what the quota protects. The setting `dropped` of the group says whether it is refunded or counted.',
});

const REFUND_BODY = body({
  id: withAllowed(id, 'must be the id of the answer to POST /v1/take'),
  messages: amount('The number of messages that were not used, and are refunded.').exactOptional(),
  bytes: amount('The number of bytes that were not used, and are refunded.').exactOptional(),
  dropped: dropped.exactOptional(),
});

const REFUNDS_BODY = body({ refunds: bulkOf(judgedLater(REFUND_BODY), 'refunds') });
