import { setImmediate as nextTurn } from 'node:timers/promises';

/** Retained message; aedes makes a packet of it for each subscriber. */
interface Retained {
  readonly topic: string;
}

/**
 * Keeps retained messages, and finds those that a SUBSCRIBE asks for. They come one by one, as the client takes them. A
 * filter without wildcards is looked up. All others of a SUBSCRIBE are matched together, a slice of the messages per
 * turn of the event loop, one slice for all who wait. *Why not aedes's own:* it passes all messages once per filter in
 * one turn, 1,000 filters over 50,000 messages half a minute; its matcher throws at a topic of more than 100 levels;
 * and it reads on however much waits for the client.
 */
export class RetainedMessages<Message extends Retained> {
  /** In no order: the last takes the place of one that goes. */
  readonly #messages: Message[] = [];
  readonly #places = new Map<string, number>();
  #lastTurn: Promise<unknown> = Promise.resolve();

  get count(): number {
    return this.#messages.length;
  }

  get(topic: string): Message | undefined {
    const place = this.#places.get(topic);
    return place === undefined ? undefined : this.#messages[place];
  }

  set(message: Message): void {
    this.#put(this.#places.get(message.topic) ?? this.count, message);
  }

  delete(topic: string): void {
    const place = this.#places.get(topic);
    if (place === undefined) return;
    this.#places.delete(topic);
    const last = this.#messages.pop()!;
    if (place < this.count) this.#put(place, last);
  }

  /**
   * Yields each message that matches a filter, once `room` says so. Between two it keeps a place alone, not what may
   * have been deleted meanwhile. From the last place to the first: who moves meanwhile comes twice rather than not at
   * all.
   */
  async *matching(filters: readonly string[], room: () => Promise<void>): AsyncGenerator<Message> {
    const [wild, exact] = [new FilterTree(), new Set<string>()];
    for (const filter of filters) {
      if (/[+#]/.test(filter)) wild.add(filter);
      else exact.add(filter);
    }
    for (const topic of exact) {
      if (!this.#places.has(topic)) continue;
      await room();
      const message = this.get(topic);
      if (message !== undefined) yield message;
    }
    if (wild.isEmpty) return;
    let sliceMs = 0;
    for (let place = this.count; place > 0; ) {
      await room();
      if (sliceMs === 0) {
        await this.#turn();
        sliceMs = SLICE_MS;
      }
      const endMs = performance.now() + sliceMs;
      let found: Message | undefined;
      place = Math.min(place, this.count);
      while (found === undefined && place > 0 && performance.now() < endMs) {
        const message = this.#messages[--place];
        if (wild.matches(message.topic) && !exact.has(message.topic)) found = message;
      }
      sliceMs = found === undefined ? 0 : NEXT_SLICE_MS;
      if (found !== undefined) yield found;
    }
  }

  #put(place: number, message: Message): void {
    this.#messages[place] = message;
    this.#places.set(message.topic, place);
  }

  /** Waits for a turn of the event loop without another slice. */
  async #turn(): Promise<void> {
    this.#lastTurn = this.#lastTurn.then(() => nextTurn());
    await this.#lastTurn;
  }
}

/** Milliseconds; more delays decisions and pings, fewer makes scans of many messages take longer. */
const SLICE_MS = 2;
/** Milliseconds to look on without a turn after a find. It is about what one takes to deliver. */
const NEXT_SLICE_MS = 0.05;

interface Branch {
  /** By the next level; `+` is one. */
  readonly next: Map<string, Branch>;
  isEnd: boolean;
  /** True = `#` follows: this level and all below match. */
  isAll: boolean;
}

/** Matches a topic with many filters at once (MQTT 3.1.1, 4.7); topics with $ match no wildcard at the beginning. */
class FilterTree {
  readonly #root = newBranch();

  get isEmpty(): boolean {
    return this.#root.next.size === 0 && !this.#root.isAll;
  }

  add(filter: string): void {
    let branch = this.#root;
    for (const level of filter.split('/')) {
      if (level === '#') {
        branch.isAll = true;
        return;
      }
      const next = branch.next.get(level) ?? newBranch();
      branch.next.set(level, next);
      branch = next;
    }
    branch.isEnd = true;
  }

  /** Tests a topic. It looks at each branch once at most. */
  matches(topic: string): boolean {
    const levels = topic.split('/');
    const open: { branch: Branch; at: number }[] = [{ branch: this.#root, at: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { branch, at } = next;
      const isWildHere = at > 0 || !topic.startsWith('$');
      if ((branch.isAll && isWildHere) || (branch.isEnd && at === levels.length)) return true;
      if (at === levels.length) continue;
      for (const level of isWildHere ? ['+', levels[at]] : [levels[at]]) {
        const below = branch.next.get(level);
        if (below !== undefined) open.push({ branch: below, at: at + 1 });
      }
    }
    return false;
  }
}

function newBranch(): Branch {
  return { next: new Map(), isEnd: false, isAll: false };
}
