import { once } from 'node:events';
import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '../../../base/access/access.js';
import { type ListenerTls, renewTls, serverOptionsOf } from '../../../base/access/listener-tls.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { EnvoyConfig, ListenAddress } from '../../../config/resolved/resolved-config.js';
import { type BegunCall, type CallParts, type OpenCall, refuse, StreamCall, UnaryCall } from './grpc-call.js';
import { GrpcCallers } from './grpc-callers.js';
import { createGrpcCounts, type GrpcCounts } from './grpc-counts.js';
import { timeoutMsOf } from './grpc-deadline.js';
import type { GrpcMethod } from './grpc-method.js';
import { foreseen } from './grpc-status.js';

interface GrpcListenerParts {
  readonly config: EnvoyConfig;
  readonly listen: ListenAddress;
  readonly access: Access;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly methods: readonly GrpcMethod[];
}

/**
 * Listens for gRPC on HTTP/2, with TLS or by prior knowledge. A call is checked by its metadata before its first
 * message: method, caller, deadline. Pings of clients are node:http2's to answer; it pings, too, and ends connections
 * whose peer has vanished.
 */
export class GrpcListener {
  readonly counts: GrpcCounts = createGrpcCounts();
  readonly #parts: GrpcListenerParts;
  readonly #methods: ReadonlyMap<string, GrpcMethod>;
  readonly #callers: GrpcCallers;
  readonly #server: Http2Server;
  readonly #sessions = new Map<ServerHttp2Session, Pinged>();
  readonly #calls = new Set<OpenCall>();
  readonly #callParts: CallParts;
  #look: NodeJS.Timeout | null = null;
  #knownVersion: number;
  #url = '';

  constructor(parts: GrpcListenerParts) {
    this.#parts = parts;
    this.#methods = new Map(parts.methods.map((method) => [method.path, method]));
    this.#callers = new GrpcCallers(parts.access);
    this.#knownVersion = this.#callers.version;
    this.#callParts = {
      held: this.counts.held(parts.config.maxHeldBytes),
      clock: parts.clock,
      onFailed: (path, error) => this.#failed(path, error),
      onClosed: (call) => this.#calls.delete(call),
    };
    this.#server = this.#createServer();
  }

  /** Listens; resolves with the real URL. Throws ADDRESS_IN_USE. */
  async listen(): Promise<string> {
    const { host, port } = this.#parts.listen;
    const name = host.includes(':') ? `[${host}]` : host;
    try {
      await once(this.#server.listen({ host, port }), 'listening');
    } catch (error) {
      const facts = { address: `${name}:${port}`, reason: (error as Error).message };
      throw new QuotameshError('ADDRESS_IN_USE', facts, { cause: error });
    }
    this.#look = setInterval(() => this.#watch(), LOOK_EVERY_MS);
    const scheme = this.#parts.config.tls === null ? 'grpc' : 'grpcs';
    this.#url = `${scheme}://${name}:${(this.#server.address() as AddressInfo).port}`;
    return this.#url;
  }

  get url(): string {
    return this.#url;
  }

  get connections(): number {
    return this.#sessions.size;
  }

  get openCalls(): number {
    return this.#calls.size;
  }

  renewTls(tls: ListenerTls | null): void {
    renewTls(this.#server, tls);
  }

  /**
   * Ends in order. Clients are told first that they shall go (GOAWAY with the highest id), while their requests are
   * answered on; then streams are ended, and connections as soon as they have no request left.
   */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    if (!this.#server.listening && this.#sessions.size === 0) return this.#endLooks();
    for (const session of this.#live()) session.goaway(constants.NGHTTP2_NO_ERROR, HIGHEST_STREAM);
    if (this.#sessions.size > 0) await sleep(TOLD_BEFORE_MS);
    const stops = new QuotameshError('NOT_READY', { node: 'that you asked', reason: 'it stops' });
    for (const call of this.#calls) call.stop(stops);
    for (const session of this.#live()) session.close();
    const cut = setTimeout(() => {
      for (const session of this.#sessions.keys()) session.destroy();
    }, GRACE_MS);
    await closed;
    clearTimeout(cut);
    this.#endLooks();
  }

  #endLooks(): void {
    if (this.#look !== null) clearInterval(this.#look);
    this.#lookAtCalls(this.#parts.clock());
  }

  /** Lists connections that are not about to be forgotten. */
  #live(): readonly ServerHttp2Session[] {
    return [...this.#sessions.keys()].filter(({ destroyed }) => !destroyed);
  }

  #createServer(): Http2Server {
    const { tls, maxStreams, maxMetadataBytes } = this.#parts.config;
    const options = {
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxMetadataBytes, enablePush: false },
      maxHeaderListPairs: METADATA_PAIRS_MAX,
      // A gateway gives up a request that is late by its own timeout, thousands a second where this node is slow.
      streamResetBurst: 10_000,
      streamResetRate: 1000,
    };
    const server =
      tls === null
        ? createServer(options)
        : createSecureServer({ ...options, ...serverOptionsOf(tls), handshakeTimeout: HANDSHAKE_MS });
    server.on('session', (session) => this.#opened(session));
    // Its types leave out the last argument: names and values as they came.
    const begun = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _: number, list: readonly string[]) =>
      this.#begun(stream, headers, list);
    server.on('stream' as string, begun);
    for (const event of ['tlsClientError', 'sessionError', 'unknownProtocol'] as const) {
      server.on(event as 'sessionError', (error: Error) => {
        this.counts.ended[event === 'tlsClientError' ? 'handshake-failed' : 'broken']++;
        this.#parts.telemetry.log('debug', 'grpc connection failed', { event, reason: error?.message });
      });
    }
    return server as Http2Server;
  }

  #opened(session: ServerHttp2Session): void {
    if (this.#sessions.size >= this.#parts.config.maxConnections) {
      this.counts.ended['too-many-connections']++;
      session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
      return;
    }
    this.#sessions.set(session, { atMs: this.#parts.clock(), isAwaited: false });
    session.on('close', () => this.#sessions.delete(session));
    session.on('error', () => undefined);
  }

  #begun(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, list: readonly string[]): void {
    const path = headers[':path'] ?? '';
    try {
      const method = this.#methodOf(headers, path);
      this.#rejectLarge(list);
      const { session } = stream;
      if (session === undefined) return;
      const caller = this.#callers.admit(session as ServerHttp2Session, headers.authorization, method.needs, path);
      const timeoutMs = timeoutMsOf(headers['grpc-timeout'] as string | undefined);
      const patienceMs = method.kind === 'unary' ? this.#parts.config.arrivalMs : Infinity;
      const deadlineMs = this.#parts.clock() + (timeoutMs ?? patienceMs);
      const begun: BegunCall = { stream, headers, caller, deadlineMs };
      this.#calls.add(
        method.kind === 'unary'
          ? new UnaryCall(begun, method, this.#callParts)
          : new StreamCall(begun, method, this.#callParts),
      );
    } catch (error) {
      const known = foreseen(error);
      this.#failed(path, known);
      stream.on('error', () => undefined);
      refuse(stream, known);
    }
  }

  /** Throws GRPC_REQUEST_INVALID, GRPC_METHOD_UNKNOWN, GRPC_COMPRESSED. */
  #methodOf(headers: IncomingHttpHeaders, path: string): GrpcMethod {
    if (headers[':method'] !== 'POST' || headers['content-type']?.startsWith('application/grpc') !== true) {
      throw new QuotameshError('GRPC_REQUEST_INVALID', { reason: 'it is no POST of content-type application/grpc' });
    }
    const method = this.#methods.get(path);
    if (method === undefined) throw new QuotameshError('GRPC_METHOD_UNKNOWN', { method: path.slice(0, 200) });
    const encoding = headers['grpc-encoding'] ?? 'identity';
    if (encoding === 'identity') return method;
    throw new QuotameshError('GRPC_COMPRESSED', { how: `grpc-encoding: ${String(encoding).slice(0, 40)}` });
  }

  /** Throws GRPC_TOO_LARGE. node:http2 tells clients the bound, and lets more pass. */
  #rejectLarge(list: readonly string[]): void {
    const { maxMetadataBytes } = this.#parts.config;
    let bytes = 0;
    for (const text of list) bytes += text.length;
    if (bytes > maxMetadataBytes)
      throw new QuotameshError('GRPC_TOO_LARGE', { what: 'metadata', limit: maxMetadataBytes });
  }

  #failed(path: string, error: QuotameshError): void {
    const { failed } = this.counts;
    failed[error.code] = (failed[error.code] ?? 0) + 1;
    if (error.code !== 'UNEXPECTED') return;
    const { stack } = error.cause instanceof Error ? error.cause : error;
    this.#parts.telemetry.log('error', 'grpc call failed', { method: path.slice(0, 200), stack });
  }

  #lookAtCalls(nowMs: number): void {
    for (const call of this.#calls) call.look(nowMs);
  }

  /** Ends calls beyond their deadline or without a login, and vanished peers. */
  #watch(): void {
    const nowMs = this.#parts.clock();
    this.#lookAtCalls(nowMs);
    if (this.#knownVersion !== this.#callers.version) this.#checkLogins();
    for (const [session, pinged] of this.#sessions) this.#ping(session, pinged, nowMs);
  }

  /** Ends streams whose token is unknown now, or has lost its role. */
  #checkLogins(): void {
    this.#knownVersion = this.#callers.version;
    for (const call of this.#calls) {
      const { stream, headers } = call.begun;
      const path = String(headers[':path']);
      const need = this.#methods.get(path)?.needs ?? 'admin';
      try {
        if (stream.session === undefined) continue;
        this.#callers.admit(stream.session as ServerHttp2Session, headers.authorization, need, path);
      } catch (error) {
        call.fail(foreseen(error));
      }
    }
  }

  #ping(session: ServerHttp2Session, pinged: Pinged, nowMs: number): void {
    if (session.destroyed || nowMs - pinged.atMs < this.#parts.config.pingEveryMs) return;
    if (pinged.isAwaited) {
      this.counts.ended['no-answer']++;
      session.destroy();
      return;
    }
    Object.assign(pinged, { atMs: nowMs, isAwaited: true });
    session.ping((error) => {
      if (error === null) pinged.isAwaited = false;
    });
  }
}

/** Ping of a connection: when, and whether its answer is awaited. */
interface Pinged {
  atMs: number;
  isAwaited: boolean;
}

/** Milliseconds between looks for calls that are late. */
const LOOK_EVERY_MS = 100;
/** Highest id of a stream: a GOAWAY with it only announces the end. */
const HIGHEST_STREAM = 2 ** 31 - 1;
/** Milliseconds in which clients learn that they shall go: some round trips. */
const TOLD_BEFORE_MS = 100;
/** Milliseconds for unfinished requests at the close. */
const GRACE_MS = 500;
const HANDSHAKE_MS = 10_000;
const METADATA_PAIRS_MAX = 100;
