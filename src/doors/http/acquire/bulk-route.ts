import type { FastifyInstance } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Decision, NotReady, Refused } from '../../../node/api/decision.js';
import { BULK_ANSWERS } from '../route/answer-schemas.js';
import { problemOf } from '../route/problem.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { type AcquireAnswer, countFailure, GRANT_FIELDS, isPlainGrant, sendByFastify } from './acquire-answers.js';
import { type AcquireBody, BULK_BODY } from './acquire-body.js';
import { type AcquireRouteParts, decideAtOnce } from './acquire-route.js';
import type { Reserved } from './open-reservations.js';
import { isPlainBulk } from './plain-request.js';
import { nameIn, whereOf } from './scope-fields.js';
import type { ShortRoute, ShortWay } from './short-way.js';

/** Ratio of a bulk's body limit to a single request's. */
export const BULK_BODY_LIMIT_FACTOR = 16;
export const BULK_PATH = '/v1/acquire/bulk';

/**
 * Adds POST /v1/acquire/bulk: many requests decided in order, as if each came alone. A mistake of one (an unknown
 * group, an amount above maxRequest) is its own answer; a body that the schema refuses charges nothing.
 */
export function addBulkRoute(app: FastifyInstance, parts: AcquireRouteParts & { readonly shortWay: ShortWay }): void {
  const { node, outcomes, handleError, shortWay } = parts;
  route(app, {
    method: 'POST',
    url: BULK_PATH,
    access: needs('traffic'),
    tag: 'admission',
    summary: 'Sends several acquires in one request; each is decided by itself, in order',
    body: BULK_BODY,
    isPlain: isPlainBulk,
    answers: BULK_ANSWERS,
    bodyLimit: bodyLimitOf(node),
    errorHandler: (error, request, reply) => {
      countFailure(outcomes, error);
      handleError(error, request, reply);
    },
    handler: (request, reply) => {
      shortWay.rethrow(request.raw);
      const answer = answersTo(parts, request.body.requests, (wanted, nowMs) => {
        return decideAtOnce(parts, wanted, request, nowMs);
      });
      sendByFastify(reply, answer);
    },
  });
}

/** Answers a plain body of the same route (short-way.ts). */
export function plainBulk(parts: CountingParts): ShortRoute {
  const { node } = parts;
  const decide: Decide = (wanted, nowMs) => node.gate.tryAcquire(whereOf(wanted), wanted, wanted, nowMs);
  return {
    bodyLimit: bodyLimitOf(node),
    answerTo: (body) => (isPlainBulk(body) ? answersTo(parts, body.requests, decide) : null),
  };
}

type CountingParts = Pick<AcquireRouteParts, 'node' | 'outcomes'>;
type Decide = (wanted: AcquireBody, nowMs: number) => Decision | Reserved;

function bodyLimitOf({ config }: CountingParts['node']): number {
  return config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR;
}

/** Decides all requests at one time: the last of a thousand misses 0.5 ms of tokens. */
function answersTo(parts: CountingParts, requests: readonly AcquireBody[], decide: Decide): AcquireAnswer {
  const nowMs = parts.node.clock();
  let answers = '';
  for (const wanted of requests) {
    const answer = answerTo(parts, wanted, decide, nowMs);
    answers += answers === '' ? answer : `,${answer}`;
  }
  return { status: 200, fields: GRANT_FIELDS, body: `{"answers":[${answers}]}` };
}

const GRANTED_ANSWER = '{"status":200,"granted":true}';

/** Returns the answer to one request, as JSON. */
function answerTo(parts: CountingParts, wanted: AcquireBody, decide: Decide, nowMs: number): string {
  const { outcomes } = parts;
  try {
    const decision = decide(wanted, nowMs);
    if (!decision.granted) return JSON.stringify(refusalOf(parts, wanted, decision));
    outcomes.granted++;
    return isPlainGrant(decision) ? GRANTED_ANSWER : JSON.stringify({ status: 200, ...decision });
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    countFailure(outcomes, error);
    return JSON.stringify({ status, granted: false, code, detail, remedy });
  }
}

/** Returns a refusal with the `status` of a single acquire. */
function refusalOf({ node, outcomes }: CountingParts, wanted: AcquireBody, decision: Refused | NotReady): object {
  const { retryAfterMs } = decision;
  if (decision.reason === 'not-ready') {
    outcomes.notReady++;
    return { status: 503, granted: false, code: 'NOT_READY', detail: decision.because, retryAfterMs };
  }
  outcomes.refused++;
  const { level, dimension, shadow } = decision;
  // A scope's refusal names its group itself.
  const group = decision.group ?? node.groups.at(node.gate.groupIndex(nameIn(wanted) as string)).name;
  return {
    status: 429,
    granted: false,
    code: 'QUOTA_EXCEEDED',
    group,
    level,
    dimension,
    retryAfterMs,
    ...(shadow && { shadow }),
  };
}
