/**
 * Names the log that is read, and notices when it is another one. Pure.
 *
 * Kafka gives a topic an id when it is created (2.8). A log that was shortened keeps its id, and nothing in it tells
 * later readers that it was shortened. Readers who saw it add the partition and its leader's epoch to the name, which
 * are the same for all of them.
 */
export class LogEpoch {
  #topicId: string | null = null;
  #wasFound = false;
  #isMissing = false;
  /** How often the topic came back after it was missing; it stands for the id where topics have none. */
  #returns = 0;
  /** Per partition, the leader's epoch in which the log was last found shortened. */
  readonly #shortened = new Map<number, number>();

  /** One name for all readers of the log, except those that have seen it shortened. */
  get name(): string {
    const base = this.#topicId ?? `unnamed-${this.#returns}`;
    const shortened = [...this.#shortened].sort(([one], [other]) => one - other);
    return [base, ...shortened.map(([partition, leaderEpoch]) => `${partition}@${leaderEpoch}`)].join('/');
  }

  missing(): void {
    this.#isMissing = true;
  }

  /** Returns whether the topic is another one than was found before. @param topicId null = topics have none here */
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
