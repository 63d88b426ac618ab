import type { DecodeCause, RecordCodec } from '../codec/record-codec.js';
import { DECODE_CAUSES } from '../codec/record-codec.js';
import type { Append, ReadEvent } from '../core/coordinator-protocol.js';
import type { AppendRecord, ReadRecord, ReportTopic, ReportTopicListener } from '../ports/report-topic.js';
import type { Telemetry } from '../ports/telemetry.js';

/** Records handled per turn of the event loop; a catch-up of 100,000 records must not hold requests back. */
const RECORDS_PER_TURN = 1000;

/** Told by the pump, always on a turn of its own, never inside a callback of the topic's client. */
export interface PumpListener {
  onRead(records: readonly ReadEvent[]): void;
  onCaughtUp(): void;
  onAppendFailed(keys: readonly string[]): void;
}

/**
 * Between the topic and the coordinator: decodes what is read, and sends what is to be appended, one produce at a time.
 *
 * Both queues are bounded by nature: outwards the newest record per key waits (a report is absolute, so an older one is worth
 * nothing), inwards what arrived since the last turn.
 */
export class TopicPump implements ReportTopicListener {
  readonly undecodable: Record<DecodeCause, number>;
  lost: string | null = null;
  readonly #topic: ReportTopic;
  readonly #codec: RecordCodec;
  readonly #telemetry: Telemetry;
  readonly #listener: PumpListener;
  readonly #outgoing = new Map<string, Append>();
  #incoming: ReadRecord[] = [];
  #caughtUp = false;
  #turnPlanned = false;
  #sending: Promise<void> | null = null;
  #closed = false;

  constructor(topic: ReportTopic, codec: RecordCodec, telemetry: Telemetry, listener: PumpListener) {
    this.#topic = topic;
    this.#codec = codec;
    this.#telemetry = telemetry;
    this.#listener = listener;
    this.undecodable = Object.fromEntries(DECODE_CAUSES.map((cause) => [cause, 0])) as Record<DecodeCause, number>;
  }

  get pendingAppends(): number {
    return this.#outgoing.size;
  }

  open(): Promise<void> {
    return this.#topic.open(this);
  }

  send(appends: readonly Append[]): void {
    for (const append of appends) this.#outgoing.set(`${append.partition}:${append.key}`, append);
    if (this.#outgoing.size > 0) this.#sendNext();
  }

  /** Waits until everything is appended, at most `timeoutMs`; returns whether it is. */
  async flush(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.#sending !== null || this.#outgoing.size > 0) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await Promise.race([this.#sending ?? Promise.resolve(), delay(leftMs)]);
      if (this.lost !== null) return false;
    }
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#topic.close();
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
    if (this.lost === null) this.#telemetry.log('warn', 'topic lost', { reason });
    this.lost = reason;
  }

  onRecovered(): void {
    if (this.lost !== null) this.#telemetry.log('info', 'topic recovered');
    this.lost = null;
    this.#sendNext();
  }

  onFailed(error: Error): void {
    this.lost = error.message;
    this.#telemetry.log('error', 'topic failed', { reason: error.message });
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
    const batch = this.#incoming.splice(0, RECORDS_PER_TURN);
    if (batch.length > 0) this.#listener.onRead(this.#decodeAll(batch));
    if (this.#incoming.length > 0) {
      this.#planTurn();
    } else if (this.#caughtUp) {
      this.#caughtUp = false;
      this.#listener.onCaughtUp();
    }
  }

  #decodeAll(records: readonly ReadRecord[]): ReadEvent[] {
    const events: ReadEvent[] = [];
    for (const { partition, offset, appendMs, key, value } of records) {
      if (value === null) {
        events.push({ partition, offset, appendMs, key, record: null });
        continue;
      }
      const decoded = this.#codec.decode(value);
      if ('record' in decoded) events.push({ partition, offset, appendMs, key, record: decoded.record });
      else this.#countUndecodable(decoded.cause, partition, offset);
    }
    return events;
  }

  #countUndecodable(cause: DecodeCause, partition: number, offset: number): void {
    if (this.undecodable[cause]++ > 0) return;
    this.#telemetry.log('warn', 'record ignored; further ones of this cause are only counted', {
      cause,
      partition,
      offset,
    });
  }

  #sendNext(): void {
    if (this.#sending !== null || this.#closed || this.#outgoing.size === 0) return;
    const batch = [...this.#outgoing.values()];
    this.#outgoing.clear();
    this.#sending = this.#append(batch).finally(() => {
      this.#sending = null;
      this.#sendNext();
    });
  }

  async #append(batch: readonly Append[]): Promise<void> {
    const records: AppendRecord[] = batch.map(({ partition, key, record }) => {
      return { partition, key, value: record === null ? null : this.#codec.encode(record) };
    });
    try {
      await this.#topic.append(records);
    } catch (error) {
      if (this.#closed) return;
      this.#telemetry.log('debug', 'append failed', { reason: error instanceof Error ? error.message : String(error) });
      // The next heartbeat or report says it again; waiting a little keeps a dead topic from spinning.
      await delay(100);
      this.#listener.onAppendFailed(batch.map(({ key }) => key));
    }
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
