import { setTimeout as sleep } from 'node:timers/promises';
import { Backoff } from '../remote/backoff.js';
import { beginReading, noteReading, type SupervisedParts, type Supervisor } from '../remote/remote-report-topic.js';
import { errorOf, reasonOf } from '../remote/topic-unusable.js';
import { LogMemory } from './log-memory.js';
import { RedisLogReader, type RedisReaderSink } from './log-reader.js';
import { restoreLog } from './log-restorer.js';
import { LogWriter } from './log-writer.js';
import { PARTITION } from './redis-entry.js';
import { isOtherEpoch, redisUnusable } from './redis-failure.js';
import type { RedisTopicOptions } from './redis-topic-options.js';
import { type OpenedLog, TopicLink } from './topic-link.js';

/** Epoch's name for the port: constant while nodes put back what Redis forgets. */
const OWN_LOG = 'redis';

interface RedisSupervisorParts extends SupervisedParts {
  readonly options: RedisTopicOptions;
}

/** Keeps a working link; a failed one is replaced, never repaired. */
export class RedisSupervisor implements Supervisor {
  readonly partitions = 1;
  readonly #parts: RedisSupervisorParts;
  readonly #backoff = new Backoff();
  readonly #memory = new LogMemory();
  readonly #reader: RedisLogReader;
  readonly #writer: LogWriter;
  readonly #stop = new AbortController();
  #link: TopicLink | null = null;
  #isOpen = false;
  /** True = Redis does not hold the log that was read. */
  #isAnother = false;
  #toldForeign = false;

  constructor(parts: RedisSupervisorParts) {
    this.#parts = parts;
    parts.health.partitionsKnown(this.partitions);
    this.#reader = new RedisLogReader(parts.options, this.#sink());
    this.#writer = new LogWriter(parts.options, parts.outbox, () => this.#restore());
  }

  /** Runs until `stop`. Calls `onOpen` at Redis's first answer; rejects if there never is one. */
  async run(onOpen: () => void): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (this.#isAnother) this.#beginAnew();
      try {
        const link = new TopicLink(this.#parts.options);
        this.#link = link;
        await link.connect();
        const opened = await this.#writer.open(link, this.#reader.readOffset);
        if (!this.#isOpen) {
          this.#isOpen = true;
          await beginReading(onOpen, this.#parts.listener, () => OWN_LOG);
        }
        await this.#use(link, opened);
      } catch (error) {
        this.#link?.destroy(errorOf(error));
        this.#parts.faults.ended(error);
        if (!this.#stop.signal.aborted) this.#failed(error);
      }
      await sleep(this.#backoff.next(), undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  stop(reason: Error): void {
    this.#stop.abort();
    this.#link?.destroy(reason);
  }

  /** Uses a link until it, its reader or its writer ends. */
  async #use(link: TopicLink, opened: OpenedLog): Promise<void> {
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, ended.signal]);
    const reading = this.#reader.run(link, opened, () => this.#writer.epoch, signal);
    const writing = this.#writer.run(link, () => this.#reader.readOffset, signal);
    for (const work of [reading, writing]) work.catch(() => {});
    try {
      await Promise.race([reading, writing, link.ended]);
    } catch (error) {
      link.destroy(errorOf(error));
      ended.abort();
      // Both must have ended before the next link begins.
      await Promise.allSettled([reading, writing]);
      throw error;
    }
  }

  #failed(error: unknown): void {
    const { health, options } = this.#parts;
    const permanent = redisUnusable(error, options.topic);
    if (permanent && !this.#isOpen) throw permanent;
    health.disconnected([PARTITION], reasonOf(error));
    if (permanent) this.#parts.told.tell(permanent);
  }

  #sink(): RedisReaderSink {
    const { listener } = this.#parts;
    return {
      onReading: () => noteReading(this.#parts, this.#backoff, PARTITION),
      onRecords: (records) => {
        this.#memory.read(records);
        this.#writer.read(records);
        listener.onRecords(records);
      },
      onCaughtUp: () => listener.onCaughtUp(),
      onForeign: (what) => this.#foreign(what),
      onOtherEpoch: () => this.#writer.openAgain(),
    };
  }

  /** Counts each foreign entry, and logs the first one. */
  #foreign(what: string): void {
    const { counters, log, options } = this.#parts;
    counters.foreignEntries++;
    if (this.#toldForeign) return;
    this.#toldForeign = true;
    const facts = { topic: options.topic, remedy: 'Only quotamesh may write below its prefix.' };
    log('warn', `Redis holds what quotamesh has not written, ignored: ${what}; further ones are only counted`, facts);
  }

  #beginAnew(): void {
    this.#isAnother = false;
    this.#memory.clear();
    this.#reader.reset();
    const epoch = this.#writer.epoch;
    const { listener, log, options } = this.#parts;
    const facts = { topic: options.topic, epoch };
    log('warn', 'Redis holds another log than was read so far; it is read from its start', facts);
    listener.onEpoch(epoch);
  }

  /** Puts back what Redis has forgotten; where that fails, the next link does, or whoever opens another epoch. */
  #restore(): void {
    const { options, log } = this.#parts;
    const link = this.#link;
    if (link === null) return;
    const { readOffset } = this.#reader;
    const { epoch } = this.#writer;
    const restored = (isAnother: boolean) => {
      this.#writer.wholeEpoch = epoch;
      if (!isAnother || this.#stop.signal.aborted) return;
      this.#isAnother = true;
      link.destroy(new Error('it holds another log than was read so far'));
    };
    const failed = (error: unknown) => isOtherEpoch(error) || link.destroy(errorOf(error));
    void restoreLog(link, options, this.#memory, epoch, readOffset, log).then(restored, failed);
  }
}
