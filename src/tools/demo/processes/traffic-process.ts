import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Child } from '../../processes/child.js';
import type { ClientTally, Measurement } from '../measure/meter.js';
import type { Stretch } from '../story/acts.js';
import type { ActTallies } from '../story/story-traffic.js';
import type { TrafficNews, TrafficOrder, TrafficPlan } from './protocol.js';

const MAIN_FILE = fileURLToPath(new URL('./traffic-main.js', import.meta.url));

export interface TrafficProgress {
  readonly atMs: number;
  readonly nodes: readonly ClientTally[];
}

/** Controls the process that makes the traffic and measures. */
export class TrafficProcess {
  readonly child: Child;
  readonly #measured: Promise<Measurement | null>;
  #actOver: (tallies: ActTallies) => void = () => undefined;

  constructor(logFile: string, onProgress: (progress: TrafficProgress) => void) {
    this.child = new Child([MAIN_FILE], { logFile });
    this.#measured = new Promise((resolve) => {
      this.child.onMessage((message) => {
        const news = message as TrafficNews;
        if (news.kind === 'finished') resolve(news.measurement);
        else if (news.kind === 'act-over') this.#actOver(news.tallies);
        else onProgress(news);
      });
    });
  }

  begin(plan: TrafficPlan): void {
    this.#order({ kind: 'begin', plan });
  }

  nodeGone(node: number): void {
    this.#order({ kind: 'node-gone', node });
  }

  nodeBack(node: number): void {
    this.#order({ kind: 'node-back', node });
  }

  /** Resolves when nothing of the act waits; never if the process ends. */
  act(stretches: readonly Stretch[]): Promise<ActTallies> {
    return new Promise((resolve) => {
      this.#actOver = resolve;
      this.#order({ kind: 'act', stretches });
    });
  }

  /** Sets the quota of the systems beside ours. */
  setQuota(messagesPerSecond: number): void {
    this.#order({ kind: 'quota', messagesPerSecond });
  }

  /** Ends the traffic; null = the process cannot report its figures any more. */
  async finish(timeoutMs: number): Promise<Measurement | null> {
    this.#order({ kind: 'finish' });
    const gone = Promise.race([this.child.ended, sleep(timeoutMs, undefined, { ref: false })]).then(() => null);
    return Promise.race([this.#measured, gone]);
  }

  #order(order: TrafficOrder): void {
    this.child.send(order);
  }
}
