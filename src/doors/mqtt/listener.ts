import { createServer as createPlain, type Server, type Socket } from 'node:net';
import { createServer as createSecure } from 'node:tls';
import { type ListenerTls, serverOptionsOf } from '../../base/access/listener-tls.js';

export interface ListenerRules {
  readonly tls: ListenerTls | null;
  /** Connections at most; handshakes count. */
  readonly maxConnections: number;
  readonly onSocket: (socket: Socket) => void;
  /** Called when a connection beyond `maxConnections` was closed. */
  readonly onTooMany: () => void;
  /** Called when a TLS handshake failed. */
  readonly onHandshakeFailed: (reason: string) => void;
}

/** Creates the server for clients, with TLS where there is a certificate. */
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

/** Milliseconds for a TLS handshake: four round trips over a bad line. */
const HANDSHAKE_MS = 10_000;
