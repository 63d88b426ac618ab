import type { FastifyInstance } from 'fastify';
import type { ReportedCost } from '../../../node/api/quota-node.js';
import { reportBackend } from '../../../node/backends/report-backend.js';
import { reportCost } from '../../../node/backends/report-cost.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { describeBackends } from '../../../node/status/describe-backends.js';
import { explainGroup } from '../../../node/status/explain-group.js';
import type { StatusParts } from '../../../node/status/status-parts.js';
import { BODY_PROBLEMS, PROBLEM } from '../route/answer-schemas.js';
import { pathParams } from '../route/fields.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';
import { ACCEPTED, BACKENDS, EXPLANATION, FACTORS } from './target-answers.js';
import { BACKEND_BODY, COSTS_BODY } from './target-bodies.js';

type UsedParts = StatusParts & Pick<NodeParts, 'gate' | 'loop'>;

/** Adds routes for costs, backends' health, and explanations of groups. */
export function addTargetRoutes(app: FastifyInstance, node: UsedParts): void {
  addCostRoutes(app, node);
  addBackendRoutes(app, node);
  route(
    app,
    {
      method: 'GET',
      url: '/v1/groups/:group/explain',
      access: needs('viewer'),
      tag: 'target',
      summary: 'Explains the decision in force for a group: every input, in the order in which it counts',
      params: pathParams('group'),
      answers: { 200: EXPLANATION, 404: PROBLEM, 503: PROBLEM },
    },
    ({ params }, reply) => {
      reply.send(explainGroup(node, node.gate.groupToExplain(params.group)));
    },
  );
}

function addCostRoutes(app: FastifyInstance, node: UsedParts): void {
  route(
    app,
    {
      method: 'POST',
      url: '/v1/costs',
      access: needs('traffic'),
      tag: 'target',
      summary: 'Reports what admitted work has cost',
      body: COSTS_BODY,
      answers: { 202: ACCEPTED, ...BODY_PROBLEMS, 404: PROBLEM, 503: PROBLEM },
    },
    ({ body: { group, costs, ...options } }, reply) => {
      reportCost(node, group, costs as readonly ReportedCost[], options);
      reply.code(202).send({ accepted: true });
    },
  );
  route(
    app,
    {
      method: 'GET',
      url: '/v1/costs/factors',
      access: needs('any'),
      tag: 'target',
      summary: 'Tells how many bytes make one cost unit',
      answers: { 200: FACTORS },
    },
    (_, reply) => {
      const { readPageBytes, writePageBytes, writeFactor } = node.config.costs;
      reply.send({ readPageBytes, writePageBytes, writeFactor });
    },
  );
}

function addBackendRoutes(app: FastifyInstance, node: UsedParts): void {
  route(
    app,
    {
      method: 'PUT',
      url: '/v1/backends/:backend',
      access: needs('operator'),
      tag: 'target',
      summary: 'Reports the health of a backend; the report is valid for limiting.healthValidMs',
      params: pathParams('backend'),
      body: BACKEND_BODY,
      answers: { 202: ACCEPTED, ...BODY_PROBLEMS, 503: PROBLEM },
    },
    ({ params, body }, reply) => {
      reportBackend(node, params.backend, body);
      reply.code(202).send({ accepted: true });
    },
  );
  route(
    app,
    {
      method: 'GET',
      url: '/v1/backends',
      access: needs('viewer'),
      tag: 'target',
      summary: 'Lists backends with their health and the groups that cost them most',
      answers: { 200: BACKENDS },
    },
    async (_, reply) => {
      reply.send({ backends: await describeBackends(node) });
      return reply;
    },
  );
}
