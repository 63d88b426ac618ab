import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import { MalformedAnswer } from '../answers/malformed-answer.js';
import { ENTRIES_PER_ANSWER } from '../answers/redis-answer-bounds.js';
import { FetchPace } from '../remote/fetch-pace.js';
import { readNewest, readStreamEntry } from './redis-entry.js';
import type { RedisTopicOptions } from './redis-topic-options.js';
import { EPOCH_FIELD, OFFSET_MAX } from './scripts.js';
import type { OpenedLog, TopicLink } from './topic-link.js';

/** Milliseconds that a read waits for news; then an emptied log is noticed. */
const BLOCK_MS = 250;
/** Milliseconds between reads that bring nothing without waiting: a core would spin. */
const EMPTY_READ_MS = 10;
/** Most bytes of one scan: an endless one would fill the memory, or bring nothing for ever. */
const SCAN_BYTES_MAX = 512 * 1024 * 1024;
/** Bytes that a page counts besides its records. */
const PAGE_BYTES = 1024;
const SEQUENCE_MAX = '18446744073709551615';

export interface RedisReaderSink {
  /** Called when Redis answers. */
  onReading(): void;
  onRecords(records: readonly ReadRecord[]): void;
  onCaughtUp(): void;
  onForeign(what: string): void;
  /** Called when the log is another than `epoch`: emptied, or begun again elsewhere. */
  onOtherEpoch(): void;
}

type Entries = readonly (readonly [Buffer, readonly Buffer[]])[];

/**
 * Reads the log in order: the newest record of each key no longer in the stream, then the stream; both again if the
 * stream has lost its offset.
 */
export class RedisLogReader {
  /** Offset that is read. */
  readOffset = 0;
  readonly #options: RedisTopicOptions;
  readonly #sink: RedisReaderSink;
  readonly #pace: FetchPace;
  #caughtUp = false;
  /** Next position, and its epoch; foreign entries beyond all offsets move it, too. */
  #from = { epoch: '', id: '' };

  constructor(options: RedisTopicOptions, sink: RedisReaderSink) {
    this.#options = options;
    this.#sink = sink;
    this.#pace = new FetchPace(options.readIntervalMs);
  }

  /** Begins another log at its start, between two runs. */
  reset(): void {
    this.readOffset = 0;
    this.#caughtUp = false;
    this.#from = { epoch: '', id: '' };
  }

  /** Runs until the link ends or `stopped`. `epoch` returns the known one in force. */
  async run(link: TopicLink, opened: OpenedLog, epoch: () => string, stopped: AbortSignal): Promise<void> {
    const { readIntervalMs, keys } = this.#options;
    if (this.readOffset === 0) await this.#begin(link, opened, stopped);
    while (!stopped.aborted) {
      const isAtEnd = this.#caughtUp;
      const known = epoch();
      const askedMs = performance.now();
      const entries = await this.#next(link, known, isAtEnd ? BLOCK_MS : 0);
      this.#sink.onReading();
      await this.#accept(link, entries);
      if (!isAtEnd && (entries.length === 0 || this.readOffset >= opened.offset)) this.#becomeCaughtUp();
      const found = await link.read('HGET', [keys.newest, EPOCH_FIELD]);
      if (String(found) !== known && known === epoch()) this.#sink.onOtherEpoch();
      const isNews = entries.length > 0 && entries.length < ENTRIES_PER_ANSWER;
      const waitMs = isAtEnd && isNews && readIntervalMs > 0 ? this.#pace.next(performance.now()) : 0;
      const isTooSoon = isAtEnd && entries.length === 0 && performance.now() - askedMs < EMPTY_READ_MS;
      const pauseMs = isTooSoon ? EMPTY_READ_MS : waitMs;
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: stopped }).catch(() => {});
    }
  }

  /** Waits before a young log's first read: nodes may be putting back what it lacks. */
  async #begin(link: TopicLink, { ageMs, offset }: OpenedLog, stopped: AbortSignal): Promise<void> {
    const { settleMs } = this.#options;
    const leftMs = settleMs - Math.max(0, ageMs);
    if (leftMs > 0) await sleep(leftMs, undefined, { signal: stopped }).catch(() => {});
    const first = (await this.#first(link)) ?? offset + 1;
    await this.#readNewestBelow(link, first);
    this.readOffset = Math.max(this.readOffset, first - 1);
  }

  #becomeCaughtUp(): void {
    this.#caughtUp = true;
    this.#sink.onCaughtUp();
  }

  async #next(link: TopicLink, epoch: string, blockMs: number): Promise<Entries> {
    const block = blockMs > 0 ? ['BLOCK', blockMs] : [];
    const { log } = this.#options.keys;
    if (this.#from.epoch !== epoch) this.#from = { epoch, id: `${this.readOffset}-${SEQUENCE_MAX}` };
    const from = this.#from.id;
    const answer = await link.read('XREAD', ['COUNT', ENTRIES_PER_ANSWER, ...block, 'STREAMS', log, from], blockMs);
    return (answer as readonly [readonly [Buffer, Entries]] | null)?.[0][1] ?? [];
  }

  async #accept(link: TopicLink, entries: Entries): Promise<void> {
    const [head] = entries;
    if (head === undefined) return;
    const firstRead = offsetOf(head);
    if (firstRead > this.readOffset + 1 && this.readOffset > 0) await this.#bridge(link, firstRead);
    const records: ReadRecord[] = [];
    for (const entry of entries) {
      const record = readStreamEntry(entry[0], entry[1]);
      if (record === null) this.#sink.onForeign(`entry ${entry[0]} of ${this.#options.keys.log}`);
      else records.push(record);
      if (offsetOf(entry) < OFFSET_MAX) this.readOffset = Math.max(this.readOffset, offsetOf(entry));
    }
    this.#from = { ...this.#from, id: String(entries.at(-1)?.[0]) };
    if (records.length > 0) this.#sink.onRecords(records);
  }

  /** Bridges missing offsets: nobody's (a new epoch), or trimmed away unread. */
  async #bridge(link: TopicLink, firstRead: number): Promise<void> {
    const first = await this.#first(link);
    if (first !== null && first <= this.readOffset) return;
    await this.#readNewestBelow(link, firstRead);
  }

  async #first(link: TopicLink): Promise<number | null> {
    const [entry] = (await link.read('XRANGE', [this.#options.keys.log, '-', '+', 'COUNT', 1])) as Entries;
    return entry === undefined ? null : offsetOf(entry);
  }

  async #readNewestBelow(link: TopicLink, below: number): Promise<void> {
    const found = await scanNewest(link, this.#options, (what) => this.#sink.onForeign(what));
    const records = [...found.values()].filter(({ offset }) => offset > this.readOffset && offset < below);
    records.sort((left, right) => left.offset - right.offset);
    const last = records.at(-1);
    if (last === undefined) return;
    this.#sink.onRecords(records);
    this.readOffset = last.offset;
  }
}

/** Scans the newest record of each key; later writes are in the stream. */
export async function scanNewest(...asked: Parameters<typeof newestPages>): Promise<Map<string, ReadRecord>> {
  const found = new Map<string, ReadRecord>();
  for await (const page of newestPages(...asked)) for (const record of page) found.set(record.key, record);
  return found;
}

/** Yields the newest records; a key may come again. */
export async function* newestPages(
  link: TopicLink,
  { keys }: RedisTopicOptions,
  onForeign: (what: string) => void,
): AsyncGenerator<ReadRecord[]> {
  let cursor = '0';
  let bytes = 0;
  do {
    const answer = await link.read('HSCAN', [keys.newest, cursor, 'COUNT', ENTRIES_PER_ANSWER]);
    const [next, fields] = answer as readonly [Buffer, readonly Buffer[]];
    const page: ReadRecord[] = [];
    bytes += PAGE_BYTES;
    for (let i = 0; i + 1 < fields.length; i += 2) {
      if (String(fields[i]) === EPOCH_FIELD) continue;
      bytes += fields[i].length + fields[i + 1].length;
      const record = readNewest(fields[i], fields[i + 1]);
      if (record === null) onForeign(`field ${fields[i].toString('utf8').slice(0, 60)} of ${keys.newest}`);
      else page.push(record);
    }
    if (bytes > SCAN_BYTES_MAX) throw new MalformedAnswer('too-long', `a scan of more than ${SCAN_BYTES_MAX} bytes`);
    yield page;
    cursor = String(next);
  } while (cursor !== '0');
}

function offsetOf([id]: Entries[number]): number {
  return Number(id.toString('latin1').split('-', 1)[0]);
}
