import { Agent, request } from 'node:http';

/** A node takes 0.2 ms per request: far more than a live run asks for at once, unless it stands still. */
const CONNECTIONS = 64;
const WAITING_MAX = 512;
/** As long as a client would wait; a frozen node costs so many of its arrivals their answer. */
const TIMEOUT_MS = 1000;
/** Nobody listens: asked again after this. */
const DOWN_MS = 20;

export interface Work {
  readonly group: string;
  readonly messages: number;
  readonly bytes: number;
  readonly retry: boolean;
}

/** true = admitted, false = refused, null = no answer. */
export type OnAnswer = (admitted: boolean | null) => void;

/** Kept-alive connections to one node, over which it is asked through its public API. */
export class NodeConnections {
  readonly #target: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  #waiting = 0;
  #downUntilMs = 0;

  constructor(url: string) {
    this.#target = new URL('/v1/acquire', url);
  }

  acquire(work: Work, onAnswer: OnAnswer): void {
    if (this.#waiting >= WAITING_MAX || performance.now() < this.#downUntilMs) {
      onAnswer(null);
      return;
    }
    this.#waiting++;
    let isDone = false;
    const done = (admitted: boolean | null) => {
      if (isDone) return;
      isDone = true;
      this.#waiting--;
      onAnswer(admitted);
    };
    this.#post(JSON.stringify(work), done);
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(body: string, done: OnAnswer): void {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(this.#target, { method: 'POST', agent: this.#agent, headers }, (response) => {
      response.resume();
      done(response.statusCode === 200);
    });
    const timer = setTimeout(() => sent.destroy(new Error('no answer in time')), TIMEOUT_MS);
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') this.#downUntilMs = performance.now() + DOWN_MS;
      done(null);
    });
    sent.on('close', () => clearTimeout(timer));
    sent.end(body);
  }
}
