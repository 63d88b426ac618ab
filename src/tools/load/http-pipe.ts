import { connect, type NetConnectOpts, type Socket } from 'node:net';

/** Unanswered requests per connection; a stalled node answers them late. */
const IN_FLIGHT_MAX = 16;

/** One request on its way. */
export interface Exchange {
  /** Whole request, ASCII. */
  readonly request: string;
  /** Takes status and body, a character per byte; null = the connection is gone. */
  readonly onAnswer: (status: number | null, body: string) => void;
}

/**
 * Pipelines requests (HTTP/1.1) to a known server, whose answers have a content-length; docs/decisions/0109 compares
 * undici and node:http.
 */
export class HttpPipe {
  isOpen = true;
  hasLost = false;
  readonly #socket: Socket;
  readonly #inFlight: Exchange[] = [];
  readonly #onRoom: () => void;
  #unread = '';
  #isCorked = false;

  /** @param onRoom called after answers, and when the connection is gone */
  constructor(place: NetConnectOpts, onRoom: () => void = () => undefined) {
    this.#onRoom = onRoom;
    this.#socket = connect({ ...place, noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    this.#socket.on('error', () => undefined);
    this.#socket.on('end', () => this.close());
    this.#socket.once('close', () => this.#closed());
  }

  get hasRoom(): boolean {
    return this.isOpen && this.#inFlight.length < IN_FLIGHT_MAX;
  }

  /** Sends; requests of one turn of the event loop leave together. */
  send(exchange: Exchange): void {
    this.#inFlight.push(exchange);
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(exchange.request, 'latin1');
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Reads `latin1`, a character per byte. */
  #read(chunk: string): void {
    this.#unread += chunk;
    let from = 0;
    for (;;) {
      const headEnd = this.#unread.indexOf('\r\n\r\n', from);
      if (headEnd === -1) break;
      const head = this.#unread.slice(from, headEnd);
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (this.#unread.length < end) break;
      from = end;
      this.#inFlight.shift()?.onAnswer(Number(head.slice(9, 12)), this.#unread.slice(headEnd + 4, end));
    }
    this.#unread = this.#unread.slice(from);
    if (from > 0) this.#onRoom();
  }

  #closed(): void {
    this.isOpen = false;
    this.hasLost = this.#inFlight.length > 0;
    for (const { onAnswer } of this.#inFlight.splice(0)) onAnswer(null, '');
    this.#onRoom();
  }
}

/** Writes a request for HttpPipe; null = no body. */
export function requestWith(method: string, path: string, body: object | null, token?: string): string {
  const text = body === null ? '' : JSON.stringify(body);
  const authorization = token === undefined ? '' : `authorization: Bearer ${token}\r\n`;
  const type = body === null ? '' : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nhost: node\r\n${authorization}${type}\r\n${text}`;
}
