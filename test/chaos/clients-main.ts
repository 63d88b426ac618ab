import { HttpPipe } from '../../src/live/traffic/http-pipe.js';
import { CALL_FIELDS, type ClientOrder, OUTCOMES, type Outcome, type SeenCalls } from './client-protocol.js';
import { NODES } from './schedule.js';
import { GROUPS } from './workload.js';

/** The five clients, in a process of their own. Each asks one node for all groups, and does not wait for earlier calls. */

const TICK_MS = 4;
const TELL_EVERY_MS = 500;
const PIPES = 4;
const CONNECT_PAUSE_MS = 20;
/** A node that is not ready is not asked for every arrival: answering would take the time that it needs to get ready. */
const NOT_READY_PAUSE_MS = 20;

/** The calls since the last message to the parent, CALL_FIELDS numbers each. */
let seen: number[] = [];

/** One process of a node, as its client knows it. */
class Endpoint {
  readonly #url: URL;
  readonly #slot: number;
  #pipes: HttpPipe[] = [];
  #pausedUntilMs = 0;

  constructor(slot: number, url: string) {
    this.#slot = slot;
    this.#url = new URL(url);
  }

  ask(group: number, dueMs: number): void {
    const sentMs = epochMs();
    const pipe =
      sentMs < this.#pausedUntilMs ? undefined : (this.#pipes.find(({ hasRoom }) => hasRoom) ?? this.#open());
    if (pipe === undefined) {
      this.#saw(group, dueMs, sentMs, 'unsent');
      return;
    }
    const body = `{"group":"${GROUPS[group]?.name}","messages":1}`;
    const head = `POST /v1/acquire HTTP/1.1\r\nhost: ${this.#url.host}\r\ncontent-type: application/json\r\n`;
    pipe.send({
      request: `${head}content-length: ${body.length}\r\n\r\n${body}`,
      onStatus: (status) => this.#answered(group, dueMs, sentMs, status),
    });
  }

  #answered(group: number, dueMs: number, sentMs: number, status: number | null): void {
    if (status === 503) this.#pausedUntilMs = epochMs() + NOT_READY_PAUSE_MS;
    this.#saw(group, dueMs, sentMs, outcomeOf(status));
  }

  #open(): HttpPipe | undefined {
    if (this.#pipes.length >= PIPES) return undefined;
    const pipe: HttpPipe = new HttpPipe(this.#url, () => {
      if (pipe.isOpen) return;
      this.#pipes = this.#pipes.filter((other) => other !== pipe);
      this.#pausedUntilMs = epochMs() + CONNECT_PAUSE_MS;
    });
    this.#pipes.push(pipe);
    return pipe;
  }

  #saw(group: number, dueMs: number, sentMs: number, outcome: Outcome): void {
    seen.push(dueMs, sentMs, epochMs(), this.#slot, group, OUTCOMES.indexOf(outcome));
  }
}

/** Arrivals are evenly spaced, so that anything above the quota is caused by the cluster and not by chance. */
class Stream {
  readonly #group: number;
  readonly #gapMs: number;
  #nextMs: number;
  #turn = 0;

  constructor(group: number, ratePerSecond: number, beginMs: number) {
    this.#group = group;
    this.#gapMs = 1000 / ratePerSecond;
    // Spread, so that they do not all begin at one moment.
    this.#nextMs = beginMs + this.#gapMs * ((group * 0.37) % 1);
  }

  /** If a node has two processes, they are asked in turn. */
  sendDue(nowMs: number, endpoints: readonly Endpoint[]): void {
    // After a pause of this process, missed arrivals are not made up for: that would be a burst that nobody asked for.
    if (nowMs - this.#nextMs > 1000) this.#nextMs = nowMs;
    for (; this.#nextMs <= nowMs; this.#nextMs += this.#gapMs) {
      endpoints[this.#turn++ % endpoints.length]?.ask(this.#group, this.#nextMs);
    }
  }
}

const endpoints: Endpoint[] = [];
const streams: Stream[][] = [];
const hasSecond = new Set<number>();

process.on('message', (order: ClientOrder) => {
  if (order.kind === 'second') {
    if (order.isOn) hasSecond.add(order.node);
    else hasSecond.delete(order.node);
  } else begin(order.urls);
});
process.on('disconnect', () => process.exit(0));

function begin(urls: readonly string[]): void {
  endpoints.push(...urls.map((url, slot) => new Endpoint(slot, url)));
  const beginMs = epochMs();
  for (let node = 0; node < NODES; node++) {
    streams.push(GROUPS.map(({ demand }, group) => new Stream(group, demand[node] as number, beginMs + node)));
  }
  setInterval(sendDue, TICK_MS);
  setInterval(tell, TELL_EVERY_MS);
}

function sendDue(): void {
  const nowMs = epochMs();
  for (const [node, own] of streams.entries()) {
    const [first, second] = [endpoints[node], endpoints[NODES + node]] as [Endpoint, Endpoint];
    for (const stream of own) stream.sendDue(nowMs, hasSecond.has(node) ? [first, second] : [first]);
  }
}

function tell(): void {
  const news: SeenCalls = { calls: Float64Array.from(seen) };
  if (seen.length % CALL_FIELDS !== 0) throw new Error('half a call');
  seen = [];
  process.send?.(news);
}

function outcomeOf(status: number | null): Outcome {
  if (status === 200) return 'granted';
  if (status === 429) return 'refused';
  if (status === 503) return 'not-ready';
  return status === null ? 'lost' : 'error';
}

/** Epoch time made from the monotonic clock, as in the nodes' decision logs. */
function epochMs(): number {
  return performance.timeOrigin + performance.now();
}
