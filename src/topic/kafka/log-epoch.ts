/**
 * Names the log that is read, and notices another. Pure. Since Kafka 2.8 a topic has an id. A shortened log keeps it,
 * without a trace for later readers: those who saw it add partition and leader epoch, the same for all of them.
 */
export class LogEpoch {
  #topicId: string | null = null;
  #wasFound = false;
  #isMissing = false;
  /** Counts returns of a topic that was missing, in place of ids. */
  #returns = 0;
  /** Partition → leader epoch of its last shortening. */
  readonly #shortened = new Map<number, number>();

  /** Name, the same for all readers but those that saw it shortened. */
  get name(): string {
    const base = this.#topicId ?? `unnamed-${this.#returns}`;
    const shortened = [...this.#shortened].sort(([one], [other]) => one - other);
    return [base, ...shortened.map(([partition, leaderEpoch]) => `${partition}@${leaderEpoch}`)].join('/');
  }

  missing(): void {
    this.#isMissing = true;
  }

  /** Notes the topic; returns true if it is another than before. @param topicId null = topics have no ids here */
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
