import { connect, type Socket } from 'node:net';

/** Sent and not yet answered, per connection: what a node that stands still answers late, when nobody waits any more. */
const IN_FLIGHT_MAX = 16;

/** One request on its way. */
export interface Exchange {
  /** The whole request, ASCII. */
  readonly request: string;
  /** Status of the answer; null = the connection is gone. */
  readonly onStatus: (status: number | null) => void;
}

/**
 * One connection on which requests follow each other without waiting (HTTP/1.1 pipelining), to a server that we know:
 * every answer has a content-length. Costs half of what node:http takes per request (0.09 ms instead of 0.18), where
 * the nodes and their traffic share two cores. Not for anybody else's server.
 */
export class HttpPipe {
  isOpen = true;
  readonly #socket: Socket;
  readonly #inFlight: Exchange[] = [];
  readonly #onRoom: () => void;
  #unread = '';
  #isCorked = false;

  /** @param onRoom after answers, and when the connection is gone */
  constructor(url: URL, onRoom: () => void) {
    this.#onRoom = onRoom;
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk.toString('latin1')));
    this.#socket.on('error', () => undefined);
    this.#socket.on('end', () => this.close());
    this.#socket.once('close', () => this.#closed());
  }

  get hasRoom(): boolean {
    return this.isOpen && this.#inFlight.length < IN_FLIGHT_MAX;
  }

  /** Requests of one turn of the event loop leave together. */
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

  /** `latin1`, so that a character is a byte. */
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
      this.#inFlight.shift()?.onStatus(Number(head.slice(9, 12)));
    }
    this.#unread = this.#unread.slice(from);
    if (from > 0) this.#onRoom();
  }

  #closed(): void {
    this.isOpen = false;
    for (const { onStatus } of this.#inFlight.splice(0)) onStatus(null);
    this.#onRoom();
  }
}
