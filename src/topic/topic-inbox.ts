import { QuotameshError } from '../base/errors/quotamesh-error.js';
import type { ReadRecord, ReportTopicListener } from '../base/ports/report-topic.js';
import type { Telemetry } from '../base/ports/telemetry.js';

export interface InboxOptions {
  /** Name in log lines: `topic`, `registry topic`. */
  readonly name: string;
  /** Meaning of its loss for the log line; empty where status and metrics say more. */
  readonly lossMeans: string;
  /** Records per turn of the event loop: catching up must not hold requests. */
  readonly recordsPerTurn: number;
  readonly telemetry: Telemetry;
  readonly onEpoch: (epoch: string) => void;
  readonly onRead: (records: readonly ReadRecord[]) => void;
  readonly onCaughtUp: () => void;
  readonly onRecovered?: () => void;
}

/** Unhandled records of one epoch. */
interface Reading {
  /** Name of the epoch; null = the listener has it. */
  epoch: string | null;
  records: ReadRecord[];
  caughtUp: boolean;
}

/**
 * Queues a topic's records, epochs and losses, in order. The event loop's turns take them. An epoch begins after all of
 * the one before, caught up comes after all read until then; nothing runs inside a client's callback.
 */
export class TopicInbox implements ReportTopicListener {
  /** Reason; null = the topic works. */
  lost: string | null = null;
  readonly #options: InboxOptions;
  /** By epoch, in order; all but the last have ended. */
  readonly #incoming: Reading[] = [{ epoch: null, records: [], caughtUp: false }];
  #turnPlanned = false;
  #closed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Handles nothing from now on. */
  close(): void {
    this.#closed = true;
  }

  onEpoch(epoch: string): void {
    this.#incoming.push({ epoch, records: [], caughtUp: false });
    this.#planTurn();
  }

  onRecords(records: readonly ReadRecord[]): void {
    const { records: waiting } = this.#newest;
    for (const record of records) waiting.push(record);
    this.#planTurn();
  }

  onCaughtUp(): void {
    this.#newest.caughtUp = true;
    this.#planTurn();
  }

  onLost(reason: string): void {
    const { name, lossMeans, telemetry } = this.#options;
    if (this.lost === null) telemetry.log('warn', `${name} lost${lossMeans}`, { reason });
    this.lost = reason;
  }

  onRecovered(): void {
    const { name, telemetry, onRecovered } = this.#options;
    if (this.lost !== null) telemetry.log('info', `${name} recovered`);
    this.lost = null;
    onRecovered?.();
  }

  onFailed(error: Error): void {
    // Readers of the status do not see the log.
    this.lost = error instanceof QuotameshError ? error.advice : error.message;
    this.#options.telemetry.log('error', `${this.#options.name} failed`, { reason: error.message });
  }

  get #newest(): Reading {
    return this.#incoming.at(-1) as Reading;
  }

  #planTurn(): void {
    if (this.#turnPlanned || this.#closed) return;
    this.#turnPlanned = true;
    setImmediate(() => {
      this.#turnPlanned = false;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    if (this.#closed) return;
    const reading = this.#incoming[0];
    if (reading.epoch !== null) this.#options.onEpoch(reading.epoch);
    reading.epoch = null;
    const records = reading.records.splice(0, this.#options.recordsPerTurn);
    if (records.length > 0) this.#options.onRead(records);
    if (reading.records.length > 0) {
      this.#planTurn();
      return;
    }
    if (reading.caughtUp) {
      reading.caughtUp = false;
      this.#options.onCaughtUp();
    }
    if (this.#incoming.length === 1) return;
    this.#incoming.shift();
    this.#planTurn();
  }
}
