import { IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Clock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { HttpConfig } from '../../../config/resolved/resolved-config.js';
import { type Connection, OpenConnections } from './open-connections.js';

interface BoundsParts {
  readonly http: HttpConfig;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly counts: ConnectionCounts;
}

/**
 * Bounds the memory that clients take of the listener. *Why:* Node's server parses every request that arrives, and keeps
 * every answer until the client takes it. Here a connection has one request under way and a bounded number behind it,
 * and all share one budget of memory. A connection without pipelining costs one look at its last answer.
 */
export class ConnectionBounds {
  readonly #parts: BoundsParts;
  readonly #connections: OpenConnections;
  /** Connections that hold memory, the longest holder first. */
  readonly #holding = new Set<Connection>();
  readonly #sweep: NodeJS.Timeout;
  #handle: RequestListener = () => undefined;
  #loggedMs = -Infinity;
  #lastAddress = '';

  constructor(parts: BoundsParts) {
    this.#parts = parts;
    const end = (connection: Connection, reason: EndReason) => this.#end(connection, reason);
    this.#connections = new OpenConnections(parts.http.maxConnections, end);
    this.#sweep = setInterval(() => this.sweep(), SWEEP_MS);
    this.#sweep.unref();
  }

  /** Puts the bounds between a server and its handler. */
  guard(server: Server, handle: RequestListener): void {
    this.#handle = handle;
    server.on('request', (request, response) => this.#take(request, response));
    server.on('checkExpectation', (request, response) => this.#take(request, response));
    this.#connections.watch(server, (connection) => this.#forget(connection));
  }

  close(): void {
    clearInterval(this.#sweep);
  }

  /** Counts an answer of this size until the client takes it. */
  answered(response: ServerResponse, bytes: number): void {
    if (bytes >= LARGE_BYTES) this.#holdFor(response.req.socket, response, bytes);
  }

  /** Counts a large body before it is read; `limit` = most bytes read of it. */
  reading(request: IncomingMessage, response: ServerResponse, limit: number): void {
    const length = Number(request.headers['content-length'] ?? limit);
    if (length < LARGE_BYTES || length > limit) return;
    this.#holdFor(request.socket, response, length);
  }

  /** Ends connections that do not take their answer, and logs them. */
  sweep(): void {
    const nowMs = this.#parts.clock();
    for (const connection of this.#connections.asked()) {
      const { answering } = connection;
      if (answering === null) continue;
      if (answering.writableFinished) {
        // An idle connection keeps nothing of an answer in memory.
        connection.answering = null;
        connection.unsent = null;
      } else if (answering.writableEnded && connection.unsent !== answering) {
        connection.unsent = answering;
        connection.unsentSinceMs = nowMs;
      } else if (connection.unsent === answering && nowMs - connection.unsentSinceMs >= this.#parts.http.notReadingMs) {
        this.#end(connection, 'not-reading');
      }
    }
    this.#parts.counts.open = this.#connections.size;
    this.#tell(nowMs);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    // Some version of Node may pass it on.
    if (request === DROPPED) return;
    joinChunks(request);
    const connection = this.#connections.used(request.socket);
    if (connection === undefined) {
      this.#handle(request, response);
      return;
    }
    const { answering, held } = connection;
    if (answering === null || (answering.writableFinished && held.length === 0)) {
      connection.answering = response;
      this.#handle(request, response);
      return;
    }
    if (held.length === 0) answering.once('close', () => this.#next(connection));
    held.push({ request, response });
    this.#wait(connection, memoryOf(request));
    const isTooDeep = held.length > this.#parts.http.maxPipelined || connection.waitingBytes > WAITING_BYTES_MAX;
    if (isTooDeep && !connection.socket.destroyed) this.#end(connection, 'pipelined');
  }

  /** Begins the next request: the last answer was sent, or the connection ended. */
  #next(connection: Connection): void {
    const next = connection.held.shift();
    if (next === undefined || connection.socket.destroyed) return;
    this.#wait(connection, -memoryOf(next.request));
    connection.answering = next.response;
    if (connection.held.length > 0) next.response.once('close', () => this.#next(connection));
    this.#handle(next.request, next.response);
  }

  #wait(connection: Connection, bytes: number): void {
    connection.waitingBytes += bytes;
    this.#hold(connection, bytes);
  }

  #holdFor(socket: Socket, response: ServerResponse, bytes: number): void {
    const connection = this.#connections.of(socket);
    if (connection === undefined || connection.socket.destroyed) return;
    this.#hold(connection, bytes);
    response.once('close', () => this.#hold(connection, -bytes));
  }

  /** Counts held bytes; beyond the budget it ends the longest holders. */
  #hold(connection: Connection, bytes: number): void {
    const { counts, http } = this.#parts;
    if (connection.socket.destroyed) return;
    connection.heldBytes += bytes;
    counts.heldBytes += bytes;
    if (connection.heldBytes === 0) this.#holding.delete(connection);
    else if (bytes > 0) this.#holding.add(connection);
    // The last stays: an answer larger than the budget reaches the only client that asks.
    while (counts.heldBytes > http.maxHeldBytes && this.#holding.size > 1) {
      const [oldest] = this.#holding;
      this.#end(oldest, 'held-full');
    }
  }

  #end(connection: Connection, reason: EndReason): void {
    this.#parts.counts.ended[reason]++;
    this.#lastAddress = connection.socket.remoteAddress ?? '';
    connection.socket.destroy();
    this.#forget(connection);
  }

  #forget(connection: Connection): void {
    this.#parts.counts.heldBytes -= connection.heldBytes;
    connection.heldBytes = 0;
    connection.held = [];
    connection.answering = null;
    this.#holding.delete(connection);
    this.#connections.delete(connection);
    this.#parts.counts.open = this.#connections.size;
  }

  /** Logs ended connections at once, and then one line a minute. */
  #tell(nowMs: number): void {
    const { counts, telemetry } = this.#parts;
    const untold = Object.entries(counts.ended).filter(([reason, count]) => count > counts.told[reason as EndReason]);
    if (untold.length === 0 || nowMs - this.#loggedMs < TOLD_EVERY_MS) return;
    const facts = Object.fromEntries(
      untold.map(([reason, count]) => [reason, count - counts.told[reason as EndReason]]),
    );
    telemetry.log('warn', 'connections ended', { listener: 'http', ...facts, lastAddress: this.#lastAddress });
    Object.assign(counts.told, counts.ended);
    this.#loggedMs = nowMs;
  }
}

/** Bytes below which answers and bodies are not counted: one at a time per connection. */
const LARGE_BYTES = 16_384;
/** Most bytes of one connection's waiting requests; the default of 32 acquires needs less. */
const WAITING_BYTES_MAX = 131_072;
/** Bytes of Node's objects for a request and its answer. */
const REQUEST_BYTES = 2048;
/** Most bytes that Node reads of a body unasked. */
const UNREAD_BODY_BYTES = 16_384;
const SWEEP_MS = 1000;
const TOLD_EVERY_MS = 60_000;

function memoryOf({ rawHeaders, url = '', headers }: IncomingMessage): number {
  let bytes = REQUEST_BYTES + url.length;
  for (const text of rawHeaders) bytes += text.length;
  const isChunked = headers['transfer-encoding'] !== undefined;
  return bytes + Math.min(UNREAD_BODY_BYTES, isChunked ? UNREAD_BODY_BYTES : Number(headers['content-length'] ?? 0));
}

export type EndReason = 'idle-full' | 'full' | 'pipelined' | 'not-reading' | 'held-full';

/** Counted by the listener, read by the metrics. */
export type ConnectionCounts = ReturnType<typeof createConnectionCounts>;

/** Counts; `heldBytes` of waiting requests, large bodies and answers not taken yet, `told` = ended ones in the log. */
export function createConnectionCounts() {
  return { open: 0, heldBytes: 0, ended: none(), told: none() };
}

function none(): Record<EndReason, number> {
  return { 'idle-full': 0, full: 0, pipelined: 0, 'not-reading': 0, 'held-full': 0 };
}

/**
 * Joins small chunks of a body into larger ones. *Why:* Node keeps about 150 bytes per chunk until the end of a body,
 * even for chunks of one byte.
 */
function joinChunks(request: IncomingMessage): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const push = request.push.bind(request);
  let joined: Buffer | null = null;
  let length = 0;
  const flush = (): boolean => {
    if (joined === null || length === 0) return true;
    const piece = joined.subarray(0, length);
    [joined, length] = [null, 0];
    return push(piece);
  };
  // Called with null at the end; false stops the parser until the body is read so far.
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk === null || chunk.length >= JOINED_BYTES) {
      const isWanted = flush();
      return push(chunk) && isWanted;
    }
    const isWanted = length + chunk.length > JOINED_BYTES ? flush() : true;
    joined ??= Buffer.allocUnsafeSlow(JOINED_BYTES);
    length += chunk.copy(joined, length);
    return isWanted;
  };
}

const JOINED_BYTES = 4096;

/**
 * Stops Node from parsing more requests of an ended connection. *Why:* Node parses all 64 KiB that it has read, some
 * 2,500 requests in 5 MB, and frees none within a turn of the event loop. No call stops it, but it parses nothing after a
 * CONNECT. A server may choose its class of messages: an ended connection gets this one, which claims to be a CONNECT.
 */
const DROPPED = new IncomingMessage(new Socket());
for (const [name, value] of Object.entries({ method: 'CONNECT', upgrade: true })) {
  Object.defineProperty(DROPPED, name, { get: () => value, set: () => undefined });
}

/** Message class for `createServer`; a function, because a class's constructor could not return DROPPED. */
function Request(socket: Socket): IncomingMessage {
  return socket.destroyed ? DROPPED : new IncomingMessage(socket);
}

export const RequestClass = Request as unknown as typeof IncomingMessage;
