import type { AskedCluster } from '../../cluster/asked-cluster.js';
import type { BaselineEnvironment } from '../baseline.js';

/** Decides in the store, in the order in which questions arrive. */
export interface Store {
  /** How many commands one request costs. */
  readonly questions: number;
  take(messages: number, bytes: number, nowMs: number): boolean;
}

/**
 * One EVALSHA with a key and its arguments, and its reply of two numbers, as Redis writes them. TCP's own bytes are not
 * counted.
 */
const QUESTION_BYTES = 120;
const ANSWER_BYTES = 20;
/** A way to the store or back takes from half to one and a half times its mean. */
const WAY_SPREAD = [0.5, 1.5] as const;

/**
 * Nodes that decide nothing: each request is a question to one store, which answers by what there is when the question
 * arrives. So no two nodes ever spend the same token, and each request waits for its round trip.
 */
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

  /** Does nothing: the store need not know the nodes. */
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

  /** Infinity: no node has a limit of its own. */
  limitOf(): number {
    return Infinity;
  }

  #drawWay(): number {
    return this.#wayMs * this.#environment.random.between(...WAY_SPREAD);
  }
}
