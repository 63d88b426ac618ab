import { DECODE_CAUSES, type DecodeCause } from '../codec/envelope.js';
import type { RecordCodec } from '../codec/record-codec.js';
import type { Append, ReadEvent } from '../core/coordinator-protocol.js';
import { FAILED_PRODUCE_PAUSE_MS, OutgoingQueue } from '../core/topic/outgoing-queue.js';
import type { AppendRecord, ReadRecord, ReportTopic } from '../ports/report-topic.js';
import type { Telemetry } from '../ports/telemetry.js';
import { TopicInbox } from './topic-inbox.js';

/** Records handled per turn of the event loop; a catch-up of 100,000 records must not hold requests back. */
const RECORDS_PER_TURN = 1000;

/** Told by the pump, always on a turn of its own, never inside a callback of the topic's client. */
export interface PumpListener {
  onEpoch(epoch: string): void;
  onRead(records: readonly ReadEvent[]): void;
  onCaughtUp(): void;
  onAppendFailed(keys: readonly string[]): void;
}

/**
 * Between the topic and the coordinator: decodes what is read, and sends what is to be appended, one produce at a time.
 *
 * Both queues are bounded by nature: outwards the newest record per key waits (core/topic/outgoing-queue.ts), inwards
 * what arrived since the last turn.
 */
export class TopicPump {
  readonly undecodable: Record<DecodeCause, number>;
  readonly #topic: ReportTopic;
  readonly #codec: RecordCodec;
  readonly #telemetry: Telemetry;
  readonly #listener: PumpListener;
  readonly inbox: TopicInbox;
  readonly #outgoing = new OutgoingQueue();
  /** The end of the produce that was begun last, and of what followed from it. */
  #sending: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(topic: ReportTopic, codec: RecordCodec, telemetry: Telemetry, listener: PumpListener) {
    this.#topic = topic;
    this.#codec = codec;
    this.#telemetry = telemetry;
    this.#listener = listener;
    this.undecodable = Object.fromEntries(DECODE_CAUSES.map((cause) => [cause, 0])) as Record<DecodeCause, number>;
    this.inbox = new TopicInbox({
      name: 'topic',
      lossMeans: '',
      recordsPerTurn: RECORDS_PER_TURN,
      telemetry,
      onEpoch: (epoch) => listener.onEpoch(epoch),
      onRead: (records) => listener.onRead(this.#decodeAll(records)),
      onCaughtUp: () => listener.onCaughtUp(),
      onRecovered: () => this.#sendNext(),
    });
  }

  /** Null while the topic works. */
  get lost(): string | null {
    return this.inbox.lost;
  }

  get pendingAppends(): number {
    return this.#outgoing.size;
  }

  open(): Promise<void> {
    return this.#topic.open(this.inbox);
  }

  send(appends: readonly Append[]): void {
    if (appends.length === 0) return;
    this.#outgoing.add(appends);
    this.#sendNext();
  }

  /** Waits until everything is appended, at most `timeoutMs`; returns whether it is. */
  async flush(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.#outgoing.isSending || this.#outgoing.size > 0) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await Promise.race([this.#sending, delay(leftMs)]);
      if (this.lost !== null) return false;
    }
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.inbox.close();
    await this.#topic.close();
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
    const batch = this.#closed ? null : this.#outgoing.takeNext();
    if (batch === null) return;
    this.#sending = this.#append(batch).then(() => this.#sendNext());
  }

  async #append(batch: readonly Append[]): Promise<void> {
    const records: AppendRecord[] = batch.map(({ partition, key, record }) => {
      return { partition, key, value: record === null ? null : this.#codec.encode(record) };
    });
    try {
      await this.#topic.append(records);
      this.#outgoing.succeeded();
    } catch (error) {
      if (this.#closed) return;
      this.#telemetry.log('debug', 'append failed', { reason: error instanceof Error ? error.message : String(error) });
      await delay(FAILED_PRODUCE_PAUSE_MS);
      // The next heartbeat or report says it again.
      this.#listener.onAppendFailed(this.#outgoing.failed());
    }
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
