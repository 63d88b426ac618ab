import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { STRATEGY_NAMES } from '../../../core/convergence/strategies.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { describeNode } from '../../../node/status/describe-node.js';
import type { StatusParts } from '../../../node/status/status-parts.js';
import { ENVOY_STATUS, type EnvoyStatus } from '../../envoy/envoy-status.js';
import { KEEPER_STATUS, type KeeperStatus } from '../../kafka-quotas/keeper-status.js';
import { MQTT_STATUS, type MqttStatus } from '../../mqtt/mqtt-status.js';
import { livePage } from '../../page/live/live-page.js';
import { INDEX, json, LIVE, NOT_READY, PROBLEM, READY } from '../route/answer-schemas.js';
import type { KnownPaths } from '../route/known-paths.js';
import { PROBLEM_MEDIA_TYPE, problemOf } from '../route/problem.js';
import { NO_QUERY, route } from '../route/route.js';
import { needs } from '../route/route-access.js';

export interface MetricsPage {
  /** Writes all metrics in the format that a scraper prefers. */
  scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Adds metrics, the OpenAPI document, and an index for browsers. */
export function addInfoRoutes(app: FastifyInstance, node: NodeParts, metrics: MetricsPage, known: KnownPaths): void {
  const info = { method: 'GET', tag: 'info' } as const;
  route(app, {
    ...info,
    url: '/metrics',
    access: needs('viewer'),
    summary: 'Exports metrics for Prometheus (docs/reference/metrics.md)',
    query: NO_QUERY,
    answers: { 422: PROBLEM },
    handler: async ({ headers }, reply) => {
      const { contentType, text } = await metrics.scrape(headers.accept);
      return reply.header('vary', 'accept').header('content-type', contentType).send(text);
    },
  });
  const forAll = { ...info, access: needs('any') };
  // Made once: anybody may ask for them as often as they like.
  let description: Buffer | null = null;
  route(app, {
    ...forAll,
    url: '/openapi.json',
    summary: 'Returns this description',
    answers: {},
    handler: (_, reply) => {
      description ??= Buffer.from(JSON.stringify(app.swagger()));
      reply.header('content-type', JSON_MEDIA_TYPE).send(description);
    },
  });
  addIndex(app, node, known);
}

/** Answers programs with the routes, and browsers with the live page. It needs no token yet. */
function addIndex(app: FastifyInstance, node: NodeParts, known: KnownPaths): void {
  let index: Buffer | null = null;
  let page: Buffer | null = null;
  route(app, {
    method: 'GET',
    tag: 'info',
    url: '/',
    access: { ...needs('any'), isOpenTo: wantsPage },
    summary: 'Lists the routes; shows the live page to browsers, by Accept',
    answers: { 200: INDEX },
    handler: ({ headers }, reply) => {
      reply.header('vary', 'accept');
      if (wantsPage(headers)) {
        page ??= Buffer.from(livePage(STRATEGY_NAMES));
        reply.headers(PAGE_HEADERS).send(page);
        return;
      }
      const { cluster, nodeId } = node.config;
      const facts = {
        name: 'quotamesh',
        version: node.version,
        cluster,
        node: nodeId,
        routes: known.routes,
        aliases: known.aliases,
      };
      index ??= Buffer.from(JSON.stringify(facts));
      reply.header('content-type', JSON_MEDIA_TYPE).send(index);
    },
  });
}

function wantsPage({ accept }: IncomingHttpHeaders): boolean {
  return accept?.includes('text/html') === true;
}

/** Forbids frames; the page itself says what it may load (page/self-contained-page.ts). */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';

/**
 * Adds /livez and /readyz. The one is up while the event loop turns, the other while the node should get traffic. A
 * node that waits for its topic is alive: restarting helps nobody. Isolation keeps it ready.
 */
export function addHealthRoutes(app: FastifyInstance, node: StatusParts): void {
  route(app, {
    ...PROBE,
    url: '/livez',
    summary: 'Tells whether the process is alive',
    answers: { 200: LIVE },
    handler: () => ({ alive: true }),
  });
  const answers = { 200: READY, 503: NOT_READY };
  route(app, {
    ...PROBE,
    url: '/readyz',
    summary: 'Tells whether the node is ready for traffic',
    answers,
    handler: (_, reply) => sendReadiness(reply, node),
  });
  route(app, {
    ...PROBE,
    method: 'OPTIONS',
    url: '/',
    summary: 'Answers as /readyz does: load balancers ask so by default (HAProxy’s httpchk)',
    answers,
    handler: (_, reply) => sendReadiness(reply.header('allow', 'GET, HEAD, OPTIONS'), node),
  });
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

const BESIDE = { method: 'GET', access: needs('viewer'), tag: 'status', query: NO_QUERY } as const;

/** Adds the route beside a keeper of Kafka's quotas (`quotamesh kafka-quotas`). */
export function addKafkaQuotasRoute(app: FastifyInstance, status: () => KeeperStatus): void {
  route(app, {
    ...BESIDE,
    url: '/v1/kafka-quotas',
    summary: 'Shows the keeper of Kafka’s quotas: who writes, what exporters say, what every entity has',
    answers: { 200: json('The state of the keeper of this node.', KEEPER_STATUS), 422: PROBLEM },
    handler: status,
  });
}

export function addEnvoyRoute(app: FastifyInstance, status: () => EnvoyStatus): void {
  route(app, {
    ...BESIDE,
    url: '/v1/envoy',
    summary: 'Shows the gRPC listener for Envoy: its connections, its calls, what failed',
    answers: { 200: json('The state of the listener of this node.', ENVOY_STATUS), 422: PROBLEM },
    handler: status,
  });
}

export function addMqttRoute(app: FastifyInstance, status: () => MqttStatus): void {
  route(app, {
    ...BESIDE,
    url: '/v1/mqtt',
    summary: 'Shows the MQTT broker: its connections, who is throttled and why, its messages',
    answers: { 200: json('The state of the broker of this node.', MQTT_STATUS), 422: PROBLEM },
    handler: status,
  });
}
