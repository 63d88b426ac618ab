import type { AppendRecord, ReadRecord, ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { Append, ReadEvent } from '../../core/base/protocol/events-and-effects.js';
import { isGroupStateKey } from '../../core/base/protocol/record.js';
import { FAILED_PRODUCE_PAUSE_MS } from '../../core/log/constants.js';
import { OutgoingQueue, type Produce } from '../../core/log/outgoing-queue.js';
import { DECODE_CAUSES, type DecodeCause } from '../../topic/codec/envelope.js';
import type { RecordCodec } from '../../topic/codec/record-codec.js';
import { TopicInbox } from '../../topic/topic-inbox.js';

/** Records per turn of the event loop; a catch-up must not hold requests back. */
const RECORDS_PER_TURN = 1000;

/** Called on turns of the pump's own, never inside the client's callback. */
interface PumpListener {
  onEpoch(epoch: string): void;
  onRead(records: readonly ReadEvent[]): void;
  onCaughtUp(): void;
  onAppendFailed(partition: number, keys: readonly string[]): void;
}

/**
 * Connects topic and coordinator: decodes what is read, appends what is to be sent. Both queues are bounded: outwards
 * the newest record per key (core/log/outgoing-queue.ts), inwards one turn's arrivals.
 */
export class TopicPump {
  readonly undecodable: Record<DecodeCause, number>;
  readonly #topic: ReportTopic;
  readonly #codec: RecordCodec;
  readonly #telemetry: Telemetry;
  readonly #listener: PumpListener;
  readonly inbox: TopicInbox;
  readonly #outgoing = new OutgoingQueue();
  /** Appends under way, at most one per partition. */
  readonly #produces = new Set<Promise<void>>();
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

  /** Reason; null = the topic works. */
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

  /** Waits until everything is appended, at most `timeoutMs`; false = it is not. */
  async flush(timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (this.#outgoing.isSending || this.#outgoing.size > 0) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) return false;
      await Promise.race([...this.#produces, delay(leftMs)]);
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
      if ('record' in decoded) {
        events.push({ partition, offset, appendMs, key, record: decoded.record });
        continue;
      }
      this.#countUndecodable(decoded.cause, partition, offset);
      // Nobody else writes again what it has overwritten.
      if (isGroupStateKey(key)) events.push({ partition, offset, appendMs, key, record: null });
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
    if (this.#closed) return;
    for (let next = this.#outgoing.takeNext(); next !== null; next = this.#outgoing.takeNext()) {
      const produce = this.#append(next).then(() => {
        this.#produces.delete(produce);
        this.#sendNext();
      });
      this.#produces.add(produce);
    }
  }

  async #append({ partition, appends }: Produce): Promise<void> {
    const records: AppendRecord[] = appends.map(({ key, record }) => {
      return { partition, key, value: record === null ? null : this.#codec.encode(record) };
    });
    try {
      await this.#topic.append(records);
      this.#outgoing.succeeded(partition);
    } catch (error) {
      if (this.#closed) return;
      const reason = error instanceof Error ? error.message : String(error);
      this.#telemetry.log('debug', 'append failed', { partition, reason });
      await delay(FAILED_PRODUCE_PAUSE_MS);
      this.#listener.onAppendFailed(partition, this.#outgoing.failed(partition));
    }
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
