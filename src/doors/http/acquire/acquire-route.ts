import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasRole, roleMissing } from '../../../base/access/caller.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Decision } from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { type CallingRequest, callerOf } from '../access/caller.js';
import { ACQUIRE_ANSWERS } from '../route/answer-schemas.js';
import type { ErrorHandler } from '../route/problem.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import {
  type AcquireAnswers,
  type AcquireOutcomes,
  countFailure,
  sendAnswer,
  sendByFastify,
  unableAnswer,
  untilHangUp,
} from './acquire-answers.js';
import { ACQUIRE_BODY, ACQUIRE_PATH, type AcquireBody } from './acquire-body.js';
import type { OpenReservations, Reserved } from './open-reservations.js';
import { isPlainRequest } from './plain-request.js';
import { rejectLimitOf, whereOf } from './scope-fields.js';
import type { ShortRoute, ShortWay } from './short-way.js';

/** Adds POST /v1/acquire, for requests that ShortWay leaves: waits, reservations, limits and mistakes. */
export function addAcquireRoute(app: FastifyInstance, parts: AnsweringParts): void {
  const { outcomes, handleError, answers, shortWay } = parts;
  route(app, {
    method: 'POST',
    url: ACQUIRE_PATH,
    access: ACQUIRE_ACCESS,
    tag: 'admission',
    summary: 'Asks for tokens of a group; this node decides alone, and at once unless waitMs is given',
    body: ACQUIRE_BODY,
    isPlain: isPlainRequest,
    answers: ACQUIRE_ANSWERS,
    errorHandler: (error, request, reply) => {
      countFailure(outcomes, error);
      // No room for topics, clients or waiters violates no policy.
      if (error instanceof QuotameshError && error.httpStatus === 503) sendByFastify(reply, unableAnswer(error, 1000));
      else handleError(error, request, reply);
    },
    handler: (request, reply) => {
      shortWay.rethrow(request.raw);
      const { body } = request;
      const { waitMs = parts.node.gate.usualWaitMs(body.group, body.direction) } = body;
      if (waitMs > 0 && !isReserving(body) && body.priority !== 'immediate' && !mayBePart(body))
        return waitForTurn(request, reply, parts, waitMs);
      const answer = answers.answerTo(body, decideAtOnce(parts, body, request));
      reply.hijack();
      sendAnswer(reply.raw, answer);
      return undefined;
    },
  });
}

export const ACQUIRE_ACCESS = needs('traffic');

/** Answers a plain body of the same route (short-way.ts). */
export function plainAcquire(
  { config, gate }: Pick<NodeParts, 'config' | 'gate'>,
  answers: AcquireAnswers,
): ShortRoute {
  return {
    bodyLimit: config.http.bodyLimitBytes,
    answerTo: (body) => {
      // A strict group waits for its log: fastify's way can.
      if (gate.hasStrict) return null;
      return isPlainRequest(body) ? answers.answerTo(body, gate.tryAcquire(whereOf(body), body, body)) : null;
    },
  };
}

/** Decides as the library's `tryAcquire`, `reserve` (under an id) or `consume`. */
export function decideAtOnce(
  parts: AcquireRouteParts,
  body: AcquireBody,
  asked: CallingRequest,
  nowMs?: number,
): Decision | Reserved {
  const { node, reservations } = parts;
  if (body.limit !== undefined) rejectLimitOf(node.keys, callerOf(asked), body);
  if (isReserving(body)) return reservations.reserve(body);
  if (body.priority === 'immediate') {
    rejectBesideImmediate(body);
    rejectUnlessConsuming(asked);
    return node.gate.passBy(whereOf(body), body, body);
  }
  return node.gate.tryAcquire(whereOf(body), body, body, nowMs);
}

/** Tests for `atMost` without a wait: the part that is there now. */
function mayBePart({ atMost = false, waitMs }: AcquireBody): boolean {
  return atMost && waitMs === undefined;
}

function isReserving({ cost, reserve }: AcquireBody): boolean {
  return cost !== undefined || reserve === true;
}

/** Rejects `atMost` and `waitMs` beside `priority: immediate`, which grants all at once. */
function rejectBesideImmediate({ atMost = false, waitMs = 0 }: AcquireBody): void {
  const field = atMost ? 'atMost' : waitMs > 0 ? 'waitMs' : null;
  if (field === null) return;
  const reason = 'must be absent where priority is immediate: all of it is granted at once';
  throw new QuotameshError('FIELD_INVALID', { field, reason });
}

function rejectUnlessConsuming(asked: CallingRequest): void {
  const caller = callerOf(asked);
  if (!hasRole(caller, 'consume')) throw roleMissing(caller, 'consume', 'ask with priority: immediate');
}

/** Waits until its turn, until time is up, or until a hang-up. */
async function waitForTurn(
  request: FastifyRequest<{ Body: AcquireBody }>,
  reply: FastifyReply,
  parts: AnsweringParts,
  waitMs: number,
): Promise<FastifyReply> {
  const { body } = request;
  const { atMost = false } = body;
  if (body.limit !== undefined) rejectLimitOf(parts.node.keys, callerOf(request), body);
  if (atMost)
    throw new QuotameshError('FIELD_INVALID', { field: 'atMost', reason: 'must be absent where waitMs is given' });
  return untilHangUp(reply, async (signal) => {
    try {
      const decision = await parts.node.gate.acquire(whereOf(body), body, { ...body, waitMs, signal });
      const answer = parts.answers.answerTo(body, decision);
      reply.hijack();
      sendAnswer(reply.raw, answer);
    } catch (error) {
      // A client that hung up reads no answer.
      if (!signal.aborted) throw error;
      reply.hijack();
    }
    return reply;
  });
}

export interface AcquireRouteParts {
  readonly node: NodeParts;
  readonly outcomes: AcquireOutcomes;
  readonly handleError: ErrorHandler;
  readonly reservations: OpenReservations;
}

interface AnsweringParts extends AcquireRouteParts {
  readonly answers: AcquireAnswers;
  readonly shortWay: ShortWay;
}
