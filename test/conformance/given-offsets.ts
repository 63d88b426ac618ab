import type { AppendRecord, ReportTopic, ReportTopicListener } from '../../src/base/ports/report-topic.js';

/** Offsets begin with a clock, and jump where Redis was started anew. */
export const likeRedis = (offset: number) => (1_900_000_000 + Math.floor(offset / 2000)) * 2 ** 20 + offset;

/** A topic whose records have other offsets, as those of another store would be. */
export class GivenOffsets implements ReportTopic {
  readonly #own: ReportTopic;
  readonly #offsetOf: (offset: number) => number;

  /** @param offsetOf rises with its argument */
  constructor(own: ReportTopic, offsetOf: (offset: number) => number) {
    this.#own = own;
    this.#offsetOf = offsetOf;
  }

  get partitions(): number {
    return this.#own.partitions;
  }

  get counters(): ReportTopic['counters'] {
    return this.#own.counters;
  }

  open(listener: ReportTopicListener): Promise<void> {
    return this.#own.open({
      onEpoch: (epoch) => listener.onEpoch(epoch),
      onRecords: (records) => {
        listener.onRecords(records.map((record) => ({ ...record, offset: this.#offsetOf(record.offset) })));
      },
      onCaughtUp: () => listener.onCaughtUp(),
      onLost: (reason) => listener.onLost(reason),
      onRecovered: () => listener.onRecovered(),
      onFailed: (error) => listener.onFailed(error),
    });
  }

  append(records: readonly AppendRecord[]): Promise<void> {
    return this.#own.append(records);
  }

  close(): Promise<void> {
    return this.#own.close();
  }
}
