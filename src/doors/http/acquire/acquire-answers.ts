import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import {
  DIMENSIONS,
  DIRECTION_COUNT,
  type Direction,
  directionIndex,
  directionOfLane,
  laneOf,
  slotOf,
} from '../../../core/base/vocabulary.js';
import type { Scope } from '../../../core/beside/attachments/attachment.js';
import type { BudgetUnit } from '../../../core/strict/budget-units.js';
import {
  type Decision,
  type Granted,
  type NotReady,
  REFUSERS,
  type Refused,
  type Refuser,
} from '../../../node/api/decision.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { createConnectionCounts } from '../connections/connection-bounds.js';
import { PROBLEM_MEDIA_TYPE, problemOf, QUOTA_EXCEEDED_TYPE, REDUCED_CAPACITY_TYPE } from '../route/problem.js';
import type { AcquireBody } from './acquire-body.js';
import { createReservationCounts, type Reserved } from './open-reservations.js';
import { policyName, RateLimitFields, wholeSeconds } from './rate-limit-fields.js';
import { nameIn, whereOf } from './scope-fields.js';

export interface AcquireAnswer {
  readonly status: number;
  /** Names and values in turn; Cache-Control and Content-Length are added to every answer. */
  readonly fields: readonly string[];
  readonly body: string;
}

/** Turns decisions into answers, and counts their outcomes. */
export class AcquireAnswers {
  readonly #node: NodeParts;
  readonly #outcomes: AcquireOutcomes;
  readonly #refusals: RefusalAnswers;

  constructor(node: NodeParts, outcomes: AcquireOutcomes) {
    this.#node = node;
    this.#outcomes = outcomes;
    this.#refusals = new RefusalAnswers(node, new RateLimitFields(node));
  }

  answerTo(body: AcquireBody, decision: Decision | Reserved): AcquireAnswer {
    if (decision.granted) {
      this.#outcomes.granted++;
      return this.#granted(body, decision);
    }
    if (decision.reason === 'quota') {
      this.#outcomes.refused++;
      // Exempt work is never refused: a refusal has a lane.
      const lane = laneAsked(this.#node, body, decision.group) as number;
      return refusedAnswer(decision, { lane, answers: this.#refusals, nowMs: this.#node.clock() });
    }
    this.#outcomes.notReady++;
    return notReadyAnswer(decision, this.#node);
  }

  #granted(body: AcquireBody, decision: Granted | Reserved): AcquireAnswer {
    const { fields } = this.#refusals;
    const written = isPlainGrant(decision) ? GRANTED_BODY : JSON.stringify(decision);
    const key = this.#node.gate.silentKeyOf(whereOf(body));
    if (key !== null) {
      // Asking for the lane would make a published group of a silent key.
      const { policy, current } = fields.ofKey(key, this.#node.keys!.usedNow(key), body.direction ?? 'publish');
      return grant(written, policy, current);
    }
    const lane = laneAsked(this.#node, body);
    if (lane === null) return grant(JSON.stringify(decision), '', '');
    const policy = fields.policy(lane);
    return grant(written, policy, policy === '' ? '' : fields.current(lane, this.#node.clock()));
  }
}

/**
 * Writes to Node's own response, past fastify's hooks, streams and serializers. So the field of the guard
 * (http/access/route-guard.ts) is written here.
 */
export function sendAnswer(response: ServerResponse, { status, fields, body }: AcquireAnswer): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, ['cache-control', 'no-store', ...fields, 'content-length', String(length)]);
  // Node copies Latin-1 at once, and searches other text byte by byte.
  response.end(body, length === body.length ? 'latin1' : 'utf8');
}

/** Sends by fastify, for routes whose answers have fields of hooks. */
export function sendByFastify(reply: FastifyReply, { status, fields, body }: AcquireAnswer): void {
  reply.code(status);
  for (let at = 0; at < fields.length; at += 2) reply.header(fields[at], fields[at + 1]);
  reply.send(body);
}

/** Tests for a grant of the whole request that says nothing else. */
export function isPlainGrant(decision: Granted | Reserved): boolean {
  return !('messages' in decision) && !('id' in decision) && !('shadow' in decision) && !('budget' in decision);
}

interface AskedLane {
  readonly lane: number;
  readonly answers: RefusalAnswers;
  readonly nowMs: number;
}

export function refusedAnswer(decision: Refused, { lane, answers, nowMs }: AskedLane): AcquireAnswer {
  const { level, dimension, retryAfterMs } = decision;
  const retryAfterS = wholeSeconds(retryAfterMs);
  const policy = answers.fields.policyWith(lane, decision);
  const current = answers.fields.current(lane, nowMs, { level, dimension, retryAfterS });
  const fields = [...problemFields(retryAfterS), 'ratelimit-policy', policy, 'ratelimit', current];
  return { status: 429, fields, body: answers.body(lane, decision) };
}

export function notReadyAnswer(
  { because, retryAfterMs }: Pick<NotReady, 'because' | 'retryAfterMs'>,
  { config }: Pick<NodeParts, 'config'>,
): AcquireAnswer {
  const error = new QuotameshError('NOT_READY', { node: config.nodeId, reason: because });
  return unableAnswer(error, retryAfterMs);
}

export function unableAnswer(error: QuotameshError, retryAfterMs: number): AcquireAnswer {
  const body = JSON.stringify(capacityProblem(error, retryAfterMs));
  return { status: 503, fields: problemFields(wholeSeconds(retryAfterMs)), body };
}

export function problemFields(retryAfterS: number): string[] {
  return ['content-type', PROBLEM_MEDIA_TYPE, 'retry-after', String(retryAfterS)];
}

function grant(body: string, policy: string, current: string): AcquireAnswer {
  const fields = policy === '' ? GRANT_FIELDS : [...GRANT_FIELDS, 'ratelimit-policy', policy, 'ratelimit', current];
  return { status: 200, fields, body };
}

const GRANTED_BODY = '{"granted":true}';
export const GRANT_FIELDS = ['content-type', 'application/json; charset=utf-8'] as const;

/** Returns the lane of the group that refused; null = exempt. Else it is that of a scope's most specific group. */
function laneAsked(node: NodeParts, body: AcquireBody, refusedBy?: string): number | null {
  const direction = directionIndex(body.direction ?? 'publish');
  const group = refusedBy ?? nameIn(body);
  if (group !== undefined) return laneOf(node.gate.groupIndex(group), direction);
  return node.gate.scopes.lanesOf(whereOf(body) as Scope, direction)[0] ?? null;
}

/** Counts an acquire that failed: as not ready where there is no room, which violates no policy, else as rejected. */
export function countFailure(outcomes: AcquireOutcomes, error: unknown): void {
  if (error instanceof QuotameshError && error.httpStatus === 503) outcomes.notReady++;
  else outcomes.rejected++;
}

export type AcquireOutcomes = ReturnType<typeof createAcquireOutcomes>;

/** Counts acquires over HTTP by outcome, and their connections, since the start. */
export function createAcquireOutcomes() {
  const [reservations, connections] = [createReservationCounts(), createConnectionCounts()];
  const slots = { open: 0, released: 0, expired: 0, full: 0 };
  return { granted: 0, refused: 0, notReady: 0, rejected: 0, reservations, slots, connections };
}

/**
 * Writes refusals from parts that are made once per slot and level. *Why:* under overload most answers are refusals, and
 * JSON.stringify of an object costs more than a grant.
 */
export class RefusalAnswers {
  readonly fields: RateLimitFields;
  readonly #node: Pick<NodeParts, 'groups'>;
  #heads: string[] = [];
  #version = -1;

  constructor(node: Pick<NodeParts, 'groups'>, fields: RateLimitFields) {
    this.#node = node;
    this.fields = fields;
  }

  body(lane: number, { level, dimension, retryAfterMs, shadow, budget }: Refused): string {
    if (this.#version !== this.#node.groups.version) this.#forget();
    // A group has one budget: its own level tells it from the rest of the slot.
    const slot = slotOf(lane, Math.max(0, (DIMENSIONS as readonly string[]).indexOf(dimension)));
    const at = slot * REFUSERS.length + REFUSERS.indexOf(level);
    this.#heads[at] ??= this.#headOf(lane, level, dimension);
    const planned = shadow === undefined ? '' : `,"shadow":"${shadow}"`;
    const left = budget === undefined ? '' : `,"budget":${JSON.stringify(budget)}`;
    return `${this.#heads[at]}${retryAfterMs}${planned}${left}}`;
  }

  #forget(): void {
    this.#heads = [];
    this.#version = this.#node.groups.version;
  }

  #headOf(lane: number, level: Refuser, dimension: BudgetUnit): string {
    const group = this.#node.groups.at(Math.floor(lane / DIRECTION_COUNT)).name;
    const facts = { group, direction: directionOfLane(lane), dimension };
    const problem = quotaProblem(this.fields.nameOf(lane, dimension, level), facts, level);
    return `${JSON.stringify(problem).slice(0, -1)},"retryAfterMs":`;
  }
}

/** Makes the body of a refusal, but for its `retryAfterMs`. */
export function quotaProblem(
  policy: string,
  facts: { readonly group: string; readonly direction: Direction; readonly dimension: BudgetUnit },
  level: Refuser,
) {
  const error = new QuotameshError('QUOTA_EXCEEDED', { ...facts, what: WHAT[level] });
  return { ...problemOf(error, QUOTA_EXCEEDED_TYPE), 'violated-policies': [policy], ...facts, level };
}

/** Makes the body of a refusal by the slots of a group. */
export function slotsProblem(group: string, because: string, retryAfterMs: number) {
  const error = new QuotameshError('CONCURRENCY_REACHED', { group, reason: because });
  const violated = [policyName(group, 'concurrency')];
  return { ...problemOf(error, QUOTA_EXCEEDED_TYPE), 'violated-policies': violated, group, retryAfterMs };
}

const WHAT: Readonly<Record<Refuser, string>> = {
  group: 'quota',
  budget: 'budget of the period',
  node: 'limit of the node',
  topic: 'limit of the topic on this node',
  client: 'limit of the client on this node',
};

/** Makes a problem without violated policies: the node cannot decide, or has no room. */
export function capacityProblem(error: QuotameshError, retryAfterMs: number) {
  return { ...problemOf(error, REDUCED_CAPACITY_TYPE), 'violated-policies': [], retryAfterMs };
}

/** Acts with a signal that ends with the client's connection. */
export async function untilHangUp<Result>(
  { raw }: FastifyReply,
  act: (hangUp: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const hangUp = new AbortController();
  const onClose = () => hangUp.abort();
  raw.once('close', onClose);
  try {
    return await act(hangUp.signal);
  } finally {
    raw.off('close', onClose);
  }
}
