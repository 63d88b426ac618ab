import type { FastifyInstance } from 'fastify';
import { PULSAR_PREFIX } from '../pulsar/pulsar-routes.js';

/** Pulsar's admin client sends content-type: application/json with nothing behind it. Elsewhere that stays an error, fastify's own. */
export function takeEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && request.url.startsWith(PULSAR_PREFIX)) done(null, undefined);
    else parse(request, body as string, done);
  });
}
