import type { FastifyInstance, HTTPMethods } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { needs } from '../route/route-access.js';
import type { KnownRoutes } from '../status/info-routes.js';

/**
 * Runs `addRoutes`, then answers 405 for each path's other methods, where fastify says 404. Its argument is complete
 * once the server is ready.
 */
export function refuseOtherMethods(app: FastifyInstance, addRoutes: (known: KnownRoutes) => void): void {
  const methodsByPath = new Map<string, Set<HTTPMethods>>();
  const routes: string[] = [];
  const aliases: Record<string, string> = {};
  app.addHook('onRoute', ({ method, path, schema, config }) => {
    if (schema?.hide === true) return;
    const known = methodsByPath.get(path) ?? new Set<HTTPMethods>();
    methodsByPath.set(path, known);
    if (config?.aliasOf !== undefined) aliases[path] = config.aliasOf;
    for (const one of [method].flat()) known.add(one);
  });
  addRoutes({ routes, aliases });
  for (const [path, methods] of methodsByPath) {
    addRefusal(app, path, methods);
    if (Object.hasOwn(aliases, path)) continue;
    routes.push(...[...methods].filter((method) => method !== 'HEAD').map((method) => `${method} ${path}`));
  }
}

function addRefusal(app: FastifyInstance, url: string, allowed: ReadonlySet<HTTPMethods>): void {
  app.route({
    method: app.supportedMethods.filter((method) => !allowed.has(method)),
    url,
    schema: { hide: true },
    config: { access: needs('any') },
    // Before the body is read: the answer is the same.
    onRequest: (request, reply) => {
      reply.header('allow', [...allowed].join(', '));
      throw new QuotameshError('METHOD_NOT_ALLOWED', { method: request.method, path: request.url.slice(0, 200) });
    },
    handler: () => undefined,
  });
}
