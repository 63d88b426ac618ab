import type { ReadRecord, ReportTopicListener } from '../ports/report-topic.js';
import type { Telemetry } from '../ports/telemetry.js';

export interface InboxOptions {
  /** In log lines: `topic`, `registry topic`. */
  readonly name: string;
  /** What its loss means, for the log line; empty where status and metrics say more. */
  readonly lossMeans: string;
  /** Handled per turn of the event loop: a long catch-up must not hold requests back. */
  readonly recordsPerTurn: number;
  readonly telemetry: Telemetry;
  readonly onRead: (records: readonly ReadRecord[]) => void;
  readonly onCaughtUp: () => void;
  readonly onRecovered?: () => void;
}

/**
 * What was read of a topic and not handled yet, and whether the topic works. Its reader is called on turns of their
 * own, never inside a callback of the topic's client, and is told that it has caught up only after everything before.
 */
export class TopicInbox implements ReportTopicListener {
  /** Null while the topic works. */
  lost: string | null = null;
  readonly #options: InboxOptions;
  #incoming: ReadRecord[] = [];
  #caughtUp = false;
  #turnPlanned = false;
  #closed = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Nothing is handled any more. */
  close(): void {
    this.#closed = true;
  }

  onRecords(records: readonly ReadRecord[]): void {
    for (const record of records) this.#incoming.push(record);
    this.#planTurn();
  }

  onCaughtUp(): void {
    this.#caughtUp = true;
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
    this.lost = error.message;
    this.#options.telemetry.log('error', `${this.#options.name} failed`, { reason: error.message });
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
    const batch = this.#incoming.splice(0, this.#options.recordsPerTurn);
    if (batch.length > 0) this.#options.onRead(batch);
    if (this.#incoming.length > 0) {
      this.#planTurn();
    } else if (this.#caughtUp) {
      this.#caughtUp = false;
      this.#options.onCaughtUp();
    }
  }
}
