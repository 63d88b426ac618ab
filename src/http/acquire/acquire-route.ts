import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Decision, Granted, NotReady, Refused } from '../../api/decision.js';
import type { Scope } from '../../core/attachments/attachment.js';
import { type Direction, directionIndex, laneOf } from '../../core/base/vocabulary.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { NodeParts } from '../../node/node-parts.js';
import { type Asked, callerOf } from '../access/caller.js';
import { ACQUIRE_ANSWERS } from '../route/answer-schemas.js';
import type { ErrorHandler } from '../route/problem.js';
import { PROBLEM_MEDIA_TYPE } from '../route/problem.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { ACQUIRE_BODY, ACQUIRE_PATH, type AcquireBody } from './acquire-body.js';
import type { AcquireOutcomes } from './acquire-outcomes.js';
import type { OpenReservations, Reserved } from './open-reservations.js';
import { isPlainRequest } from './plain-request.js';
import { RateLimitFields } from './rate-limit-fields.js';
import { wholeSeconds } from './rate-limit-items.js';
import { RefusalAnswers } from './refusal-answers.js';
import { capacityProblem } from './refusal-problems.js';
import { nameIn, rejectLimitOf, whereOf } from './scope-fields.js';

/** What is used here of a node. */
type UsedParts = Pick<NodeParts, 'config' | 'clock' | 'limiter' | 'groups' | 'keys' | 'gate' | 'loop'>;

/**
 * POST /v1/acquire, the hot path. It logs nothing and makes a promise only for `waitMs`; for a grant, only fastify
 * allocates.
 */
export function addAcquireRoute(app: FastifyInstance, parts: AcquireRouteParts): void {
  const { node, outcomes, handleError } = parts;
  // Made once: to spread the parts anew for every request cost 4 µs of the 16 that a grant took beyond a bare route.
  const answering: Answering = { ...parts, answers: new RefusalAnswers(node, new RateLimitFields(node)) };
  route(
    app,
    {
      method: 'POST',
      url: ACQUIRE_PATH,
      access: needs('traffic'),
      tag: 'admission',
      summary: 'Asks for tokens of a group; this node decides alone, and at once unless waitMs is given',
      body: ACQUIRE_BODY,
      isPlain: isPlainRequest,
      answers: ACQUIRE_ANSWERS,
      errorHandler: (error, request, reply) => {
        outcomes.rejected++;
        if (error instanceof QuotameshError && error.httpStatus === 503) sendNoRoom(reply, error);
        else handleError(error, request, reply);
      },
    },
    (request, reply) => {
      const { body } = request;
      if (body.waitMs !== undefined && body.waitMs > 0 && !isReserving(body) && body.priority !== 'immediate')
        return waitForTurn(request, reply, answering);
      answer(reply, body, decideAtOnce(parts, body, request), answering);
      return undefined;
    },
  );
}

/** Decides without waiting, as the library's `tryAcquire` does, or its `reserve` (under an id), or its `consume`. */
export function decideAtOnce(
  parts: AcquireRouteParts,
  body: AcquireBody,
  asked: Asked,
  nowMs?: number,
): Decision | Reserved {
  const { node, reservations } = parts;
  if (body.limit !== undefined) rejectLimitOf(node.keys, callerOf(asked), body);
  if (isReserving(body)) return reservations.reserve(body);
  if (body.priority === 'immediate') {
    rejectBesideImmediate(body);
    return node.gate.passBy(whereOf(body), body, body);
  }
  return node.gate.tryAcquire(whereOf(body), body, body, nowMs);
}

function isReserving({ cost, reserve }: AcquireBody): boolean {
  return cost !== undefined || reserve === true;
}

/** `priority: immediate` grants all at once. A body that also wants a part, or an answer after a wait, is mistaken. */
function rejectBesideImmediate({ atMost = false, waitMs = 0 }: AcquireBody): void {
  const field = atMost ? 'atMost' : waitMs > 0 ? 'waitMs' : null;
  if (field === null) return;
  const reason = 'must be absent where priority is immediate: all of it is granted at once';
  throw new QuotameshError('FIELD_INVALID', { field, reason });
}

type Answering = AcquireRouteParts & { readonly answers: RefusalAnswers };

/** Waits until the request has its turn, its time is up, or the client hangs up. */
async function waitForTurn(
  request: FastifyRequest<{ Body: AcquireBody }>,
  reply: FastifyReply,
  parts: Answering,
): Promise<FastifyReply> {
  const { body } = request;
  const { waitMs = 0, atMost = false } = body;
  if (body.limit !== undefined) rejectLimitOf(parts.node.keys, callerOf(request), body);
  if (atMost)
    throw new QuotameshError('FIELD_INVALID', { field: 'atMost', reason: 'must be absent where waitMs is given' });
  const hangUp = new AbortController();
  const onClose = () => hangUp.abort();
  reply.raw.once('close', onClose);
  try {
    const decision = await parts.node.gate.acquire(whereOf(body), body, { ...body, waitMs, signal: hangUp.signal });
    answer(reply, body, decision, parts);
  } catch (error) {
    // Nobody reads the answer any more.
    if (!hangUp.signal.aborted) throw error;
    reply.hijack();
  } finally {
    reply.raw.off('close', onClose);
  }
  return reply;
}

function answer(reply: FastifyReply, body: AcquireBody, decision: Decision | Reserved, parts: Answering): void {
  const { node, outcomes, answers } = parts;
  if (decision.granted) {
    outcomes.granted++;
    const key = node.gate.silentKeyOf(whereOf(body));
    if (key !== null) {
      sendSilentGrant(reply, decision, key, body.direction ?? 'publish', parts);
      return;
    }
    const lane = laneAsked(node, body);
    if (lane === null) sendGrant(reply, JSON.stringify(decision), '', '');
    else sendGranted(reply, decision, { lane, answers, nowMs: node.clock() });
  } else if (decision.reason === 'quota') {
    outcomes.refused++;
    // A refusal always has a lane: exempt work is not refused.
    const lane = laneAsked(node, body, decision.group) as number;
    sendRefused(reply, decision, { lane, answers, nowMs: node.clock() });
  } else {
    outcomes.notReady++;
    sendNotReady(reply, decision, node);
  }
}

export interface AcquireRouteParts {
  readonly node: UsedParts;
  readonly outcomes: AcquireOutcomes;
  readonly handleError: ErrorHandler;
  readonly reservations: OpenReservations;
}

const GRANTED_BODY = '{"granted":true}';
const GRANTED_LENGTH = String(GRANTED_BODY.length);
const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

/** The lane of the most specific group of a scope, or of the group that refused; null = exempt. */
function laneAsked(node: UsedParts, body: AcquireBody, refusedBy?: string): number | null {
  const direction = directionIndex(body.direction ?? 'publish');
  const group = refusedBy ?? nameIn(body);
  if (group !== undefined) return laneOf(node.gate.groupIndex(group), direction);
  return node.gate.scopes.lanesOf(whereOf(body) as Scope, direction)[0] ?? null;
}

/** Grants work of a key that nobody need hear of; to ask for its lane would make a group of it. */
function sendSilentGrant(
  reply: FastifyReply,
  decision: Granted | Reserved,
  key: string,
  direction: Direction,
  { node, answers }: Answering,
): void {
  const { policy, current } = answers.fields.ofKey(key, node.keys!.shown(key), direction);
  sendGrant(reply, bodyOf(decision), policy, current);
}

/**
 * Written to Node's own response: on fastify's way an answer passes four more functions, each for hooks, streams and
 * serializers that a grant has not. So the field that the guard sets (http/access/route-guard.ts) is written here.
 */
function sendGrant(reply: FastifyReply, body: string, policy: string, current: string): void {
  const length = body === GRANTED_BODY ? GRANTED_LENGTH : String(Buffer.byteLength(body));
  const fields = ['cache-control', 'no-store', 'content-type', JSON_MEDIA_TYPE, 'content-length', length];
  if (policy !== '') fields.push('ratelimit-policy', policy, 'ratelimit', current);
  reply.hijack();
  reply.raw.writeHead(200, fields).end(body);
}

/** The RateLimit fields cost 2 of the 50 µs of CPU that a grant takes, most of it node's check of their characters. */
function sendGranted(reply: FastifyReply, decision: Granted | Reserved, { lane, answers, nowMs }: AskedLane): void {
  const { fields } = answers;
  const policy = fields.policy(lane);
  sendGrant(reply, bodyOf(decision), policy, policy === '' ? '' : fields.current(lane, nowMs));
}

function bodyOf(decision: Granted | Reserved): string {
  return isPlainGrant(decision) ? GRANTED_BODY : JSON.stringify(decision);
}

/** A grant of the whole request, which says nothing but that. */
export function isPlainGrant(decision: Granted | Reserved): boolean {
  return !('messages' in decision) && !('id' in decision) && !('shadow' in decision);
}

export interface AskedLane {
  readonly lane: number;
  readonly answers: RefusalAnswers;
  readonly nowMs: number;
}

export function sendRefused(reply: FastifyReply, decision: Refused, { lane, answers, nowMs }: AskedLane): void {
  const { level, dimension, retryAfterMs } = decision;
  const retryAfterS = wholeSeconds(retryAfterMs);
  reply.code(429).header('content-type', PROBLEM_MEDIA_TYPE).header('retry-after', retryAfterS);
  reply.header('ratelimit-policy', answers.fields.policyWith(lane, decision));
  reply.header('ratelimit', answers.fields.current(lane, nowMs, { level, dimension, retryAfterS }));
  reply.send(answers.body(lane, decision));
}

export function sendNotReady(reply: FastifyReply, { because, retryAfterMs }: NotReady, node: UsedParts): void {
  const error = new QuotameshError('NOT_READY', { node: node.config.nodeId, reason: because });
  reply.code(503).header('content-type', PROBLEM_MEDIA_TYPE).header('retry-after', wholeSeconds(retryAfterMs));
  reply.send(JSON.stringify(capacityProblem(error, retryAfterMs)));
}

/** There are too many topics, clients or waiters. The request violates no policy. */
function sendNoRoom(reply: FastifyReply, error: QuotameshError): void {
  reply.code(503).header('content-type', PROBLEM_MEDIA_TYPE).header('retry-after', 1);
  reply.send(JSON.stringify(capacityProblem(error, 1000)));
}
