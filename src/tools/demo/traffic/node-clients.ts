/** Message of so many bytes that a client wants admitted. */
export interface Work {
  readonly bytes: number;
  readonly arrivedMs: number;
  /** True = refused before, and not to be counted as demand again. */
  refusedBefore: boolean;
}

export type Answer =
  | { readonly kind: 'granted' }
  | { readonly kind: 'refused'; readonly retryAfterMs: number }
  /** Not ready, unreachable or broken: the node has not counted the work. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number };

interface ClientOutcome {
  admitted(work: Work): void;
  gaveUp(work: Work): void;
}

interface ClientOptions {
  readonly acquire: (work: Work) => Promise<Answer>;
  readonly outcome: ClientOutcome;
  readonly random: () => number;
}

/** Clients of one node served at a time. */
export const CONNECTIONS_PER_NODE = 16;
/** Milliseconds after which unadmitted work counts as refused. */
export const CLIENT_PATIENCE_MS = 2000;
/**
 * Bounds of retries. Below, sixteen connections for the same token make a herd (600 attempts/s at 20 to 30 ms); above,
 * tokens of a share that has grown are lost.
 */
const RETRY_MS_MIN = 20;
const RETRY_MS_MAX = 50;
const JITTER_RATIO = 0.5;

/**
 * Plays a node's clients as connections that a broker throttles (PIP-322): each takes the next piece in line and tries
 * it at the node's `retryAfterMs` until admitted, or patience runs out.
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

  /** Takes back all unadmitted work of a node that is gone. */
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
