import type { FastifyInstance, FastifyReply } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { describeNode } from '../../../node/status/describe-node.js';
import type { StatusParts } from '../../../node/status/status-parts.js';
import { LIVE, NOT_READY, READY } from '../route/answer-schemas.js';
import { PROBLEM_MEDIA_TYPE, problemOf } from '../route/problem.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';

/**
 * Adds /livez, up while the event loop turns, and /readyz, up while the node should get traffic. A node that waits for
 * its topic is alive: restarting helps nobody. Isolation keeps it ready.
 */
export function addHealthRoutes(app: FastifyInstance, node: StatusParts): void {
  route(
    app,
    { ...PROBE, url: '/livez', summary: 'Tells whether the process is alive', answers: { 200: LIVE } },
    (_, reply) => {
      reply.send({ alive: true });
    },
  );
  const answers = { 200: READY, 503: NOT_READY };
  route(
    app,
    { ...PROBE, url: '/readyz', summary: 'Tells whether the node is ready for traffic', answers },
    (_, reply) => sendReadiness(reply, node),
  );
  const summary = 'Answers as /readyz does: load balancers ask so by default (HAProxy’s httpchk)';
  route(app, { ...PROBE, method: 'OPTIONS', url: '/', summary, answers }, (_, reply) =>
    sendReadiness(reply.header('allow', 'GET, HEAD, OPTIONS'), node),
  );
}

const PROBE = { method: 'GET', access: needs('open'), tag: 'health' } as const;

function sendReadiness(reply: FastifyReply, node: StatusParts): void {
  const { ready, notReadyBecause: reasons, degraded } = describeNode(node);
  if (ready) {
    reply.send({ ready, degraded });
    return;
  }
  const error = new QuotameshError('NOT_READY', { node: node.config.nodeId, reason: reasons.join('; ') });
  reply.code(503).header('retry-after', 1).header('content-type', PROBLEM_MEDIA_TYPE);
  reply.send(JSON.stringify({ ...problemOf(error), reasons, degraded }));
}
