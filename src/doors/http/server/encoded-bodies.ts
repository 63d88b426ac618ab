import type { FastifyInstance } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Refuses compressed bodies before they are read as broken JSON. */
export function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', (request, reply, _, done) => {
    const encoding = request.headers['content-encoding'] ?? '';
    if (encoding === '' || encoding.toLowerCase() === 'identity' || request.is404) {
      done();
      return;
    }
    // RFC 9110, 15.5.16: names what would be taken.
    reply.header('accept-encoding', 'identity');
    done(new QuotameshError('BODY_ENCODED', { encoding: encoding.slice(0, 100) }));
  });
}
