import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Retained message; aedes makes a packet of it for each subscriber. */
interface Retained {
  readonly topic: string;
}

/**
 * Keeps retained messages, and finds those that a SUBSCRIBE asks for. A filter without wildcards is looked up. All
 * others of a SUBSCRIBE are matched together, a slice of the messages per turn of the event loop, one slice for all who
 * wait. *Why not aedes's own:* it passes all messages once per filter in one turn, 1,000 filters over 50,000 messages
 * half a minute; and its matcher throws at a topic of more than 100 levels.
 */
export class RetainedMessages<Message extends Retained> {
  readonly #messages = new Map<string, Message>();
  #lastTurn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  get count(): number {
    return this.#messages.size;
  }

  get(topic: string): Message | undefined {
    return this.#messages.get(topic);
  }

  set(message: Message): void {
    this.#messages.set(message.topic, message);
  }

  delete(topic: string): void {
    this.#messages.delete(topic);
  }

  /** Waits until few slices are waited for: else a flood of SUBSCRIBEs would be kept. */
  async room(): Promise<void> {
    while (this.#waiting >= WAITING_MAX) await this.#lastTurn;
  }

  /** Streams the messages that any of the filters matches, each once. */
  stream(filters: readonly string[]): Readable {
    return Readable.from(this.#matching(filters));
  }

  async *#matching(filters: readonly string[]): AsyncGenerator<Message> {
    const [wild, exact] = [new FilterTree(), new Set<string>()];
    for (const filter of filters) {
      if (/[+#]/.test(filter)) wild.add(filter);
      else exact.add(filter);
    }
    for (const topic of exact) {
      const message = this.#messages.get(topic);
      if (message !== undefined) yield message;
    }
    if (wild.isEmpty) return;
    const left = this.#messages.values();
    for (let isDone = false; !isDone; ) {
      await this.#turn();
      const found: Message[] = [];
      isDone = sliceOf(left, (message) => {
        if (wild.matches(message.topic) && !exact.has(message.topic)) found.push(message);
      });
      yield* found;
    }
  }

  /** Waits for a turn of the event loop that no other slice has. */
  async #turn(): Promise<void> {
    this.#waiting++;
    this.#lastTurn = this.#lastTurn.then(() => nextTurn());
    await this.#lastTurn;
    this.#waiting--;
  }
}

/** More lets SUBSCRIBEs wait in memory, some 3 KiB each; fewer lets their clients wait. */
const WAITING_MAX = 64;
/** Milliseconds; more delays decisions and pings, fewer makes scans of many messages take longer. */
const SLICE_MS = 2;

/** Looks at messages for a slice; true = none is left. */
function sliceOf<Message>(left: Iterator<Message>, look: (message: Message) => void): boolean {
  const endMs = performance.now() + SLICE_MS;
  do {
    const { value, done } = left.next();
    if (done === true) return true;
    look(value);
  } while (performance.now() < endMs);
  return false;
}

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
