import type { Call as LoadCall } from '../../src/tools/load/call.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { LoadProcess } from '../../src/tools/load/load-process.js';
import { steadyStream } from '../cluster/steady-stream.js';
import { NODES } from './schedule.js';
import { GROUPS } from './workload.js';

/** One call as its client saw it. Times are epoch milliseconds. */
export interface Call extends Pick<LoadCall, 'dueMs' | 'sentMs' | 'endedMs' | 'outcome'> {
  readonly node: number;
  readonly group: number;
}

const COLLECT_EVERY_MS = 500;
const SEED = 1;

/**
 * The five clients, in a process of their own, and everything that they have seen. Each asks one node for all groups;
 * arrivals are evenly spaced, so that anything above the quota is caused by the cluster and not by chance.
 */
export class Clients {
  readonly calls: Call[] = [];
  readonly #load = new LoadProcess();
  #urls: readonly string[] = [];
  #collecting: NodeJS.Timeout | undefined;

  /** @param urls by node; the second processes stand behind them */
  begin(urls: readonly string[]): void {
    this.#urls = urls;
    for (let node = 0; node < NODES; node++) this.askSecond(node, false);
    this.#collecting = setInterval(() => void this.collect().catch(() => undefined), COLLECT_EVERY_MS);
  }

  /** Half of what a node is asked goes to its second process. */
  askSecond(node: number, isOn: boolean): void {
    const urls = [node, ...(isOn ? [NODES + node] : [])].map((slot) => this.#urls[slot]);
    const nowMs = epochNow();
    for (const [group, { name, demand }] of GROUPS.entries()) {
      const perSecond = demand[node];
      const arrivals = steadyStream(`${node} ${name}`, perSecond, true);
      // Spread, so that they do not all come at one moment.
      const sinceMs = nowMs + node + (1000 / perSecond) * ((group * 0.37) % 1);
      const streams = [{ tag: node * GROUPS.length + group, arrivals, group: name, urls }];
      // What a frozen node grants late counts as well, so there is no end to patience.
      this.#load.play(arrivals.id, { sinceMs, seed: SEED, patienceMs: Infinity, streams });
    }
  }

  get isRunning(): boolean {
    return this.#load.child.isRunning;
  }

  logEnd(): string {
    return this.#load.child.logEnd();
  }

  /** Brings `calls` up to date. */
  async collect(): Promise<void> {
    for (const { tag, dueMs, sentMs, endedMs, outcome } of await this.#load.collect()) {
      const [node, group] = [Math.floor(tag / GROUPS.length), tag % GROUPS.length];
      this.calls.push({ node, group, dueMs, sentMs, endedMs, outcome });
    }
  }

  stop(): void {
    clearInterval(this.#collecting);
    this.#load.child.signal('SIGKILL');
  }
}
