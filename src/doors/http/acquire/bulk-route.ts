import type { FastifyInstance } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { NotReady, Refused } from '../../../node/api/decision.js';
import type { CallingRequest } from '../access/caller.js';
import { BULK_ANSWERS } from '../route/answer-schemas.js';
import { problemOf } from '../route/problem.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { isPlainGrant } from './acquire-answers.js';
import { type AcquireBody, BULK_BODY } from './acquire-body.js';
import { type AcquireRouteParts, decideAtOnce } from './acquire-route.js';
import { isPlainBulk } from './plain-request.js';
import { nameIn } from './scope-fields.js';

/** Ratio of a bulk's body limit to a single request's. */
export const BULK_BODY_LIMIT_FACTOR = 16;

/**
 * Adds POST /v1/acquire/bulk: many requests decided in order, as if each came alone. A mistake of one (an unknown
 * group, an amount above maxRequest) is its own answer; a body that the schema refuses charges nothing.
 */
export function addBulkRoute(app: FastifyInstance, parts: AcquireRouteParts): void {
  const { node, outcomes, handleError } = parts;
  route(
    app,
    {
      method: 'POST',
      url: '/v1/acquire/bulk',
      access: needs('traffic'),
      tag: 'admission',
      summary: 'Sends several acquires in one request; each is decided by itself, in order',
      body: BULK_BODY,
      isPlain: isPlainBulk,
      answers: BULK_ANSWERS,
      bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
      errorHandler: (error, request, reply) => {
        outcomes.rejected++;
        handleError(error, request, reply);
      },
    },
    (request, reply) => {
      const { requests } = request.body;
      // One reading of the clock for all: 32 cost a tenth of the whole. The last of a thousand lacks the tokens of 0.5
      // ms.
      const nowMs = node.clock();
      let answers = '';
      for (const wanted of requests) {
        const answer = answerTo(parts, wanted, request, nowMs);
        answers += answers === '' ? answer : `,${answer}`;
      }
      reply.header('content-type', 'application/json; charset=utf-8').send(`{"answers":[${answers}]}`);
    },
  );
}

const GRANTED_ANSWER = '{"status":200,"granted":true}';

/** Returns the answer to one request, as JSON. */
function answerTo(parts: AcquireRouteParts, wanted: AcquireBody, asked: CallingRequest, nowMs: number): string {
  const { outcomes } = parts;
  try {
    const decision = decideAtOnce(parts, wanted, asked, nowMs);
    if (!decision.granted) return JSON.stringify(refusalOf(parts, wanted, decision));
    outcomes.granted++;
    return isPlainGrant(decision) ? GRANTED_ANSWER : JSON.stringify({ status: 200, ...decision });
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    if (status === 503) outcomes.notReady++;
    else outcomes.rejected++;
    return JSON.stringify({ status, granted: false, code, detail, remedy });
  }
}

/** Returns a refusal with the `status` of a single acquire. */
function refusalOf({ node, outcomes }: AcquireRouteParts, wanted: AcquireBody, decision: Refused | NotReady): object {
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
