import type { AskedCluster } from '../../cluster/cluster-under-test.js';
import type { BaselineEnvironment } from '../baseline.js';

/** Decides requests in the store, in order of arrival. */
export interface Store {
  /** Commands per request. */
  readonly questions: number;
  take(messages: number, bytes: number, nowMs: number): boolean;
}

/** Bytes of an EVALSHA, its arguments and its reply. TCP is left out. */
const QUESTION_BYTES = 120;
const ANSWER_BYTES = 20;
/** Shortest and longest way, in parts of the mean. */
const WAY_SPREAD = [0.5, 1.5] as const;

/** Asks one store for each request: nodes decide nothing, so no token is spent twice. */
export class StoreCluster implements AskedCluster {
  readonly name: string;
  readonly sent = { records: 0, bytes: 0 };
  readonly #environment: BaselineEnvironment;
  readonly #store: Store;
  readonly #wayMs: number;

  constructor(name: string, environment: BaselineEnvironment, store: Store, roundTripMs: number) {
    this.name = name;
    this.#environment = environment;
    this.#store = store;
    this.#wayMs = roundTripMs / 2;
  }

  start(): void {}

  ask(_node: string, messages: number, bytes: number, answer: (isAdmitted: boolean) => void): void {
    const { questions } = this.#store;
    this.sent.records += questions;
    this.sent.bytes += questions * (QUESTION_BYTES + ANSWER_BYTES);
    const { queue } = this.#environment;
    queue.after(this.#drawWay(), () => {
      const isAdmitted = this.#store.take(messages, bytes, queue.nowMs);
      queue.after(this.#drawWay(), () => answer(isAdmitted));
    });
  }

  limitOf(): number {
    return Infinity;
  }

  #drawWay(): number {
    return this.#wayMs * this.#environment.random.between(...WAY_SPREAD);
  }
}
