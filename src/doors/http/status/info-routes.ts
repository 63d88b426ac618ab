import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { STRATEGY_NAMES } from '../../../core/convergence/strategies.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import { livePage } from '../../page/live/live-page.js';
import { INDEX } from '../route/answer-schemas.js';
import { route } from '../route/route.js';
import { needs } from '../route/route-access.js';

type UsedParts = Pick<NodeParts, 'config' | 'version'>;

export interface MetricsPage {
  scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface KnownRoutes {
  /** Routes like `GET /livez`, each once. */
  readonly routes: readonly string[];
  /** Path of Pulsar's clients → path of the same routes. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface InfoRouteParts {
  readonly node: UsedParts;
  readonly metrics: MetricsPage;
  readonly known: KnownRoutes;
}

/** Adds metrics, the OpenAPI document, and an index for browsers. */
export function addInfoRoutes(app: FastifyInstance, { node, metrics, known }: InfoRouteParts): void {
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
    async ({ headers }, reply) => {
      const { contentType, text } = await metrics.scrape(headers.accept);
      return reply.header('vary', 'accept').header('content-type', contentType).send(text);
    },
  );
  const forAll = { ...info, access: needs('any') };
  // Made once: anybody may ask for them as often as they like.
  let description: Buffer | null = null;
  route(app, { ...forAll, url: '/openapi.json', summary: 'Returns this description', answers: {} }, (_, reply) => {
    description ??= Buffer.from(JSON.stringify(app.swagger()));
    reply.header('content-type', JSON_MEDIA_TYPE).send(description);
  });
  addIndex(app, node, known);
}

/** Answers programs with the routes, and browsers with the live page, which needs no token yet. */
function addIndex(app: FastifyInstance, node: UsedParts, known: KnownRoutes): void {
  let index: Buffer | null = null;
  let page: Buffer | null = null;
  const answers = { 200: INDEX };
  const access = { ...needs('any'), isOpenTo: wantsPage };
  const summary = 'Lists the routes; shows the live page to browsers, by Accept';
  route(app, { method: 'GET', tag: 'info', url: '/', access, summary, answers }, ({ headers }, reply) => {
    reply.header('vary', 'accept');
    if (wantsPage(headers)) {
      page ??= Buffer.from(livePage(STRATEGY_NAMES));
      reply.headers(PAGE_HEADERS).send(page);
      return;
    }
    const { cluster, nodeId } = node.config;
    const facts = { name: 'quotamesh', version: node.version, cluster, node: nodeId, ...known };
    index ??= Buffer.from(JSON.stringify(facts));
    reply.header('content-type', JSON_MEDIA_TYPE).send(index);
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
