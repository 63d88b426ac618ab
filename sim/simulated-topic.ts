import type { Append, ReadEvent } from '../src/core/coordinator-protocol.js';
import type { EventQueue } from './event-queue.js';
import type { Random } from './random.js';
import { roundToWire } from './wire-precision.js';

export interface TopicDelays {
  /** From a node to the log, and from the log to a node; uniform between the two. */
  readonly appendMs: readonly [number, number];
  readonly deliveryMs: readonly [number, number];
}

/** One reader's place in the log. Deliveries keep the order of the log, whatever their delays. */
interface Reader {
  readonly deliver: (records: readonly ReadEvent[]) => void;
  readonly lastDeliveryMs: number[];
  isCut: boolean;
}

/** The topic in virtual time: partitions with one order each, delays, outage, readers that are cut off, compaction. */
export class SimulatedTopic {
  readonly log: ReadEvent[] = [];
  isAway = false;
  /** Added to the log's clock, to let it jump. */
  clockOffsetMs = 0;
  readonly #queue: EventQueue;
  readonly #random: Random;
  readonly #delays: TopicDelays;
  readonly #partitions: number;
  readonly #readers = new Set<Reader>();
  readonly #nextOffset: number[];

  constructor(queue: EventQueue, random: Random, delays: TopicDelays, partitions: number) {
    this.#queue = queue;
    this.#random = random;
    this.#delays = delays;
    this.#partitions = partitions;
    this.#nextOffset = new Array(partitions).fill(0);
  }

  /** Delivers what is there (compacted or not) and then follows; `caughtUp` after the first part. */
  open(deliver: Reader['deliver'], caughtUp: () => void, compacted: boolean): Reader {
    const reader: Reader = { deliver, lastDeliveryMs: new Array(this.#partitions).fill(0), isCut: false };
    const history = compacted ? this.#compacted() : [...this.log];
    this.#queue.after(this.#random.between(...this.#delays.deliveryMs), () => {
      if (history.length > 0) deliver(history);
      const seen = history.length === 0 ? -1 : history[history.length - 1];
      this.#readers.add(reader);
      const missed = this.log.slice(seen === -1 ? 0 : this.log.indexOf(seen as ReadEvent) + 1);
      if (missed.length > 0) deliver(missed);
      caughtUp();
    });
    return reader;
  }

  close(reader: Reader): void {
    reader.isCut = true;
    this.#readers.delete(reader);
  }

  append(reader: Reader, appends: readonly Append[], failed: (keys: readonly string[]) => void): void {
    // Effects are a buffer that the next step reuses.
    const batch = [...appends];
    this.#queue.after(this.#random.between(...this.#delays.appendMs), () => {
      if (this.isAway || reader.isCut) {
        this.#queue.after(500, () => failed(batch.map(({ key }) => key)));
        return;
      }
      for (const append of batch) this.#write(append);
    });
  }

  /** Appends wait for the log in order, so a reader that is cut hears nothing and is not heard. */
  cut(reader: Reader, isCut: boolean): void {
    reader.isCut = isCut;
  }

  #write(append: Append): void {
    const { partition, key } = append;
    const offset = this.#nextOffset[partition] as number;
    this.#nextOffset[partition] = offset + 1;
    const appendMs = Math.floor(this.#queue.nowMs + this.clockOffsetMs);
    const read: ReadEvent = { partition, offset, appendMs, key, record: roundToWire(append.record) };
    this.log.push(read);
    for (const reader of this.#readers) this.#deliverTo(reader, read);
  }

  #deliverTo(reader: Reader, read: ReadEvent): void {
    const earliest = reader.lastDeliveryMs[read.partition] as number;
    const atMs = Math.max(earliest, this.#queue.nowMs + this.#random.between(...this.#delays.deliveryMs));
    reader.lastDeliveryMs[read.partition] = atMs;
    this.#queue.at(atMs, () => {
      if (!reader.isCut) reader.deliver([read]);
    });
  }

  #compacted(): ReadEvent[] {
    const newest = new Map<string, ReadEvent>();
    for (const read of this.log) newest.set(`${read.partition}:${read.key}`, read);
    return this.log.filter((read) => newest.get(`${read.partition}:${read.key}`) === read);
  }
}

export type SimulatedReader = Reader;
