import { isNodeRecordKey, nodeKeyOfRecordKey } from '../../src/core/base/protocol/record.js';
import type { SignedEvent } from '../cluster/simulated-topic.js';

/** Checks that a life's records reach each partition in the order of writing. */
export class OrderLaw {
  /** Partition, author and life → latest sequence. */
  readonly #latest = new Map<string, number>();
  /** Partition and key of buried nodes, whose next process may, once in 65,536, draw its forerunner's nonce. */
  readonly #buried = new Set<string>();
  #looked = 0;
  #epoch = '';

  /** Checks what the log has gained. */
  check(log: readonly SignedEvent[], epoch: string, fail: (about: string, says: string) => void): void {
    if (epoch !== this.#epoch) {
      this.#latest.clear();
      this.#buried.clear();
      this.#looked = 0;
      this.#epoch = epoch;
    }
    for (; this.#looked < log.length; this.#looked++) this.#look(log[this.#looked], fail);
  }

  #look(read: SignedEvent, fail: (about: string, says: string) => void): void {
    const { partition, offset, key, record, signedWith } = read;
    if (record === null) {
      if (isNodeRecordKey(key)) this.#buried.add(`${partition} ${nodeKeyOfRecordKey(key)}`);
      return;
    }
    const { nodeKey, incarnation, sequence } = record.author;
    const author = `${partition} ${nodeKey} ${incarnation} ${signedWith}`;
    const latest = this.#buried.delete(`${partition} ${nodeKey}`) ? 0 : (this.#latest.get(author) ?? 0);
    if (sequence > latest) this.#latest.set(author, sequence);
    // A process writes nothing after its farewell, but others may repeat it.
    else if (record.kind !== 'farewell')
      fail(`partition ${partition}`, `${record.kind} ${sequence} at ${offset} comes behind ${latest}`);
  }
}
