import type { ServerResponse } from 'node:http';
import type { Access } from '../../../base/access/access.js';
import type { EndOfStream, LiveSink } from '../../../node/feed/live-streams.js';

/** Writes the stream to one reader as server-sent events. */
export class EventSink implements LiveSink {
  onClosed: () => void = () => undefined;
  readonly #response: ServerResponse;
  readonly #access: Access;
  readonly #version: number;

  constructor(response: ServerResponse, access: Access) {
    this.#response = response;
    this.#access = access;
    this.#version = access.version;
    response.once('close', () => this.onClosed());
    response.on('error', () => this.onClosed());
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      // Else proxies keep events back until a buffer is full.
      'x-accel-buffering': 'no',
    });
  }

  write(bytes: Buffer): void {
    this.#response.write(bytes);
  }

  get pendingBytes(): number {
    return this.#response.writableLength;
  }

  /** False once a token was taken out or lost a role: the page asks again, and is refused. */
  get isAllowed(): boolean {
    return this.#access.version === this.#version;
  }

  end(reason: EndOfStream): void {
    const { socket } = this.#response;
    this.#response.end(`event: ended\ndata: ${JSON.stringify({ reason, detail: DETAILS[reason] })}\n\n`);
    setTimeout(() => socket?.destroy(), PATIENCE_MS).unref();
  }
}

const DETAILS: Readonly<Record<EndOfStream, string>> = {
  'too-slow': 'the page takes less than it is sent; the node keeps no more for it',
  stopping: 'the node is stopping',
  'access-changed': 'tokens or roles have changed; the page has to ask again',
  'group-deleted': 'the group was deleted',
};

/** Milliseconds for a reader to take the reason of its end. */
const PATIENCE_MS = 5000;
