import { createServer as createPlain, type Server, type Socket } from 'node:net';
import { createServer as createSecure } from 'node:tls';
import { type ListenerTls, serverOptionsOf } from '../../base/access/listener-tls.js';

export interface ListenerRules {
  readonly tls: ListenerTls | null;
  /** Handshakes under way count as connections. */
  readonly maxConnections: number;
  readonly onSocket: (socket: Socket) => void;
  /** A connection was closed at once because there were `maxConnections`. */
  readonly onTooMany: () => void;
  /** A client did not get through the handshake of TLS. */
  readonly onHandshakeFailed: (reason: string) => void;
}

/** The server that clients connect to, with TLS where there is a certificate. */
export function createListener({ tls, maxConnections, onSocket, onTooMany, onHandshakeFailed }: ListenerRules): Server {
  // Half open: the last message of a client that has gone is still read.
  const options = { allowHalfOpen: true, noDelay: true };
  if (tls === null) return createPlain(options, onSocket);
  const server = createSecure({ ...options, ...serverOptionsOf(tls), handshakeTimeout: HANDSHAKE_MS }, onSocket);
  server.maxConnections = maxConnections;
  server.on('drop', onTooMany);
  server.on('tlsClientError', ({ message }) => onHandshakeFailed(message));
  return server;
}

/** Four round trips even over a bad line; until then the connection is one of `maxConnections`. */
const HANDSHAKE_MS = 10_000;
