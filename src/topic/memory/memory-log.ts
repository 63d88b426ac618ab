import type { AppendRecord, ReadRecord } from '../../base/ports/report-topic.js';
import { invariant } from '../../core/base/invariant.js';

/** Records of a partition above which it compacts, once half are superseded. */
const COMPACT_ABOVE_RECORDS = 10_000;

interface MemoryLogOptions {
  /** Partitions, 1 … 16; default 1. */
  readonly partitions?: number;
  /** Clock of the log, ms; default the wall clock. */
  readonly clock?: () => number;
}

/** Calls of a log to its attached topics. */
interface MemoryLogReader {
  nextOffsetOf(partition: number): number;
  logGrew(): void;
  appendsResumed(): void;
  deliverAgain(records: readonly ReadRecord[]): void;
}

export function createMemoryLog(options: MemoryLogOptions = {}): MemoryLog {
  return new MemoryLog(options.partitions ?? 1, options.clock ?? Date.now);
}

/** Keeps an ordered, compacted log in a process. Several `MemoryTopic`s share it; tests give it faults. */
export class MemoryLog {
  readonly partitions: number;
  readonly #clock: () => number;
  /** Per partition, rising offsets, with holes of compaction. */
  readonly #kept: ReadRecord[][];
  readonly #endOffsets: number[];
  readonly #compactAbove: number[];
  readonly #readers = new Set<MemoryLogReader>();
  #epoch = 1;
  #paused = false;

  constructor(partitions: number, clock: () => number) {
    invariant(Number.isInteger(partitions) && partitions >= 1 && partitions <= 16, 'partitions must be 1 … 16', {
      partitions,
    });
    this.partitions = partitions;
    this.#clock = clock;
    this.#kept = Array.from({ length: partitions }, () => []);
    this.#endOffsets = new Array<number>(partitions).fill(0);
    this.#compactAbove = new Array<number>(partitions).fill(COMPACT_ABOVE_RECORDS);
  }

  /** Name, new with every fault that takes read records away. */
  get epoch(): string {
    return `memory ${this.#epoch}`;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** Fault: appends hang (and time out) until `resumeAppends`; reading goes on. */
  pauseAppends(): void {
    this.#paused = true;
  }

  resumeAppends(): void {
    this.#paused = false;
    for (const reader of this.#readers) reader.appendsResumed();
  }

  /** Fault: delivers the last `count` kept and read records of each partition again. */
  repeatDelivery(count: number): void {
    const repeated = this.#kept.flatMap((kept) => kept.slice(-count));
    for (const reader of this.#readers) reader.deliverAgain(repeated);
  }

  /** Fault: deletes the log, and makes it anew, empty. */
  makeAnew(): void {
    this.truncate(() => 0);
  }

  /** Fault: loses each partition's end, from the offset that `keep` returns. */
  truncate(keep: (partition: number, endOffset: number) => number): void {
    for (let partition = 0; partition < this.partitions; partition++) {
      const before = this.#endOffsets[partition];
      const endOffset = Math.max(0, Math.min(before, keep(partition, before)));
      this.#kept[partition] = this.#kept[partition].filter(({ offset }) => offset < endOffset);
      this.#endOffsets[partition] = endOffset;
    }
    this.#epoch++;
    for (const reader of this.#readers) reader.logGrew();
  }

  /** Drops superseded records and old tombstones that attached readers have. */
  compact(): void {
    for (let partition = 0; partition < this.partitions; partition++) this.#compactPartition(partition);
  }

  append(records: readonly AppendRecord[]): void {
    // All or none, as in the other topics.
    for (const { partition } of records) {
      invariant(partition >= 0 && partition < this.partitions, 'partition out of range', { partition });
    }
    const appendMs = this.#clock();
    for (const { partition, key, value } of records) {
      const offset = this.#endOffsets[partition]++;
      // The writer may reuse its buffer.
      const copy = value && Uint8Array.from(value);
      this.#kept[partition].push({ partition, offset, appendMs, key, value: copy });
      if (this.#kept[partition].length > this.#compactAbove[partition]) this.#compactPartition(partition);
    }
    for (const reader of this.#readers) reader.logGrew();
  }

  read(partition: number, offset: number): readonly ReadRecord[] {
    const kept = this.#kept[partition];
    let low = 0;
    for (let high = kept.length; low < high; ) {
      const middle = (low + high) >>> 1;
      if (kept[middle].offset < offset) low = middle + 1;
      else high = middle;
    }
    return kept.slice(low);
  }

  endOffset(partition: number): number {
    return this.#endOffsets[partition];
  }

  attach(reader: MemoryLogReader): void {
    this.#readers.add(reader);
  }

  detach(reader: MemoryLogReader): void {
    this.#readers.delete(reader);
  }

  #compactPartition(partition: number): void {
    const unread = Math.min(...[...this.#readers].map((reader) => reader.nextOffsetOf(partition)), Infinity);
    const newest = new Map(this.#kept[partition].map((record) => [record.key, record.offset]));
    this.#kept[partition] = this.#kept[partition].filter(
      (record) => record.offset >= unread || (record.value !== null && newest.get(record.key) === record.offset),
    );
    this.#compactAbove[partition] = Math.max(COMPACT_ABOVE_RECORDS, 2 * this.#kept[partition].length);
  }
}
