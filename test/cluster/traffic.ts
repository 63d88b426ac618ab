import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Arrival } from '../../sim/cluster/world.js';

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

/** The traffic process and what it has measured. */
export class TrafficProcess {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(): Promise<TrafficProcess> {
    const child = fork(fileURLToPath(new URL(trafficScript(), import.meta.url)), { stdio: 'inherit' });
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve());
      child.once('error', reject);
    });
    return new TrafficProcess(child);
  }

  /** From now on; returns the epoch time of the change. */
  setRates(targets: readonly TargetRate[], options: { readonly poisson?: boolean } = {}): number {
    this.#child.send({ kind: 'rates', targets, poisson: options.poisson ?? true });
    return performance.timeOrigin + performance.now();
  }

  /** Everything since the last collection, in order of the answers. */
  async collect(): Promise<Answered[]> {
    const answer = new Promise<{ events: [number, string, number, number][] }>((resolve) => {
      this.#child.once('message', resolve as (message: unknown) => void);
    });
    this.#child.send({ kind: 'collect' });
    return (await answer).events.map(([atMs, node, granted, sentMs]) => {
      return { atMs, node, granted: granted === 1, decided: granted !== -1, sentMs, messages: 1, bytes: 0 };
    });
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }
}

/** Compiled benchmarks run from dist-bench/, where plain JavaScript is not copied. */
function trafficScript(): string {
  return import.meta.url.includes('/dist-bench/') ? '../../../test/cluster/traffic.mjs' : './traffic.mjs';
}
