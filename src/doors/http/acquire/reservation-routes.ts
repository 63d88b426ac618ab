import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { listOf, record } from '../../../node/api/answer-table.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { BODY_PROBLEMS, itemOf, json, PROBLEM } from '../route/answer-schemas.js';
import { body, type Rule } from '../route/body.js';
import { amount, bulkOf, flag } from '../route/fields.js';
import { readPart } from '../route/invalid-input.js';
import { itemAnswer } from '../route/problem.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { judgedLater, withAllowed } from '../route/wording.js';
import { COST } from './acquire-body.js';
import { BULK_BODY_LIMIT_FACTOR } from './bulk-route.js';
import type { Ending, OpenReservations } from './open-reservations.js';

/** Adds `POST /v1/commit`, `/v1/cancel`, and both in bulk. */
export function addReservationRoutes(app: FastifyInstance, node: NodeParts, reservations: OpenReservations): void {
  const described = { method: 'POST', access: needs('traffic'), tag: 'admission' } as const;
  route(app, {
    ...described,
    url: '/v1/commit',
    summary: 'Ends a reservation whose work was done; amounts that are left out were as estimated',
    body: COMMIT_BODY,
    answers: { 200: ENDED, ...ENDING_PROBLEMS },
    handler: ({ body }) => ({ ended: reservations.end(body) }),
  });
  route(app, {
    ...described,
    url: '/v1/cancel',
    summary: 'Ends a reservation whose work was not done; everything is given back',
    body: CANCEL_BODY,
    answers: { 200: ENDED, ...ENDING_PROBLEMS },
    handler: ({ body }) => ({ ended: reservations.end({ ...body, cancel: true }) }),
  });
  route(app, {
    ...described,
    url: '/v1/commit/bulk',
    summary: 'Ends several reservations in one request, in order; each commit or cancel counts by itself',
    body: COMMITS_BODY,
    answers: { 200: BULK_ENDED, ...BODY_PROBLEMS },
    bodyLimit: node.config.http.bodyLimitBytes * BULK_BODY_LIMIT_FACTOR,
    handler: ({ body: { commits } }) => ({
      answers: commits.map((given, at) =>
        itemAnswer(() => ({ ended: reservations.end(readPart(ENDING, given, `commits[${at}].`)) })),
      ),
    }),
  });
}

const HOW = z.enum(['committed', 'cancelled']);

const ENDED = json('The reservation has ended.', record({ ended: HOW }));

const ENDING_PROBLEMS = { ...BODY_PROBLEMS, 404: PROBLEM, 409: PROBLEM, 503: PROBLEM };

const BULK_ENDED = json('One answer per commit, in their order.', record({ answers: listOf(itemOf({ ended: HOW })) }));

const idText = z
  .string()
  .meta({ description: 'The `id` in the answer to the acquire.', examples: ['9f86d081884c-17'] });
const id = withAllowed(idText, 'must be the id of an acquire’s answer');

const costs = z
  .array(COST)
  .min(1)
  .meta({ description: 'The actual costs, as POST /v1/costs takes them. Absent means that they were as estimated.' });

const ACTUAL = {
  id,
  messages: amount(
    'The actual number of messages; absent means as many as estimated. The difference is given back or charged.',
  ).exactOptional(),
  bytes: amount('The actual number of bytes; absent means as many as estimated.').exactOptional(),
  costs: withAllowed(costs, 'must be an array of at least one cost').exactOptional(),
};

const COMMIT_BODY = body(ACTUAL);

const CANCEL_BODY = body({ id });

const CANCELS_ALL: Rule<Ending> = {
  isKept: ({ cancel = false, ...actual }) => !cancel || (actual.messages ?? actual.bytes ?? actual.costs) === undefined,
  mistake: (where) => {
    const reason = 'excludes messages, bytes and costs: nothing has been done';
    return new QuotameshError('FIELD_INVALID', { field: `${where}cancel`, reason });
  },
};

const ENDING = body(
  { ...ACTUAL, cancel: flag('True if the work was not done: everything is given back.').exactOptional() },
  [CANCELS_ALL],
);

const COMMITS_BODY = body({ commits: bulkOf(judgedLater(ENDING), 'endings') });
