import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Caller } from '../../../base/access/caller.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { MessageListener, MessageStream, StreamMethod, UnaryFacts, UnaryMethod } from './grpc-method.js';
import { foreseen, GRPC_STATUS, statusOf, statusText } from './grpc-status.js';
import { framed, type HeldBudget, MessageReader, wholeMessage } from './message-reader.js';

/** Holds for all calls of a listener. */
export interface CallParts {
  readonly held: HeldBudget;
  readonly clock: () => number;
  /** Told of every error that is answered. */
  readonly onFailed: (path: string, error: QuotameshError) => void;
  /** Told when the stream of a call is gone. */
  readonly onClosed: (call: OpenCall) => void;
}

/** Stream that has begun. */
export interface BegunCall {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller | null;
  /** Clock's milliseconds by which it has to be answered. */
  readonly deadlineMs: number;
}

/** Call that is not over. */
export interface OpenCall {
  readonly begun: BegunCall;
  fail(error: QuotameshError): void;
  /** Ends what would never end by itself, as the node stops. */
  stop(error: QuotameshError): void;
  /** Ends it if it is beyond its deadline, or gone. */
  look(nowMs: number): void;
}

/**
 * Answers one message as soon as it has arrived. *Why nothing hears of a stream's end:* each listener costs every call;
 * ends without an answer are rare, and `look` finds them.
 */
export class UnaryCall implements OpenCall, UnaryFacts {
  readonly begun: BegunCall;
  readonly #method: UnaryMethod;
  readonly #parts: CallParts;
  /** Null = nothing has come yet. */
  #reader: MessageReader | null = null;
  #message: Buffer | null = null;
  /** True = the answer comes later. */
  #isWaiting = false;
  #isOver = false;

  constructor(begun: BegunCall, method: UnaryMethod, parts: CallParts) {
    this.begun = begun;
    this.#method = method;
    this.#parts = parts;
    const { stream } = begun;
    stream.on('data', (chunk: Buffer) => this.#push(chunk));
    stream.on('error', ignored);
  }

  get caller(): Caller | null {
    return this.begun.caller;
  }

  get peer(): string {
    return peerOf(this.begun.stream);
  }

  get leftMs(): number {
    return this.begun.deadlineMs - this.#parts.clock();
  }

  fail(error: QuotameshError): void {
    if (this.#isOver) return;
    this.#close();
    this.#parts.onFailed(this.#method.path, error);
    refuse(this.begun.stream, error);
  }

  /** Lets it end by itself: it is answered as soon as it has arrived. */
  stop(): void {}

  look(nowMs: number): void {
    const { stream, deadlineMs } = this.begun;
    if (stream.destroyed) this.#close();
    else if (nowMs > deadlineMs) this.fail(new QuotameshError('GRPC_DEADLINE'));
    else if (stream.readableEnded && !this.#isWaiting)
      this.fail(new QuotameshError('GRPC_REQUEST_INVALID', { reason: 'it ends before its message does' }));
  }

  #push(chunk: Buffer): void {
    if (this.#isOver || this.#isWaiting) return;
    try {
      const { maxRequestBytes } = this.#method;
      const whole = this.#reader === null ? wholeMessage(chunk, maxRequestBytes) : null;
      if (whole === null) {
        this.#reader ??= new MessageReader(maxRequestBytes, this.#parts.held, (message) => this.#take(message));
        this.#reader.push(chunk);
      }
      const message = whole ?? this.#message;
      if (message !== null && this.#reader?.isAmid !== true) this.#answer(message);
    } catch (error) {
      this.fail(foreseen(error));
    }
  }

  #take(message: Buffer): void {
    if (this.#message !== null) throw new QuotameshError('GRPC_REQUEST_INVALID', { reason: 'it has several messages' });
    this.#message = message;
  }

  #answer(message: Buffer): void {
    if (this.#parts.clock() > this.begun.deadlineMs) throw new QuotameshError('GRPC_DEADLINE');
    const answer = this.#method.answer(message, this);
    if (!(answer instanceof Promise)) {
      this.#send(answer);
      return;
    }
    this.#isWaiting = true;
    answer.then(
      (made) => this.#send(made),
      (error: unknown) => this.fail(foreseen(error)),
    );
  }

  #send(answer: Uint8Array): void {
    if (this.#isOver) return;
    this.#close();
    const { stream } = this.begun;
    if (stream.destroyed) return;
    stream.respond(ANSWER_HEADERS, WITH_TRAILERS);
    stream.on('wantTrailers', sendOk);
    stream.end(framed(answer));
  }

  #close(): void {
    this.#isOver = true;
    this.#reader?.close();
    this.#parts.onClosed(this);
  }
}

/** Carries messages both ways until one side ends it. */
export class StreamCall implements OpenCall, MessageStream {
  readonly begun: BegunCall;
  readonly #method: StreamMethod;
  readonly #parts: CallParts;
  readonly #reader: MessageReader;
  #listener: MessageListener | null = null;
  #end: QuotameshError | 'ok' | null = null;

  constructor(begun: BegunCall, method: StreamMethod, parts: CallParts) {
    this.begun = begun;
    this.#method = method;
    this.#parts = parts;
    this.#reader = new MessageReader(method.maxRequestBytes, parts.held, (message) => {
      if (this.isOpen) this.#listener?.message(message);
    });
    const { stream } = begun;
    stream.on('error', ignored);
    stream.on('close', () => this.#closed());
    try {
      this.#listener = method.open(this);
    } catch (error) {
      this.end(foreseen(error));
      return;
    }
    stream.on('data', (chunk: Buffer) => this.#guarded(() => this.#reader.push(chunk)));
    stream.on('end', () => this.#guarded(() => this.#listener?.ended()));
  }

  get caller(): Caller | null {
    return this.begun.caller;
  }

  get peer(): string {
    return peerOf(this.begun.stream);
  }

  get isOpen(): boolean {
    return this.#end === null && !this.begun.stream.destroyed;
  }

  get unsentBytes(): number {
    return this.begun.stream.writableLength;
  }

  metadata(name: string): string | undefined {
    const value = this.begun.headers[name];
    return Array.isArray(value) ? value[0] : value;
  }

  send(message: Uint8Array): void {
    if (!this.isOpen) return;
    const { stream } = this.begun;
    if (!stream.headersSent) this.#begin();
    stream.write(framed(message));
    if (stream.writableLength <= this.#parts.held.max) return;
    // An end in order would wait for the client, which takes nothing.
    this.#end = 'ok';
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  end(error?: QuotameshError): void {
    if (!this.isOpen) return;
    this.#end = error ?? 'ok';
    if (error !== undefined) this.#parts.onFailed(this.#method.path, error);
    const { stream } = this.begun;
    if (!stream.headersSent && error !== undefined) {
      refuse(stream, error);
      return;
    }
    if (!stream.headersSent) this.#begin();
    stream.end();
  }

  fail(error: QuotameshError): void {
    this.end(error);
  }

  stop(error: QuotameshError): void {
    this.end(error);
  }

  look(nowMs: number): void {
    if (nowMs > this.begun.deadlineMs) this.fail(new QuotameshError('GRPC_DEADLINE'));
  }

  #begin(): void {
    const { stream } = this.begun;
    stream.respond(ANSWER_HEADERS, WITH_TRAILERS);
    stream.on('wantTrailers', () => {
      const error = this.#end;
      endWith(stream, error instanceof QuotameshError ? trailersOf(error) : OK_TRAILERS);
    });
  }

  #guarded(work: () => void): void {
    if (!this.isOpen) return;
    try {
      work();
    } catch (error) {
      this.end(foreseen(error));
    }
  }

  #closed(): void {
    this.#end ??= 'ok';
    this.#reader.close();
    this.#parts.onClosed(this);
    const listener = this.#listener;
    this.#listener = null;
    listener?.closed();
  }
}

/** Answers with a status alone. */
export function refuse(stream: ServerHttp2Stream, error: QuotameshError): void {
  if (stream.destroyed || stream.headersSent) return;
  stream.respond({ ...ANSWER_HEADERS, ...trailersOf(error) }, { endStream: true });
  // Nobody reads what a client still sends.
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}

/** Names the client's end of a stream's connection. */
function peerOf({ session }: ServerHttp2Stream): string {
  return session === undefined ? 'unknown' : peerOfSession(session as ServerHttp2Session);
}

function peerOfSession({ destroyed, socket }: ServerHttp2Session): string {
  return destroyed ? 'unknown' : `${socket.remoteAddress}:${socket.remotePort}`;
}

function trailersOf(error: QuotameshError) {
  return { 'grpc-status': String(statusOf(error)), 'grpc-message': statusText(error) };
}

function sendOk(this: ServerHttp2Stream): void {
  endWith(this, OK_TRAILERS);
}

function endWith(stream: ServerHttp2Stream, trailers: OutgoingHttpHeaders): void {
  stream.sendTrailers(trailers);
  // Nobody reads what a client still sends; at once, the reset would overtake the trailers.
  if (!stream.readableEnded) setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR));
}

/** Answers nothing: 'close' follows every error of a stream. */
function ignored(): void {}

const ANSWER_HEADERS = Object.freeze({ ':status': 200, 'content-type': 'application/grpc' });
const OK_TRAILERS = Object.freeze({ 'grpc-status': String(GRPC_STATUS.OK) });
const WITH_TRAILERS = Object.freeze({ waitForTrailers: true, sendDate: false });
