import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type SecureClientSessionOptions } from 'node:http2';
import { framed } from '../../../src/doors/envoy/grpc/message-reader.js';

/** Answer and status of a call. */
export interface Ended {
  readonly status: number;
  readonly text: string;
  readonly messages: readonly Buffer[];
}

/** A connection that speaks gRPC, and may break its rules. */
export class GrpcClient {
  readonly session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session) {
    this.session = session;
    session.on('error', () => undefined);
  }

  static async open(url: string, options: SecureClientSessionOptions = {}): Promise<GrpcClient> {
    const session = connect(url.replace(/^grpc(s?):/, 'http$1:'), options);
    const client = new GrpcClient(session);
    await once(session, 'connect');
    return client;
  }

  /** Asks a method of one message. */
  async ask(path: string, message: Uint8Array, metadata: object = {}): Promise<Ended> {
    const call = this.call(path, metadata);
    call.stream.end(framed(message));
    return await call.ended;
  }

  call(path: string, metadata: object = {}): GrpcCall {
    return new GrpcCall(this.session.request({ ...HEAD, ':path': path, ...metadata }));
  }

  async close(): Promise<void> {
    if (this.session.destroyed) return;
    const closed = once(this.session, 'close');
    this.session.destroy();
    await closed;
  }
}

const HEAD = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };

export class GrpcCall {
  readonly stream: ClientHttp2Stream;
  readonly messages: Buffer[] = [];
  /** Resolves when the stream is gone. Status −1 = it had none. */
  readonly ended: Promise<Ended>;
  #rest: Buffer = Buffer.alloc(0);
  #onMessage: (() => void) | null = null;

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    let fields: Readonly<Record<string, unknown>> = {};
    stream.on('error', () => undefined);
    stream.on('response', (headers) => {
      fields = { ...fields, ...headers };
    });
    stream.on('trailers', (trailers) => {
      fields = { ...fields, ...trailers };
    });
    stream.on('data', (chunk: Buffer) => this.#read(chunk));
    this.ended = new Promise((resolve) => {
      stream.on('close', () => {
        const text = decodeURIComponent(String(fields['grpc-message'] ?? ''));
        resolve({ status: Number(fields['grpc-status'] ?? -1), text, messages: this.messages });
      });
    });
  }

  send(message: Uint8Array): void {
    this.stream.write(framed(message));
  }

  /** Resolves with the message of this number. */
  async message(number: number): Promise<Buffer> {
    while (this.messages.length <= number) {
      await new Promise<void>((resolve) => {
        this.#onMessage = resolve;
      });
    }
    return this.messages[number] as Buffer;
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 5 && this.#rest.length >= 5 + this.#rest.readUInt32BE(1)) {
      const end = 5 + this.#rest.readUInt32BE(1);
      this.messages.push(this.#rest.subarray(5, end));
      this.#rest = this.#rest.subarray(end);
      this.#onMessage?.();
    }
  }
}
