import type { FastifyInstance } from 'fastify';
import { rejectUnlessAmount } from '../../admission/request/request-checks.js';
import type { ReportedCost } from '../../api/reported-cost.js';
import { checkCost } from '../../backends/report-cost.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { NodeParts } from '../../node/node-parts.js';
import type { AcquireOutcomes } from '../acquire/acquire-outcomes.js';
import { BULK_MAX } from '../acquire/acquire-schema.js';
import { BULK_BODY_LIMIT_FACTOR } from '../acquire/bulk-route.js';
import type { Ending, OpenReservations } from '../acquire/open-reservations.js';
import { describedRoute, invalid, knownMappingIn, mappingIn, NO_QUERY } from '../route/described-route.js';
import { problemOf } from '../route/problem.js';
import { needs } from '../route/route-access.js';
import * as schemas from './reservation-schemas.js';

/** What is used here of a node. */
type UsedParts = Pick<NodeParts, 'config'>;

export interface ReservationRouteParts {
  readonly node: UsedParts;
  readonly reservations: OpenReservations;
  readonly outcomes: AcquireOutcomes;
}

/** What reserved work has cost: `POST /v1/commit`, `/v1/cancel`, and both by the batch; `GET /v1/reservations` counts. */
export function addReservationRoutes(app: FastifyInstance, parts: ReservationRouteParts): void {
  const { reservations } = parts;
  app.post(
    '/v1/commit',
    describedRoute(
      needs('traffic'),
      'admission',
      'Work under an id has been done; what is absent is as it was estimated',
      {
        body: schemas.COMMIT_BODY,
        response: { 200: schemas.ENDED, ...schemas.ENDING_PROBLEMS },
      },
    ),
    (request, reply) => {
      reply.send({ ended: reservations.end(endingOf(request.body, '', COMMIT_FIELDS)) });
    },
  );
  app.post(
    '/v1/cancel',
    describedRoute(needs('traffic'), 'admission', 'Work under an id has not been done: everything is given back', {
      body: schemas.CANCEL_BODY,
      response: { 200: schemas.ENDED, ...schemas.ENDING_PROBLEMS },
    }),
    (request, reply) => {
      reply.send({ ended: reservations.end({ ...endingOf(request.body, '', ['id']), cancel: true }) });
    },
  );
  addBatch(app, parts);
  addCounts(app, parts);
}

function addBatch(app: FastifyInstance, { node, reservations }: ReservationRouteParts): void {
  app.post(
    '/v1/commit/batch',
    {
      bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
      ...describedRoute(
        needs('traffic'),
        'admission',
        'Several commits and cancels in one request; each ends by itself, in order',
        {
          body: schemas.COMMIT_BATCH_BODY,
          response: { 200: schemas.BATCH_ENDED, ...schemas.BODY_PROBLEMS },
        },
      ),
    },
    (request, reply) => {
      const endings = commitsIn(request.body);
      reply.send({ answers: endings.map((given, at) => answerTo(reservations, given, `commits[${at}].`)) });
    },
  );
}

function addCounts(app: FastifyInstance, { node, reservations, outcomes }: ReservationRouteParts): void {
  app.get(
    '/v1/reservations',
    {
      config: { access: needs('viewer') },
      schema: {
        summary: 'Reservations over HTTP: how many are open, and how the others ended',
        tags: ['status'],
        querystring: NO_QUERY,
        response: schemas.COUNTS_ANSWERS,
      },
    },
    (_, reply) => {
      reservations.expire();
      const { maxReservations: max, reservationMs: validMs } = node.config.limits;
      reply.send({ ...outcomes.reservations, max, validMs });
    },
  );
}

const COMMIT_FIELDS: readonly string[] = ['id', 'messages', 'bytes', 'costs'];
const BATCH_FIELDS: readonly string[] = [...COMMIT_FIELDS, 'cancel'];

function answerTo(reservations: OpenReservations, given: unknown, where: string) {
  try {
    return { status: 200, ended: reservations.end(endingOf(given, where, BATCH_FIELDS)) };
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    return { status, code, detail, remedy };
  }
}

function commitsIn(body: unknown): readonly unknown[] {
  const { commits, ...others } = mappingIn(body);
  const other = Object.keys(others)[0];
  if (other !== undefined) throw new QuotameshError('FIELD_UNKNOWN', { field: other.slice(0, 80), near: '' });
  if (Array.isArray(commits) && commits.length >= 1 && commits.length <= BULK_MAX) return commits;
  throw new QuotameshError('FIELD_INVALID', {
    field: 'commits',
    reason: `must be an array of 1 to ${BULK_MAX} endings`,
  });
}

function endingOf(given: unknown, where: string, known: readonly string[]): Ending {
  const body = knownMappingIn(given, where, known);
  const { id, messages, bytes, costs, cancel = false } = body;
  if (typeof id !== 'string') invalid(`${where}id`, 'must be the id of an acquire’s answer');
  if (typeof cancel !== 'boolean') invalid(`${where}cancel`, 'must be true or false');
  if (cancel && (messages ?? bytes ?? costs) !== undefined) {
    invalid(`${where}cancel`, 'excludes messages, bytes and costs: nothing has been done');
  }
  if (messages !== undefined) rejectUnlessAmount(`${where}messages`, messages);
  if (bytes !== undefined) rejectUnlessAmount(`${where}bytes`, bytes);
  if (costs !== undefined) {
    if (!Array.isArray(costs) || costs.length === 0) invalid(`${where}costs`, 'must be an array of at least one cost');
    for (const cost of costs) checkCost(cost as ReportedCost);
  }
  return body as unknown as Ending;
}
