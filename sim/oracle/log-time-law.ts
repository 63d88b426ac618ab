import type { ProcessRecord } from './process-record.js';

/** Rounding over some thousand records, ms. */
const ERROR_MS = 1e-3;

/** Checks that log time goes as fast as the log's clock. It holds on every partition while nodes run. */
export class LogTimeLaw {
  /** Milliseconds of log time ahead of the clock, by process and partition. */
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
        const says = `log time of partition ${partition} has gone ${moved.toFixed(3)} ms ahead of the log's clock`;
        fail(record.name, says);
      });
    }
  }
}
