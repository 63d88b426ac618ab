import type { LiveFeed, LiveView } from './live-feed.js';

/** Where the frames of one reader go. */
export interface LiveSink {
  write(bytes: Buffer): void;
  /** What was written and is not sent yet. */
  readonly pendingBytes: number;
  /** The reader is told why before the connection ends. */
  end(reason: EndOfStream): void;
  /** Whether the caller may still look. */
  readonly isAllowed: boolean;
}

export type EndOfStream = 'too-slow' | 'stopping' | 'access-changed' | 'group-deleted';

interface Listener {
  readonly view: LiveView;
  readonly sink: LiveSink;
  heardTick: number;
}

/** Who listens. All get the same bytes where they look at the same. */
export class LiveStreams {
  readonly #feed: LiveFeed;
  readonly #isLive: (group: number) => boolean;
  readonly #listeners = new Set<Listener>();
  /** How many were ended, by why. */
  readonly ended: Record<EndOfStream, number> = {
    'too-slow': 0,
    stopping: 0,
    'access-changed': 0,
    'group-deleted': 0,
  };

  /** @param isLive whether there is a group of this number */
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

  /** Sends all of the view at once. Returns what ends the listening. */
  add(view: LiveView, sink: LiveSink): () => void {
    const listener = { view, sink, heardTick: this.#feed.ticks };
    this.#listeners.add(listener);
    for (const { bytes } of this.#feed.framesOf(view)) sink.write(bytes);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Once a second. */
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
      if (changedAtTick > listener.heardTick) listener.sink.write(bytes);
    }
    listener.heardTick = this.#feed.ticks;
  }

  #end(listener: Listener, why: EndOfStream): void {
    this.#listeners.delete(listener);
    this.ended[why]++;
    listener.sink.end(why);
  }
}

/** Pages of one node. A browser opens six connections to a host, and a page one. */
export const STREAMS_MAX = 64;
/** Some seconds of a group of 100 nodes. 64 readers that read nothing take 32 MB until they are dropped. */
export const PENDING_BYTES_MAX = 512 * 1024;
