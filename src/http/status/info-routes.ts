import type { FastifyInstance } from 'fastify';
import type { NodeParts } from '../../node/node-parts.js';
import { INDEX } from '../route/answer-schemas.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';

/** What is used here of a node. */
type UsedParts = Pick<NodeParts, 'config' | 'version'>;

/** What GET /metrics sends. */
export interface MetricsPage {
  readonly contentType: string;
  text(): Promise<string>;
}

export interface InfoRouteParts {
  readonly node: UsedParts;
  readonly metrics: MetricsPage;
  /** `GET /livez` and so on; filled when all routes are known. */
  readonly paths: readonly string[];
}

/** Metrics, the OpenAPI document, and an index for people who open the address in a browser. */
export function addInfoRoutes(app: FastifyInstance, { node, metrics, paths }: InfoRouteParts): void {
  const info = { method: 'GET', tag: 'info' } as const;
  route(
    app,
    {
      ...info,
      url: '/metrics',
      access: needs('viewer'),
      summary: 'Exports metrics for Prometheus (docs/reference/metrics.md)',
      answers: {},
    },
    async (_, reply) => {
      const text = await metrics.text();
      return reply.header('content-type', metrics.contentType).send(text);
    },
  );
  const forAll = { ...info, access: needs('any') };
  // Both are the same for everybody and are made once, because strangers may ask for them as often as they like.
  let description: Buffer | null = null;
  route(app, { ...forAll, url: '/openapi.json', summary: 'Returns this description', answers: {} }, (_, reply) => {
    description ??= Buffer.from(JSON.stringify(app.swagger()));
    reply.header('content-type', JSON_MEDIA_TYPE).send(description);
  });
  let index: Buffer | null = null;
  route(app, { ...forAll, url: '/', summary: 'Lists the routes', answers: { 200: INDEX } }, (_, reply) => {
    const { cluster, nodeId } = node.config;
    const facts = { name: 'quotamesh', version: node.version, cluster, node: nodeId, routes: paths };
    index ??= Buffer.from(JSON.stringify(facts));
    reply.header('content-type', JSON_MEDIA_TYPE).send(index);
  });
}

const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
