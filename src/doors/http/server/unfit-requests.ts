import type { IncomingMessage, RequestListener } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { PULSAR_PREFIX } from '../groups/pulsar-routes.js';
import { PROBLEM_MEDIA_TYPE, unfitBody } from '../route/problem.js';

/**
 * Refuses, in turn, requests without a host or with an unknown expectation. *Why:* Node itself would
 * answer them before a connection's bounds apply, and keep the answers without a bound.
 */
export function refuseUnfit(handle: RequestListener): RequestListener {
  return (request, response) => {
    const unfit = unfitness(request);
    if (unfit === null) {
      handle(request, response);
      return;
    }
    const [status, title, reason] = unfit;
    const body = unfitBody(status, title, reason);
    const length = Buffer.byteLength(body);
    response.writeHead(status, { connection: 'close', 'content-type': PROBLEM_MEDIA_TYPE, 'content-length': length });
    response.end(body);
  };
}

/** Returns why a request is unfit, or null. HTTP/1.0 has neither field. */
function unfitness({ headers, httpVersion }: IncomingMessage) {
  if (httpVersion !== '1.1') return null;
  if (headers.host === undefined) return NO_HOST;
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) return UNKNOWN_EXPECTATION;
  return null;
}

const NO_HOST = [400, 'Bad Request', 'the field host is missing'] as const;
const UNKNOWN_EXPECTATION = [417, 'Expectation Failed', 'only 100-continue may be expected'] as const;

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

/** Takes empty bodies of application/json, as Pulsar's admin client sends them. */
export function takeEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '' && request.url.startsWith(PULSAR_PREFIX)) done(null, undefined);
    else parse(request, body as string, done);
  });
}
