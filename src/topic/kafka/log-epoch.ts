/**
 * Names the log that is read, and notices when it is another one. Pure.
 *
 * Kafka 2.8 and newer gives a topic an id when it is created. A log that was shortened keeps its id, and nothing in it
 * tells later readers that it was shortened. Readers who saw that add the partition and the epoch of its leader to the
 * name; both are the same for all of them.
 */
export class LogEpoch {
  #topicId: string | null = null;
  #wasFound = false;
  #isMissing = false;
  /** How often the topic has come back after it was missing. Where topics have no id, this number stands for it. */
  #returns = 0;
  /** Partition → the leader epoch in which the log was last found shortened. */
  readonly #shortened = new Map<number, number>();

  /** The same for all readers of the log, except for those that have seen it shortened. */
  get name(): string {
    const base = this.#topicId ?? `unnamed-${this.#returns}`;
    const shortened = [...this.#shortened].sort(([one], [other]) => one - other);
    return [base, ...shortened.map(([partition, leaderEpoch]) => `${partition}@${leaderEpoch}`)].join('/');
  }

  missing(): void {
    this.#isMissing = true;
  }

  /**
   * Returns whether this is another topic than the one found before.
   *
   * @param topicId null = topics have no ids here
   */
  found(topicId: string | null): boolean {
    const isOther = topicId === null || this.#topicId === null ? this.#isMissing : topicId !== this.#topicId;
    const isAnew = this.#wasFound && isOther;
    this.#wasFound = true;
    this.#isMissing = false;
    this.#topicId = topicId ?? this.#topicId;
    if (!isAnew) return false;
    this.#returns++;
    this.#shortened.clear();
    return true;
  }

  shortened(partition: number, leaderEpoch: number): void {
    this.#shortened.set(partition, leaderEpoch);
  }
}
