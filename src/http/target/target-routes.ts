import type { FastifyInstance } from 'fastify';
import type { CostOptions, ReportedCost } from '../../api/reported-cost.js';
import type { ReportedHealth } from '../../api/reported-health.js';
import { reportBackend } from '../../backends/report-backend.js';
import { reportCost } from '../../backends/report-cost.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { NodeParts } from '../../node/node-parts.js';
import { describeBackends } from '../../status/describe-backends.js';
import { explainGroup } from '../../status/explain-group.js';
import type { StatusParts } from '../../status/status-parts.js';
import { PROBLEM } from '../route/answer-schemas.js';
import { describedRoute, mappingIn } from '../route/described-route.js';
import { needs } from '../route/route-access.js';
import { ACCEPTED, BACKEND_BODY, BACKENDS, COSTS_BODY, EXPLANATION, FACTORS } from './target-schemas.js';

/** What is used here of a node. */
type UsedParts = StatusParts & Pick<NodeParts, 'gate' | 'loop'>;

/** Costs of admitted work, health of backends, and why a group may do what it may do. */
export function addTargetRoutes(app: FastifyInstance, node: UsedParts): void {
  addCostRoute(app, node);
  addFactorsRoute(app, node);
  addBackendRoutes(app, node);
  app.get<{ Params: { group: string } }>(
    '/v1/groups/:group/explain',
    describedRoute(needs('viewer'), 'target', 'Every input of the decision in force for a group, in order', {
      params: nameParam('group'),
      response: { 200: EXPLANATION, 404: PROBLEM, 503: PROBLEM },
    }),
    (request, reply) => {
      reply.send(explainGroup(node, node.gate.groupIndex(request.params.group)));
    },
  );
}

function addCostRoute(app: FastifyInstance, node: UsedParts): void {
  app.post(
    '/v1/costs',
    describedRoute(needs('traffic'), 'target', 'What admitted work has cost, after the fact', {
      body: COSTS_BODY,
      response: { 202: ACCEPTED, 400: PROBLEM, 404: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM, 503: PROBLEM },
    }),
    (request, reply) => {
      const { group, costs, ...options } = mappingIn(request.body);
      if (typeof group !== 'string') throw new QuotameshError('COST_INVALID', { field: 'group', reason: 'is missing' });
      const unknown = Object.keys(options).find((key) => !['direction', 'messages', 'sampled'].includes(key));
      if (unknown !== undefined) {
        throw new QuotameshError('COST_INVALID', { field: unknown.slice(0, 80), reason: 'is not known' });
      }
      reportCost(node, group, (costs ?? []) as readonly ReportedCost[], options as CostOptions);
      reply.code(202).send({ accepted: true });
    },
  );
}

function addFactorsRoute(app: FastifyInstance, node: UsedParts): void {
  app.get(
    '/v1/costs/factors',
    describedRoute(needs('any'), 'target', 'How bytes become cost units', { response: { 200: FACTORS } }),
    (_, reply) => {
      const { readPageBytes, writePageBytes, writeFactor } = node.config.costs;
      reply.send({ readPageBytes, writePageBytes, writeFactor });
    },
  );
}

function addBackendRoutes(app: FastifyInstance, node: UsedParts): void {
  app.put<{ Params: { backend: string } }>(
    '/v1/backends/:backend',
    describedRoute(needs('operator'), 'target', 'How a backend is; holds for limiting.healthValidMs', {
      params: nameParam('backend'),
      body: BACKEND_BODY,
      response: { 202: ACCEPTED, 400: PROBLEM, 413: PROBLEM, 415: PROBLEM, 422: PROBLEM, 503: PROBLEM },
    }),
    (request, reply) => {
      reportBackend(node, request.params.backend, mappingIn(request.body) as ReportedHealth);
      reply.code(202).send({ accepted: true });
    },
  );
  app.get(
    '/v1/backends',
    describedRoute(needs('viewer'), 'target', 'Backends with their health and the groups that cost them most', {
      response: { 200: BACKENDS },
    }),
    (_, reply) => {
      reply.send({ backends: describeBackends(node) });
    },
  );
}

function nameParam(name: string) {
  return { type: 'object', required: [name], properties: { [name]: { type: 'string' } } };
}
