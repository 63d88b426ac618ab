import type { LiveFeed, LiveView } from './live-feed.js';

/** Sink for one reader's frames. */
export interface LiveSink {
  write(bytes: Buffer): void;
  /** Bytes written and not sent yet. */
  readonly pendingBytes: number;
  /** Sends the reason, then ends the connection. */
  end(reason: EndOfStream): void;
  /** False = the caller may no longer look. */
  readonly isAllowed: boolean;
}

export type EndOfStream = 'too-slow' | 'stopping' | 'access-changed' | 'group-deleted';

interface Listener {
  readonly view: LiveView;
  readonly sink: LiveSink;
  sentTick: number;
}

/** Sends readers their frames: the same bytes for the same view. */
export class LiveStreams {
  readonly #feed: LiveFeed;
  readonly #isLive: (group: number) => boolean;
  readonly #listeners = new Set<Listener>();
  /** Ended readers by reason. */
  readonly ended: Record<EndOfStream, number> = {
    'too-slow': 0,
    stopping: 0,
    'access-changed': 0,
    'group-deleted': 0,
  };

  /** @param isLive tests if there is a group of this number */
  constructor(feed: LiveFeed, isLive: (group: number) => boolean) {
    this.#feed = feed;
    this.#isLive = isLive;
  }

  get size(): number {
    return this.#listeners.size;
  }

  get isFull(): boolean {
    return this.#listeners.size >= STREAMS_MAX;
  }

  /** Sends a view at once and from now on; returns what ends it. */
  add(view: LiveView, sink: LiveSink): () => void {
    const listener = { view, sink, sentTick: this.#feed.ticks };
    this.#listeners.add(listener);
    for (const { bytes } of this.#feed.framesOf(view)) sink.write(bytes);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  tick(): void {
    this.#feed.tick(Array.from(this.#listeners, ({ view }) => view));
    for (const listener of this.#listeners) {
      const why = this.#endOf(listener);
      if (why === null) this.#send(listener);
      else this.#end(listener, why);
    }
  }

  close(): void {
    for (const listener of this.#listeners) this.#end(listener, 'stopping');
  }

  #endOf({ view: { group }, sink }: Listener): EndOfStream | null {
    if (!sink.isAllowed) return 'access-changed';
    if (group !== null && !this.#isLive(group)) return 'group-deleted';
    return sink.pendingBytes > PENDING_BYTES_MAX ? 'too-slow' : null;
  }

  #send(listener: Listener): void {
    for (const { bytes, changedAtTick } of this.#feed.framesOf(listener.view)) {
      if (changedAtTick > listener.sentTick) listener.sink.write(bytes);
    }
    listener.sentTick = this.#feed.ticks;
  }

  #end(listener: Listener, why: EndOfStream): void {
    this.#listeners.delete(listener);
    this.ended[why]++;
    listener.sink.end(why);
  }
}

/** Pages of one node; a browser opens six connections to a host, a page one. */
export const STREAMS_MAX = 64;
/** Bytes a slow reader may have pending: seconds of a group of 100 nodes; 64 readers take 32 MB. */
export const PENDING_BYTES_MAX = 512 * 1024;
