import type { SignedEvent } from '../cluster/simulated-topic.js';

/** Checks that a process's records reach each partition in writing order. */
export class OrderLaw {
  /** Partition, process, author and life → latest sequence. */
  readonly #latest = new Map<string, number>();
  #looked = 0;
  #epoch = '';

  /** Checks what the log has gained. */
  check(log: readonly SignedEvent[], epoch: string, fail: (about: string, says: string) => void): void {
    if (epoch !== this.#epoch) {
      this.#latest.clear();
      this.#looked = 0;
      this.#epoch = epoch;
    }
    for (; this.#looked < log.length; this.#looked++) this.#look(log[this.#looked], fail);
  }

  #look(read: SignedEvent, fail: (about: string, says: string) => void): void {
    const { partition, offset, record, writer } = read;
    if (record === null) return;
    const { nodeKey, incarnation, sequence } = record.author;
    const author = `${partition} ${writer} ${nodeKey} ${incarnation}`;
    if (sequence > (this.#latest.get(author) ?? 0)) this.#latest.set(author, sequence);
    // A process writes nothing after its farewell, but others may repeat it.
    else if (record.kind !== 'farewell')
      fail(
        `partition ${partition}`,
        `${record.kind} ${sequence} at ${offset} comes behind ${this.#latest.get(author)}`,
      );
  }
}
