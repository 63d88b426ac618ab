import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HandBack } from '../../api/decision.js';
import { directionIndex, laneOf } from '../../core/base/vocabulary.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { NodeParts } from '../../node/node-parts.js';
import type { AcquireOutcomes } from '../acquire/acquire-outcomes.js';
import { sendNotReady, sendRefused } from '../acquire/acquire-route.js';
import { whereOf } from '../acquire/acquire-schema.js';
import { BULK_BODY_LIMIT_FACTOR } from '../acquire/bulk-route.js';
import { RateLimitFields } from '../acquire/rate-limit-fields.js';
import { RefusalAnswers } from '../acquire/refusal-answers.js';
import { describedRoute, NO_QUERY } from '../route/described-route.js';
import { problemOf } from '../route/problem.js';
import { needs } from '../route/route-access.js';
import { handBackIn, handBacksIn, takeIn } from './take-bodies.js';
import * as schemas from './take-schemas.js';

/** What is used here of a node. */
type UsedParts = Pick<NodeParts, 'config' | 'clock' | 'limiter' | 'groups' | 'gate'>;

export interface TakeRouteParts {
  readonly node: UsedParts;
  readonly outcomes: AcquireOutcomes;
}

/** Batches of tokens (../batches.ts): `POST /v1/take`, `/v1/hand-back` and its batch; `GET /v1/batches` counts. */
export function addTakeRoutes(app: FastifyInstance, parts: TakeRouteParts): void {
  const { batches } = parts.node.gate;
  const answers = new RefusalAnswers(parts.node, new RateLimitFields(parts.node));
  app.post(
    '/v1/take',
    describedRoute(
      needs('traffic'),
      'admission',
      'Take as many tokens as there are, up to so many; what is not used can be handed back',
      {
        body: schemas.TAKE_BODY,
        response: schemas.TAKE_ANSWERS,
      },
    ),
    (request, reply) => take(request, reply, { ...parts, answers }),
  );
  app.post(
    '/v1/hand-back',
    describedRoute(
      needs('traffic'),
      'admission',
      'A batch has ended; what was not used goes back to the window that it came from',
      {
        body: schemas.HAND_BACK_BODY,
        response: schemas.HAND_BACK_ANSWERS,
      },
    ),
    (request, reply) => {
      const { id, ...left } = handBackIn(request.body, '');
      batches.handBack(id, left);
      reply.send({ ended: true });
    },
  );
  app.post(
    '/v1/hand-back/batch',
    {
      bodyLimit: parts.node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
      ...describedRoute(needs('traffic'), 'admission', 'Several batches have ended; each by itself, in order', {
        body: schemas.HAND_BACK_BATCH_BODY,
        response: schemas.HAND_BACK_BATCH_ANSWERS,
      }),
    },
    (request, reply) => {
      const given = handBacksIn(request.body);
      reply.send({ answers: given.map((one, at) => answerTo(parts.node, one, `handBacks[${at}].`)) });
    },
  );
  addCounts(app, parts.node);
}

function addCounts(app: FastifyInstance, node: UsedParts): void {
  app.get(
    '/v1/batches',
    {
      config: { access: needs('viewer') },
      schema: {
        summary: 'Batches of tokens: how many are open, and how the others ended',
        tags: ['status'],
        querystring: NO_QUERY,
        response: schemas.BATCH_COUNTS_ANSWERS,
      },
    },
    (_, reply) => {
      node.gate.batches.expire(node.clock());
      reply.send(node.gate.batches.counts);
    },
  );
}

interface Taking extends TakeRouteParts {
  readonly answers: RefusalAnswers;
}

/** At once, or within waitMs; a client that hangs up waits no longer. */
async function take(request: FastifyRequest, reply: FastifyReply, { node, outcomes, answers }: Taking) {
  const body = takeIn(request.body);
  const hangUp = new AbortController();
  const onClose = () => hangUp.abort();
  reply.raw.once('close', onClose);
  try {
    const amounts = body.all === true ? 'all' : body;
    const answer = await node.gate.batches.take(whereOf(body), amounts, { ...body, signal: hangUp.signal });
    if (answer.granted) {
      outcomes.granted++;
      const { handBack: _, ...told } = answer;
      return reply.send(told);
    }
    if (answer.reason === 'quota') {
      outcomes.refused++;
      // Refusals of a place name the group themselves.
      const group = answer.group ?? (body.group as string);
      const lane = laneOf(node.gate.groupIndex(group), directionIndex(body.direction ?? 'publish'));
      sendRefused(reply, answer, { lane, answers, nowMs: node.clock() });
    } else {
      outcomes.notReady++;
      sendNotReady(reply, answer, node);
    }
  } catch (error) {
    outcomes.rejected++;
    // Nobody reads the answer any more.
    if (!hangUp.signal.aborted) throw error;
    reply.hijack();
  } finally {
    reply.raw.off('close', onClose);
  }
  return reply;
}

function answerTo(node: UsedParts, given: unknown, where: string) {
  try {
    const { id, ...left }: HandBack & { readonly id: string } = handBackIn(given, where);
    node.gate.batches.handBack(id, left);
    return { status: 200, ended: true };
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    return { status, code, detail, remedy };
  }
}
