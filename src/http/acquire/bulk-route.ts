import type { FastifyInstance } from 'fastify';
import { GRANTED_DECISION, type NotReady, type Refused } from '../../api/decision.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { BATCH_ANSWERS } from '../route/answer-schemas.js';
import { problemOf } from '../route/problem.js';
import { needs } from '../route/route-access.js';
import { type AcquireRouteParts, decideAtOnce } from './acquire-route.js';
import { type AcquireBody, type BatchBody, BULK_BODY_SCHEMA, BULK_PATH } from './acquire-schema.js';
import { unlessPlain } from './plain-bulk.js';

/** A batch is as large as so many single requests may be. */
export const BULK_BODY_LIMIT_FACTOR = 16;

/**
 * POST /v1/acquire/batch, for sidecars: one request, many asks, decided in their order as if each had come alone. What
 * one of them gets wrong (an unknown group, an amount above maxRequest) is its own answer; a body that the schema
 * refuses charges nothing at all.
 */
export function addBatchRoute(app: FastifyInstance, parts: AcquireRouteParts): void {
  const { node, outcomes, handleError } = parts;
  app.post(
    BULK_PATH,
    {
      config: { access: needs('traffic') },
      bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
      schema: {
        summary: 'Several acquires in one request; each is decided by itself, in order',
        tags: ['admission'],
        body: BULK_BODY_SCHEMA,
        response: BATCH_ANSWERS,
      },
      validatorCompiler: unlessPlain(app),
      errorHandler: (error, request, reply) => {
        outcomes.rejected++;
        handleError(error, request, reply);
      },
    },
    (request, reply) => {
      const { asks } = request.body as BatchBody;
      // Read once: 32 reads are a tenth of what the request takes. The last ask of a thousand is decided half a
      // millisecond late, on tokens that are fewer by as much.
      const nowMs = node.clock();
      let answers = '';
      for (const ask of asks)
        answers += answers === '' ? answerTo(parts, ask, nowMs) : `,${answerTo(parts, ask, nowMs)}`;
      reply.header('content-type', 'application/json; charset=utf-8').send(`{"answers":[${answers}]}`);
    },
  );
}

/** Most answers of most batches; made once. */
const GRANTED_ANSWER = '{"status":200,"granted":true}';

/** As JSON. */
function answerTo(parts: AcquireRouteParts, ask: AcquireBody, nowMs: number): string {
  const { outcomes } = parts;
  try {
    const decision = decideAtOnce(parts, ask, nowMs);
    if (!decision.granted) return JSON.stringify(refusalOf(parts, ask, decision));
    outcomes.granted++;
    return decision === GRANTED_DECISION ? GRANTED_ANSWER : JSON.stringify({ status: 200, ...decision });
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    if (status === 503) outcomes.notReady++;
    else outcomes.rejected++;
    return JSON.stringify({ status, granted: false, code, detail, remedy });
  }
}

/** `status` is that of a single acquire. */
function refusalOf({ node, outcomes }: AcquireRouteParts, ask: AcquireBody, decision: Refused | NotReady): object {
  const { retryAfterMs } = decision;
  if (decision.reason === 'not-ready') {
    outcomes.notReady++;
    return { status: 503, granted: false, code: 'NOT_READY', detail: decision.because, retryAfterMs };
  }
  outcomes.refused++;
  const { level, dimension } = decision;
  // Refusals of a place name the group themselves.
  const group = decision.group ?? node.groups.at(node.gate.groupIndex(ask.group as string)).name;
  return { status: 429, granted: false, code: 'QUOTA_EXCEEDED', group, level, dimension, retryAfterMs };
}
