import type { Arrival } from '../../sim/cluster/world.js';
import { isDecided } from '../../src/tools/load/call.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { LoadProcess } from '../../src/tools/load/load-process.js';
import { steadyStream } from './steady-stream.js';

const PATIENCE_MS = 3000;

export interface TargetRate {
  readonly node: string;
  readonly url: string;
  readonly ratePerSecond: number;
  /** `orders` where none is named. */
  readonly group?: string;
}

/** An arrival as the client saw it. `atMs` is the epoch time of the answer. */
export interface Answered extends Arrival {
  readonly sentMs: number;
  /** False when the node gave no decision: not ready, dead, frozen. */
  readonly decided: boolean;
}

/** Load at rates that change, and what was seen of it. */
export class TrafficProcess {
  readonly #load = new LoadProcess();
  /** Their places are the tags. */
  readonly #nodes: string[] = [];

  /** From now on, nothing at nodes that are not named; returns the epoch time of the change. */
  setRates(targets: readonly TargetRate[], { poisson = true }: { readonly poisson?: boolean } = {}): number {
    const sinceMs = epochNow();
    const streams = targets.map(({ node, url, ratePerSecond, group = 'orders' }) => {
      return { tag: this.#tagOf(node), arrivals: steadyStream(node, ratePerSecond, !poisson), group, urls: [url] };
    });
    const seed = Math.floor(Math.random() * 2 ** 31);
    this.#load.play('rates', { sinceMs, seed, patienceMs: PATIENCE_MS, streams });
    return sinceMs;
  }

  /** Everything since the last collection, in order of the answers. */
  async collect(): Promise<Answered[]> {
    return (await this.#load.collect()).map((call) => {
      const { tag, endedMs, sentMs, outcome } = call;
      const node = this.#nodes[tag];
      const granted = outcome === 'granted';
      return { atMs: endedMs, sentMs, node, granted, decided: isDecided(call), messages: 1, bytes: 0 };
    });
  }

  stop(): void {
    this.#load.child.signal('SIGKILL');
  }

  #tagOf(node: string): number {
    if (!this.#nodes.includes(node)) this.#nodes.push(node);
    return this.#nodes.indexOf(node);
  }
}
