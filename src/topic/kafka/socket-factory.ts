import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SocketOptions } from './kafkajs-internals.js';

/** Time after which an idle connection is probed; kafkajs's own factory waits 60 s. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Opens a socket without Nagle's algorithm. kafkajs leaves it on, and it holds small records back while an
 * acknowledgement is out.
 */
export function openSocket({ host, port, ssl, onConnect }: SocketOptions): Socket {
  const socket = ssl
    ? connectTls({ host, port, ...serverName(host), ...(ssl === true ? {} : ssl) }, onConnect)
    : connect({ host, port }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
  return socket;
}

/** The server name is absent for an IP address: TLS forbids addresses there. */
function serverName(host: string): { servername?: string } {
  return isIP(host) ? {} : { servername: host };
}
