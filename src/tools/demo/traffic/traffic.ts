import type { Rates } from '../../../core/base/vocabulary.js';
import type { Outcome } from '../../load/call.js';
import { epochNow } from '../../load/epoch-now.js';
import { NodeConnections } from '../../load/node-connections.js';
import { RealTimeQueue } from '../../load/real-time-queue.js';
import { type Measurement, Meter } from '../measure/meter.js';
import { type Answer, NodeClients, type Work } from './node-clients.js';
import type { Replay } from './replay.js';

export interface TrafficOptions {
  readonly replay: Replay;
  readonly quotaPerSecond: Rates;
  readonly acquire: readonly ((work: Work) => Promise<Answer>)[];
  readonly random: () => number;
}

/** Replays the trace at the nodes, unevenly, and measures at their clients. */
export class Traffic {
  readonly meter: Meter;
  readonly #options: TrafficOptions;
  readonly #clients: readonly NodeClients[];
  #alive: number[];
  readonly #queue = new RealTimeQueue(epochNow());

  constructor(options: TrafficOptions) {
    const { acquire, quotaPerSecond, random } = options;
    this.#options = options;
    this.meter = new Meter(quotaPerSecond, acquire.length);
    this.#alive = acquire.map((_, node) => node);
    this.#clients = acquire.map((ask, node) => {
      const admitted = ({ bytes }: Work) => this.meter.admitted(node, bytes, this.elapsedMs);
      const gaveUp = ({ bytes }: Work) => this.meter.gaveUp(node, bytes, this.elapsedMs);
      return new NodeClients({ acquire: ask, outcome: { admitted, gaveUp }, random });
    });
  }

  get elapsedMs(): number {
    return this.#queue.clockMs;
  }

  begin(): void {
    this.#deliverArrivals();
  }

  nodeGone(gone: number): void {
    this.#alive = this.#alive.filter((node) => node !== gone);
    for (const work of this.#clients[gone].leave()) {
      if (this.#alive.length === 0) return;
      const node = this.#pick();
      this.meter.moved(gone, node, work.bytes);
      // The other node has not counted it yet.
      this.#clients[node].take({ ...work, refusedBefore: false });
    }
  }

  finish(): Measurement {
    this.#queue.stop();
    const measurement = this.meter.measurement(this.elapsedMs);
    for (const clients of this.#clients) clients.leave();
    return measurement;
  }

  #deliverArrivals(): void {
    const { replay } = this.#options;
    const arrivedMs = performance.now();
    for (const { bytes } of replay.arrivedBy(this.elapsedMs)) {
      if (this.#alive.length === 0) return;
      const node = this.#pick();
      this.meter.arrived(node, bytes, this.elapsedMs);
      this.#clients[node].take({ bytes, arrivedMs, refusedBefore: false });
    }
    this.#queue.at(replay.nextAtMs, () => this.#deliverArrivals());
  }

  #pick(): number {
    return unevenSplit(this.elapsedMs, this.#options.random(), this.#alive);
  }
}

/** Part of the traffic at the busiest node. */
const BUSIEST_PART = 0.7;
/** Milliseconds until another node becomes the busiest. */
export const SWITCH_EVERY_MS = 10_000;

/**
 * Chooses a request's node: one takes 70 %, another every 10 s; the rest share.
 *
 * @param random 0 ≤ random < 1
 * @param nodes alive, in their order, ≥ 1
 */
export function unevenSplit<Node>(elapsedMs: number, random: number, nodes: readonly Node[]): Node {
  const busiest = Math.floor(elapsedMs / SWITCH_EVERY_MS) % nodes.length;
  if (random < BUSIEST_PART || nodes.length === 1) return nodes[busiest];
  const other = Math.floor(((random - BUSIEST_PART) / (1 - BUSIEST_PART)) * (nodes.length - 1));
  return nodes[(busiest + 1 + other) % nodes.length];
}

/** Milliseconds after which a silent node counts as gone. */
const PATIENCE_MS = 1000;
const UNREACHABLE_RETRY_MS = 100;

/** Requests admission over `POST /v1/acquire`. */
export function httpAcquire(
  url: string,
  group: string,
  onAnswered: (tookMs: number) => void,
): (work: Work) => Promise<Answer> {
  const connections = new NodeConnections(url, PATIENCE_MS);
  return ({ bytes, refusedBefore }) => {
    const sentMs = performance.now();
    return new Promise((resolve) => {
      connections.acquire({ group, messages: 1, bytes, retry: refusedBefore }, (outcome, body) => {
        onAnswered(performance.now() - sentMs);
        resolve(answerOf(outcome, body));
      });
    });
  };
}

function answerOf(outcome: Outcome, body: string): Answer {
  if (outcome === 'granted') return { kind: 'granted' };
  if (outcome !== 'refused') return { kind: 'unavailable', retryAfterMs: UNREACHABLE_RETRY_MS };
  return { kind: 'refused', retryAfterMs: (JSON.parse(body) as { retryAfterMs?: number }).retryAfterMs ?? 0 };
}
