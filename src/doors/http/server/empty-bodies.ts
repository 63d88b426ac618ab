import type { FastifyInstance } from 'fastify';
import { PULSAR_PREFIX } from '../pulsar/pulsar-routes.js';

/** Takes empty bodies of application/json, as Pulsar's admin client sends them. */
export function takeEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && request.url.startsWith(PULSAR_PREFIX)) done(null, undefined);
    else parse(request, body as string, done);
  });
}
