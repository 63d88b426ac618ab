import type { Caller, Need } from '../../../base/access/caller.js';
import type { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Method of one request and one answer. */
export interface UnaryMethod {
  readonly kind: 'unary';
  /** Path of HTTP/2, `/package.Service/Method`. */
  readonly path: string;
  readonly needs: Need;
  readonly maxRequestBytes: number;
  /**
   * Answers a message, at once or later. Its bytes are valid during the call alone. Throws a QuotameshError instead of
   * an answer.
   */
  answer(request: Uint8Array, call: UnaryFacts): Uint8Array | Promise<Uint8Array>;
}

/** Method whose client or server sends any number of messages. */
export interface StreamMethod {
  readonly kind: 'stream';
  readonly path: string;
  readonly needs: Need;
  readonly maxRequestBytes: number;
  /** Opens a stream, before its first message. Throws a QuotameshError to end it at once. */
  open(stream: MessageStream): MessageListener;
}

export type GrpcMethod = UnaryMethod | StreamMethod;

export interface CallFacts {
  /** Null without `auth:`: everybody may do everything. */
  readonly caller: Caller | null;
  /** Address and port of the client, for people. */
  readonly peer: string;
}

export interface UnaryFacts extends CallFacts {
  /** Milliseconds until the client gives up. */
  readonly leftMs: number;
}

/** Shows a stream to its service. */
export interface MessageStream extends CallFacts {
  readonly isOpen: boolean;
  /** Bytes that the client has not taken; a client that takes nothing is cut off at `maxHeldBytes`. */
  readonly unsentBytes: number;
  metadata(name: string): string | undefined;
  send(message: Uint8Array): void;
  /** Ends it with OK, or with the error's status. A second call does nothing. */
  end(error?: QuotameshError): void;
}

/** Hears of a stream. An error that it throws ends the stream. */
export interface MessageListener {
  /** Takes a message, whose bytes are valid during the call alone. */
  message(bytes: Uint8Array): void;
  /** The client sends no more; it may still read. */
  ended(): void;
  /** The stream is gone, in whatever way; called once. */
  closed(): void;
}
