import { isNodeRecordKey } from '../../core/base/protocol/record.js';

/** Most nodes counted, so that no writer fills the memory. */
const STRANGERS_MAX = 1000;
/** Part of `strangerMs` that counts between two looks: a process that slept has read nothing, which is no silence. */
const LOOK_RATIO = 0.25;

interface KinWatchOptions {
  /** Key of this node's own NODE records. */
  readonly ownKey: string;
  /** Milliseconds of silence after which another node is gone. */
  readonly strangerMs: number;
  /** Milliseconds without a node of this signature after which there is none. */
  readonly kinMs: number;
}

/**
 * Detects that other nodes write heartbeats and none signs alike. Probably this node's key is wrong. It knows nothing
 * of their use, and would take the whole quota beside them. One node of the same signature is enough to go on, so bad
 * writers can only keep apart the single node of its cluster. Judged by NODE records, repeated every `heartbeatMs`, in
 * monotonic time while the process runs.
 */
export class KinWatch {
  readonly #options: KinWatchOptions;
  readonly #clock: () => number;
  readonly #strangers = new Map<string, number>();
  #kinMs = -Infinity;
  /** Milliseconds for which this process could read others. */
  #awakeMs = 0;
  #lookedMs: number;

  constructor(options: KinWatchOptions, clock: () => number = () => performance.now()) {
    this.#options = options;
    this.#clock = clock;
    this.#lookedMs = clock();
  }

  /** Takes every record but tombstones. */
  read(key: string, isVerified: boolean): void {
    if (!isNodeRecordKey(key)) return;
    if (!isVerified) {
      this.#strangers.delete(key);
      if (this.#strangers.size < STRANGERS_MAX) this.#strangers.set(key, this.#look());
    } else if (key !== this.#options.ownKey) {
      this.#kinMs = this.#look();
    }
  }

  /** Nodes that sign otherwise than this one. */
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

  /** Begins another log; the last kin's time stays, as it still exists. */
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
