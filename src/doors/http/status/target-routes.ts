import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { ReportedCost } from '../../../node/api/quota-node.js';
import { reportBackend } from '../../../node/backends/report-backend.js';
import { reportCost } from '../../../node/backends/report-cost.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { describeBackends } from '../../../node/status/describe-backends.js';
import { explainGroup } from '../../../node/status/explain-group.js';
import { COST } from '../acquire/acquire-body.js';
import { DIRECTION } from '../acquire/scope-fields.js';
import { ACCEPTED, BACKENDS, BODY_PROBLEMS, EXPLANATION, FACTORS, PROBLEM } from '../route/answer-schemas.js';
import { body } from '../route/body.js';
import { pathParams } from '../route/fields.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { judgedLater, toldAs, withAllowed } from '../route/wording.js';

/** Adds routes for costs, backends' health, and explanations of groups. */
export function addTargetRoutes(app: FastifyInstance, node: NodeParts): void {
  addCostRoutes(app, node);
  addBackendRoutes(app, node);
  route(app, {
    method: 'GET',
    url: '/v1/groups/:group/explain',
    access: needs('viewer'),
    tag: 'target',
    summary: 'Explains the decision in force for a group: every input, in the order in which it counts',
    query: NO_QUERY,
    params: pathParams('group'),
    answers: { 200: EXPLANATION, 404: PROBLEM, 422: PROBLEM, 503: PROBLEM },
    handler: ({ params }) => explainGroup(node, node.gate.groupToExplain(params.group)),
  });
}

function addCostRoutes(app: FastifyInstance, node: NodeParts): void {
  route(app, {
    method: 'POST',
    url: '/v1/costs',
    access: needs('traffic'),
    tag: 'target',
    summary: 'Reports what admitted work has cost',
    body: COSTS_BODY,
    answers: { 202: ACCEPTED, ...BODY_PROBLEMS, 404: PROBLEM, 503: PROBLEM },
    handler: ({ body: { group, costs, ...options } }, reply) => {
      reportCost(node, group, costs as readonly ReportedCost[], options);
      reply.code(202).send({ accepted: true });
    },
  });
  route(app, {
    method: 'GET',
    url: '/v1/costs/factors',
    access: needs('any'),
    tag: 'target',
    summary: 'Tells how many bytes make one cost unit',
    query: NO_QUERY,
    answers: { 200: FACTORS, 422: PROBLEM },
    handler: () => {
      const { readPageBytes, writePageBytes, writeFactor } = node.config.costs;
      return { readPageBytes, writePageBytes, writeFactor };
    },
  });
}

function addBackendRoutes(app: FastifyInstance, node: NodeParts): void {
  route(app, {
    method: 'PUT',
    url: '/v1/backends/:backend',
    access: needs('operator'),
    tag: 'target',
    summary: 'Reports the health of a backend; the report is valid for limiting.healthValidMs',
    params: pathParams('backend'),
    body: BACKEND_BODY,
    answers: { 202: ACCEPTED, ...BODY_PROBLEMS, 503: PROBLEM },
    handler: ({ params, body }, reply) => {
      reportBackend(node, params.backend, body);
      reply.code(202).send({ accepted: true });
    },
  });
  route(app, {
    method: 'GET',
    url: '/v1/backends',
    access: needs('viewer'),
    tag: 'target',
    summary: 'Lists backends with their health and the groups that cost them most',
    query: NO_QUERY,
    answers: { 200: BACKENDS, 422: PROBLEM },
    handler: async () => ({ backends: await describeBackends(node) }),
  });
}

const messages = z
  .number()
  .min(0)
  .max(1e15)
  .meta({ description: 'The number of pieces of work that cost this together.', default: 1 });
const sampled = z.number().gt(0).max(1).meta({
  description: 'The probability with which a piece of work is measured: 0.01 if one of a hundred is.',
  default: 1,
});

/** Body of POST /v1/costs; a single cost needs no list. */
const COSTS_BODY = toldAs(
  body({
    group: withAllowed(
      z.string().meta({ description: 'The name of a configured group.' }),
      'must be the name of a group',
    ),
    direction: DIRECTION,
    messages: withAllowed(messages, 'must be a number from 0 to 1000000000000000').exactOptional(),
    sampled: withAllowed(sampled, 'must be above 0 and at most 1').exactOptional(),
    // Judged by the library, which reports an unknown group first.
    costs: judgedLater(z.union([z.array(COST).min(1), COST])).exactOptional(),
  }).meta({ required: ['group', 'costs'] }),
  ({ field, reason }) => new QuotameshError('COST_INVALID', { field, reason }),
);

const level = z.number().min(0).meta({ description: 'Length of the queue, or utilisation, in the unit of target.' });
const positive = () => withAllowed(z.number().gt(0), 'must be a finite number > 0').exactOptional();
const throttlingRatio = z.number().min(0).max(2).nullable().meta({
  description:
    'The part of its work that the backend can bear, instead of level, target and spring; null means that it is not near saturation.',
});

/** Body of PUT /v1/backends/{backend}; the library judges it. */
const BACKEND_BODY = toldAs(
  body({
    zone: withAllowed(
      z.string().meta({
        description: 'The zone of the backend: backends that fail together. By default a backend is a zone of its own.',
      }),
      'must be a name',
    ).exactOptional(),
    level: withAllowed(level, 'must be a finite number ≥ 0').exactOptional(),
    target: positive(),
    spring: positive(),
    throttlingRatio: withAllowed(throttlingRatio, 'must be a number from 0 to 2, or null').exactOptional(),
  }),
  ({ field, reason, params }) => new QuotameshError('BACKEND_INVALID', { ...params, field, reason }),
);
