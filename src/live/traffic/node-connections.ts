import { Agent, type ClientRequest, get, request } from 'node:http';

/** A node takes 0.1 ms per request: far more than a live run asks for at once, unless it stands still. */
const CONNECTIONS = 32;
const WAITING_MAX = 512;
/** As long as a client would wait; a frozen node costs so many of its arrivals their answer. */
const TIMEOUT_MS = 1000;
/** Nobody listens: asked again after this. */
const DOWN_MS = 20;
const WARM_CONNECTIONS = 4;
const WARM_REQUESTS = 25;

export interface Work {
  readonly group: string;
  readonly messages: number;
  readonly bytes: number;
  readonly retry: boolean;
}

/** `late`: no answer in time, or too many that wait for one. */
export type Answer = 'admitted' | 'refused' | 'nobody-there' | 'late';

export type OnAnswer = (answer: Answer) => void;

/** Kept-alive connections to one node, over which it is asked through its public API. */
export class NodeConnections {
  readonly #target: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, scheduling: 'fifo' });
  #waiting = 0;
  #downUntilMs = 0;

  constructor(url: string) {
    this.#target = new URL('/v1/acquire', url);
  }

  /** The first arrivals should not pay for connections and for code that has never run: half of a core for a second. */
  warmUp(): void {
    for (let at = 0; at < WARM_CONNECTIONS; at++) this.#warm(WARM_REQUESTS);
  }

  acquire(work: Work, onAnswer: OnAnswer): void {
    const isDown = performance.now() < this.#downUntilMs;
    if (isDown || this.#waiting >= WAITING_MAX) {
      onAnswer(isDown ? 'nobody-there' : 'late');
      return;
    }
    this.#waiting++;
    let isDone = false;
    const done = (answer: Answer) => {
      if (isDone) return;
      isDone = true;
      this.#waiting--;
      onAnswer(answer);
    };
    this.#post(JSON.stringify(work), done);
  }

  close(): void {
    this.#agent.destroy();
  }

  #post(body: string, done: OnAnswer): void {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(this.#target, { method: 'POST', agent: this.#agent, headers }, (response) => {
      clearTimeout(timer);
      response.resume();
      done(response.statusCode === 200 ? 'admitted' : 'refused');
    });
    // By way of setImmediate: after a pause of our own the answers that have come are read first.
    const timer = setTimeout(() => setImmediate(() => giveUp(sent, done)), TIMEOUT_MS);
    sent.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (error.code === 'ECONNREFUSED') this.#downUntilMs = performance.now() + DOWN_MS;
      done('nobody-there');
    });
    sent.end(body);
  }

  #warm(left: number): void {
    if (left === 0) return;
    const url = new URL('/livez', this.#target);
    const again = () => this.#warm(left - 1);
    get(url, { agent: this.#agent }, (response) => response.resume().once('end', again)).on('error', () => undefined);
  }
}

/**
 * What waits for a connection is not sent any more. What has one keeps it, and the answer is read when it comes: a new
 * connection for every late answer would make a slow machine slower, until it answers nothing in time.
 */
function giveUp(sent: ClientRequest, done: OnAnswer): void {
  done('late');
  if (sent.socket === null) sent.destroy();
}
