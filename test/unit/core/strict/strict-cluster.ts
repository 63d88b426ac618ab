import { EventQueue } from '../../../../sim/cluster/event-queue.js';
import { Random } from '../../../../sim/cluster/random.js';
import { StrictLog } from '../../../../sim/strict/strict-log.js';
import { StrictProcess } from '../../../../sim/strict/strict-process.js';
import type { StrictQuota } from '../../../../src/core/strict/strict-quota.js';

const NO_FAULTS = { appendMs: [1, 3], deliveryMs: [1, 3], lost: 0, late: 0, lateMs: 0, repeated: 0 } as const;

/** Processes of one bucket in virtual time. */
export class Cluster {
  readonly queue = new EventQueue();
  readonly log = new StrictLog(this.queue, new Random(1), NO_FAULTS);
  admitted = 0;
  #life = 1;
  readonly #quota: StrictQuota;

  constructor(quota: StrictQuota) {
    this.#quota = quota;
  }

  start(node: string): StrictProcess {
    const clock = { aheadMs: 0, drift: 0 };
    const settings = {
      node,
      life: 1000 * this.#life++,
      quota: this.#quota,
      revision: 1,
      clock,
      waitMs: 300,
      mutation: null,
    };
    return new StrictProcess(this.queue, this.log, settings, (tokens) => {
      this.admitted += tokens;
    });
  }

  run(forMs: number): void {
    this.queue.runUntil(this.queue.nowMs + forMs);
  }

  /** Asks for tokens one by one. */
  use(process: StrictProcess, tokens: number): void {
    for (let count = 0; count < tokens; count++) process.ask(1);
    this.run(400);
  }
}
