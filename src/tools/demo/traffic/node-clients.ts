/** A piece of work that a client wants admitted: one message of so many bytes. */
export interface Work {
  readonly bytes: number;
  readonly arrivedMs: number;
  /** A node has refused it before, so it must not count as demand again. */
  refusedBefore: boolean;
}

export type Answer =
  | { readonly kind: 'granted' }
  | { readonly kind: 'refused'; readonly retryAfterMs: number }
  /** Not ready, unreachable or broken: the node has not counted the work. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number };

export interface ClientOutcome {
  admitted(work: Work): void;
  gaveUp(work: Work): void;
}

export interface ClientOptions {
  readonly acquire: (work: Work) => Promise<Answer>;
  readonly outcome: ClientOutcome;
  /** 0 ≤ random < 1. */
  readonly random: () => number;
}

/** Clients of one node that are served at the same time. */
export const CONNECTIONS_PER_NODE = 16;
/** Work that nobody has admitted this long after it arrived counts as refused. */
export const CLIENT_PATIENCE_MS = 2000;
/**
 * `retryAfterMs` counts on nobody else and on an unchanged share. Hence the lower bound: sixteen connections that all come back for
 * the same token make a herd, at 20 to 30 ms they make about 600 attempts a second, three times what there is to get. And
 * the upper one: meanwhile the share may have grown, and tokens that nobody fetches are lost.
 */
const RETRY_MS_MIN = 20;
const RETRY_MS_MAX = 50;
const JITTER_RATIO = 0.5;

/**
 * The clients of one node behave like those of a broker that throttles their connections (PIP-322): work waits in line, each
 * connection takes the next piece and tries it until it is admitted, as often as the node's `retryAfterMs` suggests, and gives up
 * when patience has run out. Nothing is thrown away at a first refusal.
 */
export class NodeClients {
  readonly #options: ClientOptions;
  readonly #line: Work[] = [];
  readonly #inHand = new Set<Work>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  take(work: Work): void {
    this.#line.push(work);
    this.#serveNext();
  }

  /** The node is gone: all work that has not been admitted goes back, and the connections forget it. */
  leave(): Work[] {
    const homeless = [...this.#inHand, ...this.#line];
    this.#inHand.clear();
    this.#line.length = 0;
    return homeless;
  }

  #serveNext(): void {
    while (this.#inHand.size < CONNECTIONS_PER_NODE) {
      const work = this.#line.shift();
      if (work === undefined) return;
      this.#inHand.add(work);
      void this.#serve(work);
    }
  }

  async #serve(work: Work): Promise<void> {
    const admitted = await this.#tryUntilAdmitted(work);
    if (!this.#inHand.delete(work)) return;
    if (admitted) this.#options.outcome.admitted(work);
    else this.#options.outcome.gaveUp(work);
    this.#serveNext();
  }

  async #tryUntilAdmitted(work: Work): Promise<boolean> {
    const deadlineMs = work.arrivedMs + CLIENT_PATIENCE_MS;
    while (this.#inHand.has(work)) {
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) return false;
      const answer = await this.#options.acquire(work);
      if (answer.kind === 'granted') return true;
      if (answer.kind === 'refused') work.refusedBefore = true;
      await sleep(Math.min(this.#pauseMs(answer.retryAfterMs), Math.max(0, deadlineMs - performance.now())));
    }
    return false;
  }

  #pauseMs(retryAfterMs: number): number {
    const boundedMs = Math.min(RETRY_MS_MAX, Math.max(RETRY_MS_MIN, retryAfterMs));
    return boundedMs * (1 + JITTER_RATIO * this.#options.random());
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
