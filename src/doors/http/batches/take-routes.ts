import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { directionIndex, laneOf } from '../../../core/base/vocabulary.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { callerOf } from '../access/caller.js';
import { notReadyAnswer, refusedAnswer, sendByFastify } from '../acquire/acquire-answers.js';
import type { AcquireOutcomes } from '../acquire/acquire-outcomes.js';
import { BULK_BODY_LIMIT_FACTOR } from '../acquire/bulk-route.js';
import { RateLimitFields } from '../acquire/rate-limit-fields.js';
import { RefusalAnswers } from '../acquire/refusal-answers.js';
import { nameIn, rejectLimitOf, whereOf } from '../acquire/scope-fields.js';
import { readPart } from '../route/invalid-input.js';
import { problemOf } from '../route/problem.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { BATCH_COUNTS_ANSWERS, REFUND_ANSWERS, REFUNDS_ANSWERS, TAKE_ANSWERS } from './batch-answers.js';
import { REFUND_BODY, REFUNDS_BODY, TAKE_BODY } from './batch-bodies.js';

type UsedParts = Pick<NodeParts, 'config' | 'clock' | 'limiter' | 'groups' | 'keys' | 'gate' | 'loop'>;

export interface TakeRouteParts {
  readonly node: UsedParts;
  readonly outcomes: AcquireOutcomes;
}

/** Adds `POST /v1/take`, `/v1/refund` with its bulk form, and `GET /v1/batches`. */
export function addTakeRoutes(app: FastifyInstance, parts: TakeRouteParts): void {
  const { node } = parts;
  const answers = new RefusalAnswers(node, new RateLimitFields(node));
  const described = { method: 'POST', access: needs('traffic'), tag: 'admission' } as const;
  route(
    app,
    {
      ...described,
      url: '/v1/take',
      summary: 'Takes a batch: as many tokens as there are, up to a number; unused ones can be refunded',
      body: TAKE_BODY,
      answers: TAKE_ANSWERS,
    },
    (request, reply) => take(request, reply, { ...parts, answers }),
  );
  route(
    app,
    {
      ...described,
      url: '/v1/refund',
      summary: 'Ends a batch; unused tokens go back to the window or bucket that they came from',
      body: REFUND_BODY,
      answers: REFUND_ANSWERS,
    },
    ({ body: { id, ...left } }, reply) => {
      node.gate.batches.refund(id, left);
      reply.send({ ended: true });
    },
  );
  route(
    app,
    {
      ...described,
      url: '/v1/refund/bulk',
      summary: 'Ends several batches in one request, in order; each counts by itself',
      body: REFUNDS_BODY,
      answers: REFUNDS_ANSWERS,
      bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
    },
    ({ body: { refunds } }, reply) => {
      reply.send({ answers: refunds.map((given, at) => answerTo(node, given, `refunds[${at}].`)) });
    },
  );
  addCounts(app, node);
}

function addCounts(app: FastifyInstance, node: UsedParts): void {
  const { batches } = node.gate;
  route(
    app,
    {
      method: 'GET',
      url: '/v1/batches',
      access: needs('viewer'),
      tag: 'status',
      summary: 'Counts the batches of tokens: how many are open, and how the others ended',
      query: NO_QUERY,
      answers: BATCH_COUNTS_ANSWERS,
    },
    (_, reply) => {
      batches.expire(node.clock());
      const { counts } = batches;
      reply.send(counts);
    },
  );
}

interface Taking extends TakeRouteParts {
  readonly answers: RefusalAnswers;
}

type TakeRequest = FastifyRequest<{ Body: z.output<typeof TAKE_BODY> }>;

/** Takes at once, or within `waitMs`; a client that hangs up waits no longer. */
async function take(request: TakeRequest, reply: FastifyReply, { node, outcomes, answers }: Taking) {
  const { body } = request;
  const hangUp = new AbortController();
  const onClose = () => hangUp.abort();
  reply.raw.once('close', onClose);
  try {
    if (body.limit !== undefined) rejectLimitOf(node.keys, callerOf(request), body);
    const amounts = body.all === true ? 'all' : body;
    const answer = await node.gate.batches.take(whereOf(body), amounts, { ...body, signal: hangUp.signal });
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
    outcomes.rejected++;
    // A client that hung up reads no answer.
    if (!hangUp.signal.aborted) throw error;
    reply.hijack();
  } finally {
    reply.raw.off('close', onClose);
  }
  return reply;
}

function answerTo(node: UsedParts, given: unknown, where: string) {
  try {
    const { id, ...left } = readPart(REFUND_BODY, given, where);
    node.gate.batches.refund(id, left);
    return { status: 200, ended: true };
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    return { status, code, detail, remedy };
  }
}
