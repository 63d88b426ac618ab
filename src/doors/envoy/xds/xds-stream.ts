import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import type { SecureContextOptions } from 'node:tls';
import { messageOf } from '../../../base/errors/quotamesh-error.js';
import { VERSION } from '../../../base/package/version.js';
import { framed, MessageReader } from '../grpc/message-reader.js';

/** One connection with one stream, from its opening to its only end. */
export interface XdsStreamParts {
  /** `https://host:port` = TLS. */
  readonly url: string;
  readonly path: string;
  readonly tls: SecureContextOptions & { readonly servername?: string };
  /** Called with each message; a throw ends the stream. */
  readonly message: (bytes: Buffer) => void;
  /** Called once. @param status of gRPC; null = none came */
  readonly ended: (reason: string, status: number | null) => void;
}

/** Carries messages both ways over HTTP/2 until either side is gone. */
export class XdsStream {
  readonly #parts: XdsStreamParts;
  readonly #session: ClientHttp2Session;
  readonly #stream: ClientHttp2Stream;
  readonly #pings: NodeJS.Timeout;
  #opening: NodeJS.Timeout | null;
  #isEnded = false;

  constructor(parts: XdsStreamParts) {
    this.#parts = parts;
    this.#session = connect(parts.url, { ...parts.tls });
    this.#session.on('error', (error) => this.#end(messageOf(error)));
    this.#session.on('close', () => this.#end('the connection is closed'));
    this.#session.on('goaway', () => this.#end('the server goes away'));
    this.#stream = this.#session.request({
      ':method': 'POST',
      ':path': parts.path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': `quotamesh/${VERSION}`,
    });
    const reader = new MessageReader(MESSAGE_BYTES_MAX, { bytes: 0, max: MESSAGE_BYTES_MAX + 1024 }, parts.message);
    this.#stream.on('data', (chunk: Buffer) => this.#guarded(() => reader.push(chunk)));
    this.#stream.on('response', (headers) => this.#look(headers));
    this.#stream.on('trailers', (headers) => this.#look(headers));
    this.#stream.on('error', (error) => this.#end(messageOf(error)));
    this.#stream.on('close', () => this.#end('the stream is closed'));
    this.#opening = setTimeout(() => this.#end(`no connection within ${OPENING_MS} ms`), OPENING_MS);
    this.#session.on('connect', () => this.#opened());
    this.#pings = setInterval(() => this.#ping(), PING_MS);
  }

  send(message: Uint8Array): void {
    if (!this.#isEnded) this.#stream.write(framed(message));
  }

  close(): void {
    this.#isEnded = true;
    this.#release();
  }

  #opened(): void {
    if (this.#opening !== null) clearTimeout(this.#opening);
    this.#opening = null;
  }

  #look(headers: IncomingHttpHeaders): void {
    const { ':status': http, 'grpc-status': grpc, 'grpc-message': message } = headers;
    if (http !== undefined && Number(http) !== 200) this.#end(`status ${http} of HTTP`);
    if (grpc !== undefined) this.#end(`status ${grpc} of gRPC${message ? `: ${String(message)}` : ''}`, Number(grpc));
  }

  /** Ends a connection whose peer has vanished: TCP alone would wait for minutes. */
  #ping(): void {
    if (this.#session.destroyed || this.#session.connecting) return;
    const late = setTimeout(() => this.#end(`no answer to a ping within ${PONG_MS} ms`), PONG_MS);
    this.#session.ping((error) => {
      clearTimeout(late);
      if (error !== null) this.#end(messageOf(error));
    });
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#end(messageOf(error));
    }
  }

  #end(reason: string, status: number | null = null): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#release();
    this.#parts.ended(reason, status);
  }

  #release(): void {
    this.#opened();
    clearInterval(this.#pings);
    this.#session.destroy();
  }
}

/** Bytes of a message: some 100,000 rules. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Milliseconds of a connection's opening. */
const OPENING_MS = 5000;
/** Milliseconds between pings, and of an answer. */
const PING_MS = 20_000;
const PONG_MS = 10_000;
