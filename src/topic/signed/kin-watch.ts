import { isNodeRecordKey } from '../../core/report/record.js';

/** More are counted as so many: a bad writer must not fill the memory. */
const STRANGERS_MAX = 1000;
/**
 * From one look to the next at most this part of `strangerMs` counts. A process that slept has heard nobody, and must
 * not take that for silence: what was written meanwhile is read right after it wakes.
 */
const LOOK_RATIO = 0.25;

export interface KinWatchOptions {
  /** Under which this node says that it is there. */
  readonly ownKey: string;
  /** A stranger that has said nothing for as long is gone. */
  readonly strangerMs: number;
  /** Without a word of another node that signs as this one does for as long, there is none. */
  readonly kinMs: number;
}

/**
 * Whether this node is alone among strangers: others say again and again that they are there, and none of them signs as
 * this node does. It then knows nothing of what they use, and would take the whole quota beside them; its own key is the
 * likely mistake. One other node that signs alike is enough to go by, whatever strangers write: so they can keep a node
 * apart that is the only one of its cluster, and no others.
 *
 * Judged by NODE records alone, which every node repeats every `heartbeatMs`, on this node's monotonic clock while the
 * process runs: it looks with every record that it reads or writes.
 */
export class KinWatch {
  readonly #options: KinWatchOptions;
  readonly #clock: () => number;
  readonly #strangers = new Map<string, number>();
  #kinMs = Number.NEGATIVE_INFINITY;
  /** Time in which this process could have heard others. */
  #awakeMs = 0;
  #lookedMs: number;

  constructor(options: KinWatchOptions, clock: () => number = () => performance.now()) {
    this.#options = options;
    this.#clock = clock;
    this.#lookedMs = clock();
  }

  /** A record with a value. */
  read(key: string, isVerified: boolean): void {
    if (!isNodeRecordKey(key)) return;
    if (!isVerified) {
      this.#strangers.delete(key);
      if (this.#strangers.size < STRANGERS_MAX) this.#strangers.set(key, this.#look());
    } else if (key !== this.#options.ownKey) {
      this.#kinMs = this.#look();
    }
  }

  /** Nodes that write, and do not sign as this one does. */
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

  /** Who has spoken in another log is there all the same. */
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
