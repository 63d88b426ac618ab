import type { AppendRecord } from '../../base/ports/report-topic.js';

/** The records of one append for one partition, or a piece of them that fits into a record batch. */
export interface Parcel {
  readonly partition: number;
  readonly records: readonly AppendRecord[];
  readonly bytes: number;
  settle(error: Error | null): void;
}

/**
 * A record batch must stay below the topic's max.message.bytes (1 MiB by default, a smaller one is refused), its
 * overhead included; a larger produce of many record batches would hold up the next ones.
 */
export const PARCEL_BYTES_MAX = 512 * 1024;

/** What waits for the leaders of its partitions, first in, first out per partition. Bounded by its user. */
export class Outbox {
  readonly #queues = new Map<number, Parcel[]>();
  readonly #wakers = new Set<() => void>();

  put(parcels: readonly Parcel[]): void {
    for (const parcel of parcels) {
      const queue = this.#queues.get(parcel.partition);
      if (queue) queue.push(parcel);
      else this.#queues.set(parcel.partition, [parcel]);
    }
    for (const wake of [...this.#wakers]) wake();
  }

  /** The next produce for a leader of `partitions`: at least one parcel if there is any, at most PARCEL_BYTES_MAX. */
  take(partitions: readonly number[]): Parcel[] {
    const taken: Parcel[] = [];
    let bytes = 0;
    for (const partition of partitions) {
      const queue = this.#queues.get(partition) ?? [];
      const fitting = queue.findIndex((parcel, i) => {
        const isFirst = i === 0 && taken.length === 0;
        if (!isFirst && bytes + parcel.bytes > PARCEL_BYTES_MAX) return true;
        bytes += parcel.bytes;
        return false;
      });
      taken.push(...queue.splice(0, fitting === -1 ? queue.length : fitting));
    }
    return taken;
  }

  /** Forgets parcels whose append has been given up. */
  drop(given: ReadonlySet<Parcel>): void {
    for (const [partition, queue] of this.#queues) {
      this.#queues.set(
        partition,
        queue.filter((parcel) => !given.has(parcel)),
      );
    }
  }

  /** Until something is put, or `stopped`. `onWaiting` gets what ends it before that. */
  nextPut(stopped: AbortSignal, onWaiting: (wake: () => void) => void = () => {}): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#wakers.delete(wake);
        stopped.removeEventListener('abort', wake);
        resolve();
      };
      this.#wakers.add(wake);
      stopped.addEventListener('abort', wake, { once: true });
      onWaiting(wake);
    });
  }
}

export function sizeOf({ key, value }: AppendRecord): number {
  return Buffer.byteLength(key) + (value?.length ?? 0);
}
