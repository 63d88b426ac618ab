import type { AppendRecord } from '../../base/ports/report-topic.js';

/** Holds one append's records for a partition. A long one is cut into pieces that fit into a record batch. */
export interface Parcel {
  readonly partition: number;
  readonly records: readonly AppendRecord[];
  readonly bytes: number;
  settle(error: Error | null): void;
}

/** Most bytes of a record batch: less than max.message.bytes (1 MiB), with overhead. More would hold up the next. */
export const PARCEL_BYTES_MAX = 512 * 1024;

/** Queues parcels per partition, first in, first out; its user bounds it. */
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

  /** Takes the next produce for `partitions`: at least one parcel, at most PARCEL_BYTES_MAX. */
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

  /** Drops parcels of rejected appends. */
  drop(given: ReadonlySet<Parcel>): void {
    for (const [partition, queue] of this.#queues) {
      this.#queues.set(
        partition,
        queue.filter((parcel) => !given.has(parcel)),
      );
    }
  }

  /** Waits for a parcel, or `stopped`. `onWaiting` gets what ends the wait. */
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
