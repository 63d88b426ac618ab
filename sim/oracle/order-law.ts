import { isNodeRecordKey, nodeKeyOfRecordKey } from '../../src/core/base/protocol/record.js';
import type { SignedEvent } from '../cluster/simulated-topic.js';

/**
 * The records of one life reach each partition in the order in which they were written. A reader takes a record that
 * comes after a later one for a repetition, and a heartbeat that counts as a repetition keeps nobody alive.
 */
export class OrderLaw {
  /** Partition, author and life → the latest of its sequences in the log. */
  readonly #latest = new Map<string, number>();
  /**
   * Partition and key of nodes that were buried there and not heard since. The next process of such an id begins at
   * life 1 again, and one in 65,536 draws the nonce of its forerunner, whom nobody remembers.
   */
  readonly #buried = new Set<string>();
  #looked = 0;
  #epoch = '';

  /** Looks at what is new in the log since the last time. */
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
    // A process writes nothing after its own farewell, but nodes that remember one that is gone may write it again.
    else if (record.kind !== 'farewell')
      fail(`partition ${partition}`, `${record.kind} ${sequence} at ${offset} comes behind ${latest}`);
  }
}
