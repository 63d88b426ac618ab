import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, lstatSync, renameSync, rmSync, type Stats } from 'node:fs';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { connect } from 'node:net';
import type { FastifyInstance, onSendHookHandler, preParsingHookHandler } from 'fastify';
import { serverOptionsOf } from '../../../base/access/listener-tls.js';
import type { HttpConfig } from '../../../config/resolved/resolved-config.js';
import { ACQUIRE_PATH } from '../acquire/acquire-body.js';
import type { ShortWay } from '../acquire/short-way.js';
import { type ConnectionBounds, RequestClass } from '../connections/connection-bounds.js';
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
  app.addHook('onClose', async () => bounds.close());
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

/**
 * Listens on a socket file, which is removed at the close; replaces that of a dead process. The file gets its name once
 * its rights are set, so that nobody connects earlier, and so that Node removes no file of a newer process by that
 * name. Of two nodes that replace it in the same millisecond the later has it.
 */
export async function listenOnSocket(app: FastifyInstance, path: string, access: SocketAccess): Promise<string> {
  await rejectTaken(path);
  const unnamed = `${path}.${randomBytes(3).toString('hex')}`;
  await app.listen({ path: unnamed });
  try {
    chmodSync(unnamed, MODES[access]);
    renameSync(unnamed, path);
  } catch (error) {
    rmSync(unnamed, { force: true });
    throw error;
  }
  const own = lstatSync(path);
  app.server.once('close', () => {
    if (isSame(fileAt(path), own)) rmSync(path, { force: true });
  });
  return `unix:${path}`;
}

type SocketAccess = HttpConfig['socketAccess'];

const MODES: Readonly<Record<SocketAccess, number>> = { owner: 0o600, group: 0o660, everyone: 0o666 };

async function rejectTaken(path: string): Promise<void> {
  const found = fileAt(path);
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error('the file that is there is no socket');
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return;
    throw error;
  } finally {
    socket.destroy();
  }
  throw new Error('another process listens there');
}

function fileAt(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function isSame(one: Stats | undefined, other: Stats): boolean {
  return one?.ino === other.ino && one.dev === other.dev;
}
