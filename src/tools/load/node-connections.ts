import type { Outcome } from './call.js';
import { type Exchange, HttpPipe, requestWith } from './http-pipe.js';

const CONNECTIONS = 4;
/** Waiting requests; a node takes 0.1 ms each, unless it stalls. */
const WAITING_MAX = 512;
/** Milliseconds; older unsent requests would burst when a stalled node goes on. */
const UNSENT_AFTER_MS = 1000;
const SWEEP_MS = 50;
/** Milliseconds of pause while nobody listens, or nobody is ready. */
const PAUSE_MS = 20;
const WARM_REQUESTS = 50;

interface PostedWork {
  readonly group: string;
  readonly messages: number;
  readonly bytes: number;
  /** True = refused before, and not to be counted as demand again. */
  readonly retry: boolean;
}

/** Takes an outcome. @param body the node's words, or empty */
type OnAnswer = (outcome: Outcome, body: string) => void;

/** Holds kept-alive connections to one node's public API. */
export class NodeConnections {
  readonly #place: { readonly host: string; readonly port: number };
  readonly #patienceMs: number;
  readonly #pipes: HttpPipe[] = [];
  /** Unanswered, in order of time; some are done all the same. */
  readonly #open: Asking[] = [];
  readonly #unsent: Asking[] = [];
  readonly #sweepTimer: NodeJS.Timeout;
  #waiting = 0;
  #pausedUntilMs = 0;
  #pausedAs: Outcome = 'lost';

  /** @param patienceMs milliseconds that a client waits; Infinity = until the answer */
  constructor(url: string, patienceMs: number) {
    const { hostname, port } = new URL(url);
    this.#place = { host: hostname, port: Number(port) };
    this.#patienceMs = patienceMs;
    // setImmediate: after a pause of our own, arrived answers are read first.
    this.#sweepTimer = setInterval(() => setImmediate(() => this.#sweep()), SWEEP_MS);
  }

  /** Opens connections and runs code before the first arrivals. */
  warmUp(): void {
    for (let at = 0; at < CONNECTIONS; at++) warm(this.#connect(), WARM_REQUESTS);
  }

  acquire(work: PostedWork, onAnswer: OnAnswer): void {
    const isPaused = performance.now() < this.#pausedUntilMs;
    if (isPaused || this.#waiting >= WAITING_MAX) {
      onAnswer(isPaused ? this.#pausedAs : 'unsent', '');
      return;
    }
    this.#waiting++;
    const asking = new Asking(requestWith('POST', '/v1/acquire', work), (outcome, body) => {
      this.#waiting--;
      if (outcome === 'not-ready') this.#pause(outcome);
      onAnswer(outcome, body);
    });
    this.#open.push(asking);
    this.#unsent.push(asking);
    this.#pump();
  }

  close(): void {
    clearInterval(this.#sweepTimer);
    for (const pipe of this.#pipes) pipe.close();
  }

  #pump(): void {
    while (this.#unsent.length > 0) {
      const free = this.#pipes.find(({ hasRoom }) => hasRoom);
      if (free === undefined && this.#pipes.length === CONNECTIONS) return;
      const pipe = free ?? this.#connect();
      const next = this.#unsent.shift() as Asking;
      if (!next.isDone) pipe.send(next);
    }
  }

  #connect(): HttpPipe {
    const pipe: HttpPipe = new HttpPipe(this.#place, () => (pipe.isOpen ? this.#pump() : this.#gone(pipe)));
    this.#pipes.push(pipe);
    return pipe;
  }

  /** Fails unsent requests, too; a connection idle for 75 s says nothing about the node. */
  #gone(pipe: HttpPipe): void {
    this.#pipes.splice(this.#pipes.indexOf(pipe), 1);
    if (!pipe.hasLost) {
      this.#pump();
      return;
    }
    this.#pause('lost');
    for (const asking of this.#unsent.splice(0)) asking.finish('lost', '');
  }

  #pause(outcome: Outcome): void {
    this.#pausedAs = outcome;
    this.#pausedUntilMs = performance.now() + PAUSE_MS;
  }

  #sweep(): void {
    const nowMs = performance.now();
    const unsentMs = nowMs - Math.min(UNSENT_AFTER_MS, this.#patienceMs);
    while ((this.#unsent[0]?.sinceMs ?? Infinity) <= unsentMs) this.#unsent.shift()?.finish('unsent', '');
    while (this.#open.length > 0) {
      const oldest = this.#open[0];
      if (!oldest.isDone && oldest.sinceMs > nowMs - this.#patienceMs) return;
      oldest.finish('late', '');
      this.#open.shift();
    }
  }
}

class Asking implements Exchange {
  readonly request: string;
  readonly sinceMs = performance.now();
  isDone = false;
  readonly #answered: OnAnswer;

  constructor(request: string, onAnswer: OnAnswer) {
    this.request = request;
    this.#answered = onAnswer;
  }

  readonly onAnswer = (status: number | null, body: string): void => {
    this.finish(status === null ? 'lost' : (OUTCOME_OF[status] ?? 'error'), body);
  };

  finish(outcome: Outcome, body: string): void {
    if (this.isDone) return;
    this.isDone = true;
    this.#answered(outcome, body);
  }
}

const OUTCOME_OF: Readonly<Record<number, Outcome>> = { 200: 'granted', 429: 'refused', 503: 'not-ready' };

function warm(pipe: HttpPipe, left: number): void {
  if (left === 0) return;
  const onAnswer = (status: number | null) => status !== null && warm(pipe, left - 1);
  pipe.send({ request: requestWith('GET', '/livez', null), onAnswer });
}
