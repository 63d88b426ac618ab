import type { FastifyInstance, FastifyReply } from 'fastify';
import { DIRECTIONS, directionIndex, laneOf } from '../../core/vocabulary.js';
import { QuotameshError } from '../../errors.js';
import type { QuotaNode } from '../../runtime/quota-node.js';
import type { NotReady, Refused } from '../decision.js';
import { ACQUIRE_BODY_SCHEMA, type AcquireBody } from './acquire-schema.js';
import { PROBLEM_MEDIA_TYPE, type Problem, problemOf, QUOTA_EXCEEDED_TYPE, REDUCED_CAPACITY_TYPE } from './problem.js';
import { RateLimitFields } from './rate-limit-fields.js';
import { ACQUIRE_ANSWERS } from './response-schemas.js';

/** POST /v1/acquire: the hot path. No log line, no promise; a granted answer allocates what fastify itself does. */
export function addAcquireRoute(app: FastifyInstance, node: QuotaNode): void {
  const fields = new RateLimitFields(node);
  app.post(
    '/v1/acquire',
    {
      schema: {
        summary: 'Ask for a part of the quota of a group; decided at once, by this node alone',
        tags: ['admission'],
        body: ACQUIRE_BODY_SCHEMA,
        response: ACQUIRE_ANSWERS,
      },
    },
    (request, reply) => {
      const body = request.body as AcquireBody;
      const decision = node.tryAcquire(body.group, body, body);
      if (decision.granted) reply.header('content-type', 'application/json; charset=utf-8').send(GRANTED_BODY);
      else if (decision.reason === 'quota') sendRefused(reply, decision, { node, fields, body });
      else sendNotReady(reply, decision, node);
    },
  );
}

const GRANTED_BODY = '{"granted":true}';

interface RefusedRequest {
  readonly node: QuotaNode;
  readonly fields: RateLimitFields;
  readonly body: AcquireBody;
}

function sendRefused(reply: FastifyReply, decision: Refused, { node, fields, body }: RefusedRequest): void {
  const { dimension, level, retryAfterMs } = decision;
  const group = node.gate.groupIndex(body.group);
  const direction = directionIndex(body.direction ?? 'publish');
  const lane = laneOf(group, direction);
  const name = node.config.groups[group]?.name ?? body.group;
  const facts = { group: name, direction: DIRECTIONS[direction], dimension };
  const retryAfterS = wholeSeconds(retryAfterMs);
  const problem = {
    ...problemOf(new QuotameshError('QUOTA_EXCEEDED', facts), QUOTA_EXCEEDED_TYPE),
    'violated-policies': [fields.nameOf(group, direction, dimension)],
    ...facts,
    level,
    retryAfterMs,
  };
  reply.header('ratelimit-policy', fields.policy(lane));
  reply.header('ratelimit', fields.current(lane, node.clock(), { dimension, retryAfterS }));
  reply.header('retry-after', retryAfterS);
  sendProblem(reply, problem);
}

function sendNotReady(reply: FastifyReply, decision: NotReady, node: QuotaNode): void {
  const error = new QuotameshError('NOT_READY', { node: node.config.nodeId, reason: decision.because });
  const { retryAfterMs } = decision;
  reply.header('retry-after', wholeSeconds(retryAfterMs));
  // No policy of ours is violated, and what the cluster grants elsewhere is not less.
  const problem = { ...problemOf(error, REDUCED_CAPACITY_TYPE), 'violated-policies': [], retryAfterMs };
  sendProblem(reply, problem);
}

function sendProblem(reply: FastifyReply, problem: Problem & { readonly retryAfterMs: number }): void {
  reply.code(problem.status).header('content-type', PROBLEM_MEDIA_TYPE).send(JSON.stringify(problem));
}

/**
 * Retry-After knows whole seconds only: rounded up, since coming back early would only be refused again, and never 0,
 * which many clients read as "at once". `retryAfterMs` in the body is exact.
 */
function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
