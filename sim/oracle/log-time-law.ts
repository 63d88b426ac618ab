import type { ProcessRecord } from './process-record.js';

/** Sums of doubles over some thousand records. */
const ERROR_MS = 1e-3;

/**
 * While nodes run, log time goes on as fast as the log's clock, on every partition: somebody beats there before a step
 * of it counts less than it took. A bucket, a ramp and the age of a row go by it.
 */
export class LogTimeLaw {
  /** By process and partition: how far log time is ahead of the log's clock. */
  readonly #aheadMs = new Map<ProcessRecord, readonly number[]>();

  check(records: Iterable<ProcessRecord>, fail: (about: string, says: string) => void): void {
    for (const record of records) {
      const { logTimes } = record.node.coordinator.log;
      const aheadMs = logTimes.map(({ ms, appendMs }) => ms - appendMs);
      const before = this.#aheadMs.get(record) ?? aheadMs;
      this.#aheadMs.set(record, aheadMs);
      aheadMs.forEach((ahead, partition) => {
        const moved = ahead - before[partition];
        if (!(Math.abs(moved) > ERROR_MS)) return;
        fail(
          record.name,
          `log time of partition ${partition} has gone ${moved.toFixed(3)} ms ahead of the log's clock`,
        );
      });
    }
  }
}
