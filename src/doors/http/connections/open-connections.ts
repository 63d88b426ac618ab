import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import type { EndReason } from './connection-bounds.js';

/** Request that arrived before an earlier one of its connection was answered. */
interface Held {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface Connection {
  socket: Socket;
  /** Last answer; the next request begins when it is sent. */
  answering: ServerResponse | null;
  held: Held[];
  waitingBytes: number;
  /**
   * Bytes of waiting requests, of a large body, of a large answer. The body is on its way; the answer is not taken yet.
   */
  heldBytes: number;
  /** Answer that was untaken at the last sweep, and since when. */
  unsent: ServerResponse | null;
  unsentSinceMs: number;
}

/**
 * Holds at most `max` connections of a listener. A newcomer replaces a connection that has asked nothing yet, or else
 * an idle one: nobody can lock an orchestrator's probes out by opening them all.
 */
export class OpenConnections {
  readonly #max: number;
  readonly #end: (connection: Connection, reason: EndReason) => void;
  readonly #bySocket = new WeakMap<object, Connection>();
  readonly #fresh = new Set<Connection>();
  readonly #used = new Set<Connection>();
  /** Connections in their TLS handshake, by addresses and ports of both ends. */
  readonly #shaking = new Map<string, Connection>();

  constructor(max: number, end: (connection: Connection, reason: EndReason) => void) {
    this.#max = max;
    this.#end = end;
  }

  get size(): number {
    return this.#fresh.size + this.#used.size;
  }

  /** Watches a server. @param onClosed called when a connection is gone, whoever closed it */
  watch(server: Server, onClosed: (connection: Connection) => void): void {
    const isTls = server instanceof TlsServer;
    server.on('connection', (socket: Socket) => {
      const connection: Connection = {
        socket,
        answering: null,
        held: [],
        waitingBytes: 0,
        heldBytes: 0,
        unsent: null,
        unsentSinceMs: 0,
      };
      this.#bySocket.set(socket, connection);
      this.#fresh.add(connection);
      const ends = isTls ? endsOf(socket) : null;
      if (ends !== null) this.#shaking.set(ends, connection);
      socket.once('close', () => {
        if (ends !== null && this.#shaking.get(ends) === connection) this.#shaking.delete(ends);
        onClosed(connection);
      });
      if (this.size > this.#max) this.#makeRoom(connection);
    });
    // Requests come from the socket that TLS puts over the first one.
    server.on('secureConnection', (secured: TLSSocket) => {
      const ends = endsOf(secured);
      const connection = this.#shaking.get(ends);
      if (connection === undefined) return;
      this.#shaking.delete(ends);
      this.#bySocket.set(secured, connection);
      connection.socket = secured;
      secured.once('close', () => onClosed(connection));
    });
  }

  of(socket: object): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  used(socket: object): Connection | undefined {
    const connection = this.#bySocket.get(socket);
    if (connection !== undefined && this.#fresh.delete(connection)) this.#used.add(connection);
    return connection;
  }

  asked(): Iterable<Connection> {
    return this.#used;
  }

  delete(connection: Connection): void {
    this.#fresh.delete(connection);
    this.#used.delete(connection);
  }

  #makeRoom(newcomer: Connection): void {
    const [waiting] = this.#fresh;
    if (waiting !== undefined && waiting !== newcomer) {
      this.#end(waiting, 'idle-full');
      return;
    }
    let looks = LOOKS_MAX;
    for (const connection of this.#used) {
      if (isIdle(connection)) {
        this.#end(connection, 'idle-full');
        return;
      }
      if (--looks === 0) break;
      // Moved to the end: looked at again after all others.
      this.#used.delete(connection);
      this.#used.add(connection);
    }
    this.#end(newcomer, 'full');
  }
}

/** Looks that a newcomer costs at most if all connections are busy. */
const LOOKS_MAX = 64;

function isIdle({ answering, held }: Connection): boolean {
  return held.length === 0 && (answering === null || answering.writableFinished);
}

function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
