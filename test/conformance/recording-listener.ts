import type { ReadRecord, ReportTopicListener } from '../../src/base/ports/report-topic.js';

/** Writes down every call of a topic, and lets a test wait for a state of that book with a deadline. */
export class RecordingListener implements ReportTopicListener {
  /** In order; one more element for each epoch that began. */
  readonly epochs: string[] = [];
  /** Everything delivered since the epoch began, repetitions included. */
  delivered: ReadRecord[] = [];
  /** What was called, without repetitions in a row. */
  readonly order: ('epoch' | 'records' | 'caught-up')[] = [];
  /** One element per call of onCaughtUp: how many records had been delivered before it. */
  readonly caughtUpAfter: number[] = [];
  /** The first reason of each loss. */
  readonly lost: string[] = [];
  /** Null while the topic works. */
  lostBecause: string | null = null;
  recovered = 0;
  readonly failures: Error[] = [];
  /** Every call of any method; must stand still once `close()` has resolved. */
  calls = 0;

  #waiting: (() => void)[] = [];

  onEpoch(epoch: string): void {
    this.epochs.push(epoch);
    this.delivered = [];
    this.#noteOrder('epoch');
    this.#changed();
  }

  onRecords(records: readonly ReadRecord[]): void {
    for (const record of records) this.delivered.push(record);
    this.#noteOrder('records');
    this.#changed();
  }

  onCaughtUp(): void {
    this.caughtUpAfter.push(this.delivered.length);
    this.#noteOrder('caught-up');
    this.#changed();
  }

  onLost(reason: string): void {
    if (this.lostBecause === null) this.lost.push(reason);
    this.lostBecause = reason;
    this.#changed();
  }

  onRecovered(): void {
    this.recovered++;
    this.lostBecause = null;
    this.#changed();
  }

  onFailed(error: Error): void {
    this.failures.push(error);
    this.#changed();
  }

  /** Guarantee 5: what is left when repetitions are dropped by offset. */
  get records(): readonly ReadRecord[] {
    const nextOffset = new Map<number, number>();
    return this.delivered.filter((record) => {
      if (record.offset < (nextOffset.get(record.partition) ?? -Infinity)) return false;
      nextOffset.set(record.partition, record.offset + 1);
      return true;
    });
  }

  /** The newest value per key; null = tombstone read. */
  get newest(): ReadonlyMap<string, Uint8Array | null> {
    return new Map(this.records.map((record) => [record.key, record.value]));
  }

  has(key: string): boolean {
    return this.delivered.some((record) => record.key === key);
  }

  async until(what: string, condition: () => boolean, deadlineMs: number): Promise<void> {
    const givenUpAt = performance.now() + deadlineMs;
    while (!condition()) {
      const leftMs = givenUpAt - performance.now();
      if (leftMs <= 0) throw new Error(`not within ${deadlineMs} ms: ${what}; seen: ${this.#summary()}`);
      await this.#nextChange(leftMs);
    }
  }

  #noteOrder(call: (typeof this.order)[number]): void {
    if (this.order.at(-1) !== call) this.order.push(call);
  }

  #nextChange(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #changed(): void {
    this.calls++;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #summary(): string {
    const failures = this.failures.map((error) => error.message).join('; ');
    return (
      `${this.delivered.length} records, ${this.caughtUpAfter.length} caught up, ${this.lost.length} lost ` +
      `(${this.lost.at(-1) ?? ''}), ${this.recovered} recovered, failures: ${failures || 'none'}`
    );
  }
}
