import type { FastifyInstance } from 'fastify';
import { directionIndex, laneOf } from '../../core/vocabulary.js';
import { QuotameshError } from '../../errors.js';
import type { QuotaNode } from '../../runtime/quota-node.js';
import type { Decision } from '../decision.js';
import { type AcquireRouteParts, decideAtOnce } from './acquire-route.js';
import { type AcquireBody, BATCH_BODY_SCHEMA, BATCH_PATH, type BatchBody } from './acquire-schema.js';
import { problemOf } from './problem.js';
import { BATCH_ANSWERS } from './response-schemas.js';

/** A batch is as large as so many single requests may be. */
export const BATCH_BODY_LIMIT_FACTOR = 16;

/**
 * POST /v1/acquire/batch, for sidecars: one request, many asks, decided in their order as if each had come alone. What
 * one of them gets wrong (an unknown group, an amount above maxRequest) is its own answer; a body that the schema
 * refuses charges nothing at all.
 */
export function addBatchRoute(app: FastifyInstance, parts: AcquireRouteParts): void {
  const { node, outcomes, handleError } = parts;
  app.post(
    BATCH_PATH,
    {
      bodyLimit: node.config.http.bodyLimitBytes * BATCH_BODY_LIMIT_FACTOR,
      schema: {
        summary: 'Several acquires in one request; each is decided by itself, in order',
        tags: ['admission'],
        body: BATCH_BODY_SCHEMA,
        response: BATCH_ANSWERS,
      },
      errorHandler: (error, request, reply) => {
        outcomes.rejected++;
        handleError(error, request, reply);
      },
    },
    (request, reply) => {
      const { asks } = request.body as BatchBody;
      const answers = asks.map((ask) => answerTo(parts, ask));
      for (const { status } of answers) {
        if (status === 200) outcomes.granted++;
        else if (status === 429) outcomes.refused++;
        else if (status === 503) outcomes.notReady++;
        else outcomes.rejected++;
      }
      reply.send({ answers });
    },
  );
}

interface BatchAnswer {
  /** As that of a single acquire. */
  readonly status: number;
  readonly granted: boolean;
  readonly [member: string]: unknown;
}

function answerTo(parts: AcquireRouteParts, ask: AcquireBody): BatchAnswer {
  try {
    const decision = decideAtOnce(parts, ask);
    return decision.granted ? { status: 200, ...decision } : refusalOf(parts.node, ask, decision);
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    return { status, granted: false, code, detail, remedy };
  }
}

function refusalOf(node: QuotaNode, ask: AcquireBody, decision: Exclude<Decision, { granted: true }>): BatchAnswer {
  const { retryAfterMs } = decision;
  if (decision.reason === 'not-ready') {
    return { status: 503, granted: false, code: 'NOT_READY', detail: decision.because, retryAfterMs };
  }
  const { level, dimension } = decision;
  const lane = laneOf(node.gate.groupIndex(ask.group), directionIndex(ask.direction ?? 'publish'));
  const group = node.gate.groupOf(lane).name;
  return { status: 429, granted: false, code: 'QUOTA_EXCEEDED', group, level, dimension, retryAfterMs };
}
