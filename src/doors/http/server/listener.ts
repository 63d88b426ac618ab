import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { FastifyInstance, onSendHookHandler, preParsingHookHandler } from 'fastify';
import { serverOptionsOf } from '../../../base/access/listener-tls.js';
import type { HttpConfig } from '../../../config/resolved/resolved-config.js';
import { ACQUIRE_PATH } from '../acquire/acquire-body.js';
import type { ShortWay } from '../acquire/short-way.js';
import type { ConnectionBounds } from '../connections/connection-bounds.js';
import { RequestClass } from '../connections/dropped-requests.js';
import { refuseUnfit } from './unfit-requests.js';

export function listenerOf(config: HttpConfig, bounds: ConnectionBounds, shortWay: ShortWay) {
  const serverFactory = (handle: unknown) => {
    return createListener(config, bounds, refuseUnfit(shortWay.before(handle as RequestListener)));
  };
  // Fastify reads `https` only for the URL that it prints.
  return { serverFactory, ...(config.tls === null ? {} : { https: {} }) };
}

function createListener(config: HttpConfig, bounds: ConnectionBounds, handle: RequestListener): Server {
  const { requestTimeout, keepAliveTimeout, connectionTimeout } = TIMEOUTS_MS;
  const options = {
    requestTimeout,
    keepAliveTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: 5000,
    IncomingMessage: RequestClass,
    requireHostHeader: false,
  };
  const server =
    config.tls === null
      ? createHttp(options)
      : createHttps({ ...options, handshakeTimeout: requestTimeout, ...serverOptionsOf(config.tls) });
  server.setTimeout(connectionTimeout);
  bounds.guard(server, handle);
  return server;
}

/** Measures large bodies and answers for the bounds; skips acquires, which are small and hot. */
export function measureAnswers(app: FastifyInstance, bounds: ConnectionBounds): void {
  app.addHook('onClose', (_, done) => {
    bounds.close();
    done();
  });
  app.addHook('onRoute', (route) => {
    const { bodyLimit } = route;
    // Only routes with large bodies have a limit of their own.
    if (bodyLimit !== undefined) {
      const read: preParsingHookHandler = (request, reply, _, done) => {
        bounds.reading(request.raw, reply.raw, bodyLimit);
        done();
      };
      route.preParsing = [read, ...[route.preParsing ?? []].flat()];
    }
    if (route.url === ACQUIRE_PATH || route.method === 'HEAD') return;
    const measure: onSendHookHandler = (_, reply, payload, done) => {
      if (typeof payload === 'string' || Buffer.isBuffer(payload)) bounds.answered(reply.raw, payload.length);
      done();
    };
    route.onSend = [measure, ...[route.onSend ?? []].flat()];
  });
}

/**
 * Bounds of slow requests: some hundred bytes need no 10 s. Keep-alive outlasts load balancers' idle timeout (60 s), so
 * that they close first and no request meets a closing connection.
 */
const TIMEOUTS_MS = { requestTimeout: 10_000, connectionTimeout: 90_000, keepAliveTimeout: 75_000 } as const;
