import type { FastifyInstance } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { AcquireOutcomes } from '../acquire/acquire-outcomes.js';
import { BULK_BODY_LIMIT_FACTOR } from '../acquire/bulk-route.js';
import type { OpenReservations } from '../acquire/open-reservations.js';
import { BODY_PROBLEMS } from '../route/answer-schemas.js';
import { readPart } from '../route/invalid-input.js';
import { problemOf } from '../route/problem.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import * as answers from './reservation-answers.js';
import { CANCEL_BODY, COMMIT_BODY, COMMITS_BODY, ENDING } from './reservation-bodies.js';

type UsedParts = Pick<NodeParts, 'config'>;

export interface ReservationRouteParts {
  readonly node: UsedParts;
  readonly reservations: OpenReservations;
  readonly outcomes: AcquireOutcomes;
}

/** Adds `POST /v1/commit`, `/v1/cancel`, both in bulk, and `GET /v1/reservations`. */
export function addReservationRoutes(app: FastifyInstance, parts: ReservationRouteParts): void {
  const { node, reservations } = parts;
  const described = { method: 'POST', access: needs('traffic'), tag: 'admission' } as const;
  route(
    app,
    {
      ...described,
      url: '/v1/commit',
      summary: 'Ends a reservation whose work was done; amounts that are left out were as estimated',
      body: COMMIT_BODY,
      answers: { 200: answers.ENDED, ...answers.ENDING_PROBLEMS },
    },
    ({ body }, reply) => {
      reply.send({ ended: reservations.end(body) });
    },
  );
  route(
    app,
    {
      ...described,
      url: '/v1/cancel',
      summary: 'Ends a reservation whose work was not done; everything is given back',
      body: CANCEL_BODY,
      answers: { 200: answers.ENDED, ...answers.ENDING_PROBLEMS },
    },
    ({ body }, reply) => {
      reply.send({ ended: reservations.end({ ...body, cancel: true }) });
    },
  );
  route(
    app,
    {
      ...described,
      url: '/v1/commit/bulk',
      summary: 'Ends several reservations in one request, in order; each commit or cancel counts by itself',
      body: COMMITS_BODY,
      answers: { 200: answers.BULK_ENDED, ...BODY_PROBLEMS },
      bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
    },
    ({ body: { commits } }, reply) => {
      reply.send({ answers: commits.map((given, at) => answerTo(reservations, given, `commits[${at}].`)) });
    },
  );
  addCounts(app, parts);
}

function addCounts(app: FastifyInstance, { node, reservations, outcomes }: ReservationRouteParts): void {
  route(
    app,
    {
      method: 'GET',
      url: '/v1/reservations',
      access: needs('viewer'),
      tag: 'status',
      summary: 'Counts the reservations made over HTTP: how many are open, and how the others ended',
      query: NO_QUERY,
      answers: answers.COUNTS_ANSWERS,
    },
    (_, reply) => {
      reservations.expire();
      const { maxReservations: max, reservationMs: validMs } = node.config.limits;
      reply.send({ ...outcomes.reservations, max, validMs });
    },
  );
}

function answerTo(reservations: OpenReservations, given: unknown, where: string) {
  try {
    return { status: 200, ended: reservations.end(readPart(ENDING, given, where)) };
  } catch (error) {
    if (!(error instanceof QuotameshError)) throw error;
    const { status, code, detail, remedy } = problemOf(error);
    return { status, code, detail, remedy };
  }
}
