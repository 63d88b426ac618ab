import type { FastifyInstance, FastifyReply } from 'fastify';
import { directionIndex, laneOf } from '../../core/vocabulary.js';
import { QuotameshError } from '../../errors.js';
import type { QuotaNode } from '../../runtime/quota-node.js';
import type { NotReady, Refused } from '../decision.js';
import type { AcquireOutcomes } from './acquire-outcomes.js';
import { ACQUIRE_BODY_SCHEMA, type AcquireBody } from './acquire-schema.js';
import type { ErrorHandler } from './error-handler.js';
import { PROBLEM_MEDIA_TYPE, problemOf, REDUCED_CAPACITY_TYPE } from './problem.js';
import { RefusalAnswers } from './refusal-answers.js';
import { ACQUIRE_ANSWERS } from './response-schemas.js';

/** POST /v1/acquire: the hot path. No log line, no promise; a granted answer allocates what fastify itself does. */
export function addAcquireRoute(app: FastifyInstance, { node, outcomes, handleError }: AcquireRouteParts): void {
  const answers = new RefusalAnswers(node);
  app.post(
    '/v1/acquire',
    {
      schema: {
        summary: 'Ask for a part of the quota of a group; decided at once, by this node alone',
        tags: ['admission'],
        body: ACQUIRE_BODY_SCHEMA,
        response: ACQUIRE_ANSWERS,
      },
      errorHandler: (error, request, reply) => {
        outcomes.rejected++;
        handleError(error, request, reply);
      },
    },
    (request, reply) => {
      const body = request.body as AcquireBody;
      const decision = node.tryAcquire(body.group, body, body);
      if (decision.granted) {
        outcomes.granted++;
        reply.header('content-type', 'application/json; charset=utf-8').send(GRANTED_BODY);
      } else if (decision.reason === 'quota') {
        outcomes.refused++;
        sendRefused(reply, decision, { node, answers, body });
      } else {
        outcomes.notReady++;
        sendNotReady(reply, decision, node);
      }
    },
  );
}

export interface AcquireRouteParts {
  readonly node: QuotaNode;
  readonly outcomes: AcquireOutcomes;
  readonly handleError: ErrorHandler;
}

const GRANTED_BODY = '{"granted":true}';

interface RefusedRequest {
  readonly node: QuotaNode;
  readonly answers: RefusalAnswers;
  readonly body: AcquireBody;
}

function sendRefused(reply: FastifyReply, decision: Refused, { node, answers, body }: RefusedRequest): void {
  const { dimension, retryAfterMs } = decision;
  const lane = laneOf(node.gate.groupIndex(body.group), directionIndex(body.direction ?? 'publish'));
  const retryAfterS = wholeSeconds(retryAfterMs);
  reply.code(429).header('content-type', PROBLEM_MEDIA_TYPE).header('retry-after', retryAfterS);
  reply.header('ratelimit-policy', answers.fields.policy(lane));
  reply.header('ratelimit', answers.fields.current(lane, node.clock(), { dimension, retryAfterS }));
  reply.send(answers.body(lane, dimension, retryAfterMs));
}

function sendNotReady(reply: FastifyReply, { because, retryAfterMs }: NotReady, node: QuotaNode): void {
  const error = new QuotameshError('NOT_READY', { node: node.config.nodeId, reason: because });
  // No policy of ours is violated, and what the cluster grants elsewhere is not less.
  const problem = { ...problemOf(error, REDUCED_CAPACITY_TYPE), 'violated-policies': [], retryAfterMs };
  reply.code(503).header('content-type', PROBLEM_MEDIA_TYPE).header('retry-after', wholeSeconds(retryAfterMs));
  reply.send(JSON.stringify(problem));
}

/**
 * Retry-After knows whole seconds only: rounded up, since coming back early would only be refused again, and never 0,
 * which many clients read as "at once". `retryAfterMs` in the body is exact.
 */
function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
