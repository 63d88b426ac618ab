import type { ClientTally } from '../measure/meter.js';
import { SlidingPeak } from '../measure/sliding-peak.js';
import { type Answer, NodeClients, type Work } from '../traffic/node-clients.js';

export interface SystemTally {
  readonly asked: number;
  /** Granted, and never refused before. */
  readonly atOnce: number;
  readonly admitted: number;
  /** Most in any second. */
  readonly mostInASecond: number;
}

interface SystemOptions {
  readonly acquire: readonly ((work: Work) => Promise<Answer>)[];
  readonly random: () => number;
  readonly nowMs: () => number;
}

const SECOND_MS = 1000;

/** Plays a limiting system's clients. They all behave alike on the same arrivals. */
export class System {
  /** Tallies since the start, for the live view. */
  readonly nodes: readonly ClientTally[];
  readonly #clients: readonly NodeClients[];
  readonly #nowMs: () => number;
  #beganMs = 0;
  #tally = { asked: 0, atOnce: 0, admitted: 0 };
  #peak = new SlidingPeak(SECOND_MS);

  constructor({ acquire, random, nowMs }: SystemOptions) {
    this.#nowMs = nowMs;
    this.nodes = acquire.map(() => ({ arrived: [0, 0], admitted: [0, 0], gaveUp: [0, 0] }));
    this.#clients = acquire.map((ask, node) => {
      const admitted = (work: Work) => this.#admitted(node, work);
      const gaveUp = () => {
        this.nodes[node].gaveUp[0]++;
      };
      return new NodeClients({ acquire: ask, outcome: { admitted, gaveUp }, random });
    });
  }

  beginAct(): void {
    this.#beganMs = this.#nowMs();
    this.#tally = { asked: 0, atOnce: 0, admitted: 0 };
    this.#peak = new SlidingPeak(SECOND_MS);
  }

  get tally(): SystemTally {
    return { ...this.#tally, mostInASecond: this.#peak.peak };
  }

  arrive(node: number): void {
    this.#tally.asked++;
    this.nodes[node].arrived[0]++;
    this.#clients[node].take({ bytes: 0, arrivedMs: performance.now(), refusedBefore: false });
  }

  nodeGone(gone: number, others: readonly number[]): void {
    for (const [at, work] of this.#clients[gone].leave().entries()) {
      const node = others[at % others.length];
      if (node === undefined) return;
      this.nodes[gone].arrived[0]--;
      this.nodes[node].arrived[0]++;
      this.#clients[node].take({ ...work, refusedBefore: false });
    }
  }

  end(): void {
    for (const clients of this.#clients) clients.leave();
  }

  #admitted(node: number, { refusedBefore }: Work): void {
    this.nodes[node].admitted[0]++;
    this.#tally.admitted++;
    if (!refusedBefore) this.#tally.atOnce++;
    this.#peak.add(1, this.#nowMs() - this.#beganMs);
  }
}
