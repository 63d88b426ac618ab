import { type Exchange, HttpPipe } from './http-pipe.js';

const CONNECTIONS = 4;
/** More than this is not waited for: a node takes 0.1 ms per request, unless it stands still. */
const WAITING_MAX = 512;
/** A client would wait so long. Arrivals at a frozen node get no answer for this time. */
const TIMEOUT_MS = 1000;
const SWEEP_MS = 50;
/** Nobody listens: asked again after this. */
const DOWN_MS = 20;
const WARM_REQUESTS = 50;

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
  readonly #url: URL;
  readonly #pipes: HttpPipe[] = [];
  /** Not answered yet, in order of time; some are done all the same. */
  readonly #open: Asking[] = [];
  /** Not sent yet. */
  readonly #unsent: Asking[] = [];
  readonly #sweepTimer: NodeJS.Timeout;
  #waiting = 0;
  #downUntilMs = 0;

  constructor(url: string) {
    this.#url = new URL(url);
    // By way of setImmediate: after a pause of our own the answers that have come are read first.
    this.#sweepTimer = setInterval(() => setImmediate(() => this.#sweep()), SWEEP_MS);
  }

  /** The first arrivals should not pay for connections and for code that has never run. */
  warmUp(): void {
    for (let at = 0; at < CONNECTIONS; at++) this.#warm(this.#connect(), WARM_REQUESTS);
  }

  acquire(work: Work, onAnswer: OnAnswer): void {
    const isDown = performance.now() < this.#downUntilMs;
    if (isDown || this.#waiting >= WAITING_MAX) {
      onAnswer(isDown ? 'nobody-there' : 'late');
      return;
    }
    this.#waiting++;
    const asking = new Asking(requestOf(this.#url, work), (answer) => {
      this.#waiting--;
      onAnswer(answer);
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
      const pipe = this.#pipes.find(({ hasRoom }) => hasRoom) ?? this.#another();
      if (pipe === undefined) return;
      const next = this.#unsent.shift() as Asking;
      if (!next.isDone) pipe.send(next);
    }
  }

  #another(): HttpPipe | undefined {
    return this.#pipes.length < CONNECTIONS ? this.#connect() : undefined;
  }

  #connect(): HttpPipe {
    const pipe: HttpPipe = new HttpPipe(this.#url, () => (pipe.isOpen ? this.#pump() : this.#gone(pipe)));
    this.#pipes.push(pipe);
    return pipe;
  }

  /** Requests that were not sent yet fail as well: nobody is there for them either. */
  #gone(pipe: HttpPipe): void {
    this.#pipes.splice(this.#pipes.indexOf(pipe), 1);
    this.#downUntilMs = performance.now() + DOWN_MS;
    for (const asking of this.#unsent.splice(0)) asking.finish('nobody-there');
  }

  #sweep(): void {
    const beforeMs = performance.now() - TIMEOUT_MS;
    while (this.#open.length > 0) {
      const oldest = this.#open[0] as Asking;
      if (!oldest.isDone && oldest.sinceMs > beforeMs) return;
      oldest.finish('late');
      this.#open.shift();
    }
  }

  #warm(pipe: HttpPipe, left: number): void {
    if (left === 0) return;
    const again = (status: number | null) => status !== null && this.#warm(pipe, left - 1);
    pipe.send({ request: `GET /livez HTTP/1.1\r\nhost: ${this.#url.host}\r\n\r\n`, onStatus: again });
  }
}

class Asking implements Exchange {
  readonly request: string;
  readonly sinceMs = performance.now();
  isDone = false;
  readonly #onAnswer: OnAnswer;

  constructor(request: string, onAnswer: OnAnswer) {
    this.request = request;
    this.#onAnswer = onAnswer;
  }

  readonly onStatus = (status: number | null): void => {
    if (status === null) this.finish('nobody-there');
    else this.finish(status === 200 ? 'admitted' : 'refused');
  };

  finish(answer: Answer): void {
    if (this.isDone) return;
    this.isDone = true;
    this.#onAnswer(answer);
  }
}

function requestOf({ host }: URL, work: Work): string {
  const body = JSON.stringify(work);
  const head = `POST /v1/acquire HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
  return `${head}content-length: ${body.length}\r\n\r\n${body}`;
}
