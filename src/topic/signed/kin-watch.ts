import { isNodeRecordKey } from '../../core/base/protocol/record.js';

/** More strangers count as this many, so that a bad writer cannot fill the memory. */
const STRANGERS_MAX = 1000;
/**
 * Between two looks at the clock at most this part of `strangerMs` counts as time. A process that slept has heard
 * nobody and must not take that for silence, because it reads right after waking what was written meanwhile.
 */
const LOOK_RATIO = 0.25;

export interface KinWatchOptions {
  /** The key of this node's own NODE records. */
  readonly ownKey: string;
  /** A stranger that has written nothing for this long is gone. */
  readonly strangerMs: number;
  /** If no other node that signs as this one does has written for this long, there is none. */
  readonly kinMs: number;
}

/**
 * Whether this node is alone among strangers: other nodes keep writing heartbeats, and none of them signs as this node
 * does. Probably this node has the wrong key. It knows nothing of what the others use, and would take the whole quota
 * beside them. One other node with the same signature is enough for this node to go on, whatever strangers write. So
 * strangers can only keep a node apart that is the only one of its cluster.
 *
 * It is judged by NODE records alone, which every node repeats every `heartbeatMs`. Time is this node's monotonic clock
 * while the process runs; the watch looks at it with every record that the node reads or writes.
 */
export class KinWatch {
  readonly #options: KinWatchOptions;
  readonly #clock: () => number;
  readonly #strangers = new Map<string, number>();
  #kinMs = -Infinity;
  /** The time for which this process has been able to hear others, ms. */
  #awakeMs = 0;
  #lookedMs: number;

  constructor(options: KinWatchOptions, clock: () => number = () => performance.now()) {
    this.#options = options;
    this.#clock = clock;
    this.#lookedMs = clock();
  }

  /** Called for every record that is read, tombstones excepted. */
  read(key: string, isVerified: boolean): void {
    if (!isNodeRecordKey(key)) return;
    if (!isVerified) {
      this.#strangers.delete(key);
      if (this.#strangers.size < STRANGERS_MAX) this.#strangers.set(key, this.#look());
    } else if (key !== this.#options.ownKey) {
      this.#kinMs = this.#look();
    }
  }

  /** How many nodes write that do not sign as this one does. */
  get strangers(): number {
    const sinceMs = this.#look() - this.#options.strangerMs;
    for (const [key, ms] of this.#strangers) {
      if (ms >= sinceMs) break;
      this.#strangers.delete(key);
    }
    return this.#strangers.size;
  }

  get isApart(): boolean {
    return this.#look() - this.#kinMs > this.#options.kinMs && this.strangers > 0;
  }

  /** Called when another log begins. The time of the last kin stays: a node that spoke in the old log still exists. */
  epochBegan(): void {
    this.#strangers.clear();
  }

  #look(): number {
    const nowMs = this.#clock();
    this.#awakeMs += Math.min(nowMs - this.#lookedMs, this.#options.strangerMs * LOOK_RATIO);
    this.#lookedMs = nowMs;
    return this.#awakeMs;
  }
}
