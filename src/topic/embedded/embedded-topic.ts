import { setTimeout as sleep } from 'node:timers/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type {
  AppendRecord,
  ReadRecord,
  ReportTopic,
  ReportTopicListener,
  TopicCounters,
} from '../../base/ports/report-topic.js';
import { invariant } from '../../core/base/invariant.js';
import { countRead, createTopicCounters } from '../topic-counters.js';
import { encodeEntry } from './log-entry.js';
import { FILE_BYTES_MAX, type LogLimits } from './log-store.js';
import { OpenLog, type OpenLogListener } from './open-log.js';
import { mayPass, topicClosed, toTopicError } from './topic-error.js';

export interface EmbeddedTopicOptions extends Partial<LogLimits> {
  /** Folder that all processes of the cluster share. */
  readonly path: string;
  readonly appendTimeoutMs: number;
  /** True = every commit is synced: it survives a restart of the machine. Default false (LogStore). */
  readonly durable?: boolean;
}

const DEFAULT_LIMITS: LogLimits = {
  fileBytesMax: FILE_BYTES_MAX,
  tailMs: 30_000,
  tailRecords: 20_000,
  tailBytes: 8 * 1024 ** 2,
  tombstoneKeepMs: 3_600_000,
};

const OPEN_RETRY_MS = 1000;
const REPLACED = 'its data file was removed or replaced while in use; another log begins';

/** Runs a topic of one partition for processes of one machine: a log in a folder, without a server. */
export class EmbeddedTopic implements ReportTopic {
  readonly partitions = 1;
  readonly counters: TopicCounters = createTopicCounters();
  readonly #path: string;
  readonly #appendTimeoutMs: number;
  readonly #limits: LogLimits;
  readonly #durable: boolean;
  readonly #stopping = new AbortController();
  #listener: ReportTopicListener | undefined;
  #opening: Promise<void> | undefined;
  /** Undefined while none is open. */
  #log: OpenLog | undefined;
  #closing: Promise<void> | undefined;
  /** Reason; null = it works. */
  #lost: string | null = null;
  #failure: QuotameshError | undefined;

  constructor(options: EmbeddedTopicOptions) {
    const { path, appendTimeoutMs, durable = false, ...limits } = options;
    this.#durable = durable;
    this.#path = path;
    this.#appendTimeoutMs = appendTimeoutMs;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
  }

  async open(listener: ReportTopicListener): Promise<void> {
    if (this.#closing) throw topicClosed(this.#path);
    invariant(this.#opening === undefined, 'a topic is opened once');
    this.#listener = listener;
    this.#opening = this.#open(null);
    await this.#opening;
  }

  async append(records: readonly AppendRecord[]): Promise<void> {
    if (this.#closing || !this.#opening) throw topicClosed(this.#path);
    if (this.#failure) throw this.#failure;
    if (records.length === 0) return;
    for (const { partition } of records) invariant(partition === 0, 'the only partition is 0', { partition });
    if (this.#log) await this.#log.queue.append(records.map(encodeEntry));
    else throw this.#unreachable('its log is being opened');
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #open(staleLockFile: number | null): Promise<void> {
    const late = setTimeout(() => {
      this.#lose(this.#unreachable(`another process has kept it busy for ${this.#appendTimeoutMs} ms`).message);
    }, this.#appendTimeoutMs);
    try {
      this.#log = await this.#openLog(staleLockFile);
      this.#log.follower.start();
    } catch (error) {
      this.#failure = toTopicError(this.#path, error);
      throw this.#failure;
    } finally {
      clearTimeout(late);
    }
    if (this.#closing) throw topicClosed(this.#path);
    this.#works();
  }

  /** Opens the log; tries again while the failure may pass by itself. */
  async #openLog(staleLockFile: number | null): Promise<OpenLog> {
    const log = { path: this.#path, durable: this.#durable, limits: this.#limits };
    for (;;) {
      try {
        const options = { ...log, staleLockFile, signal: this.#stopping.signal };
        const opened = await OpenLog.open(options, this.#appendTimeoutMs, this.#logListener());
        if (!opened) throw topicClosed(this.#path);
        return opened;
      } catch (error) {
        const failure = toTopicError(this.#path, error);
        if (!mayPass(failure)) throw failure;
        if (this.#closing) throw topicClosed(this.#path);
        this.#lose(failure.message);
        await sleep(OPEN_RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
      }
    }
  }

  /** Opens the log that has the name now; the first node makes it. */
  async #openAnother(): Promise<void> {
    const replaced = this.#log;
    if (!replaced || this.#closing) return;
    this.#log = undefined;
    this.#lose(this.#unreachable(REPLACED).message);
    await replaced.close(() => this.#unreachable(REPLACED));
    await this.#open(replaced.lockFile);
  }

  #logListener(): OpenLogListener {
    return {
      onEpoch: (epoch) => this.#tell((listener) => listener.onEpoch(epoch)),
      onRecords: (records) => this.#deliver(records),
      onCaughtUp: () => this.#tell((listener) => listener.onCaughtUp()),
      onFailed: (error) => this.#fail(error),
      onReplaced: () => {
        this.#opening = this.#openAnother().catch((error: unknown) => {
          if (!this.#closing) this.#fail(toTopicError(this.#path, error));
        });
      },
      onCommitted: (records, bytes) => {
        this.counters.recordsAppended += records;
        this.counters.bytesAppended += bytes;
        this.#works();
      },
      onAppendFailed: () => this.counters.appendsFailed++,
      onLost: (reason) => this.#lose(reason),
    };
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    this.#log?.follower.stop();
    await this.#opening?.catch(() => {});
    await this.#log?.close(topicClosed);
  }

  #deliver(records: readonly ReadRecord[]): void {
    countRead(this.counters, records);
    this.#tell((listener) => listener.onRecords(records));
  }

  /** Ends this topic, whose appends nobody would read. */
  #fail(error: QuotameshError): void {
    this.#failure = error;
    this.#tell((listener) => listener.onFailed(error));
  }

  #lose(reason: string): void {
    if (this.#failure || this.#lost === reason) return;
    this.#lost = reason;
    this.#tell((listener) => listener.onLost(reason));
  }

  #works(): void {
    if (this.#failure || this.#lost === null) return;
    this.#lost = null;
    this.counters.reconnects++;
    this.#tell((listener) => listener.onRecovered());
  }

  #unreachable(reason: string): QuotameshError {
    return new QuotameshError('TOPIC_UNREACHABLE', { topic: this.#path, reason });
  }

  #tell(call: (listener: ReportTopicListener) => void): void {
    if (!this.#closing && this.#listener) call(this.#listener);
  }
}
