import { setTimeout as sleep } from 'node:timers/promises';
import { invariant } from '../../core/invariant.js';
import { QuotameshError } from '../../errors.js';
import type {
  AppendRecord,
  ReadRecord,
  ReportTopic,
  ReportTopicListener,
  TopicCounters,
} from '../../ports/report-topic.js';
import { createTopicCounters } from '../topic-counters.js';
import { AppendQueue } from './append-queue.js';
import { CommitGate } from './commit-gate.js';
import { DiskRoom } from './disk-room.js';
import { encodeEntry } from './log-entry.js';
import { LogFollower } from './log-follower.js';
import { type LogLimits, LogStore } from './log-store.js';
import { mayPass, topicClosed, toTopicError } from './topic-error.js';
import { claimTopicFolder, makeTopicFolder, type TopicFolder } from './topic-folder.js';

export interface EmbeddedTopicOptions extends Partial<LogLimits> {
  /** The folder that all processes of the cluster share. */
  readonly path: string;
  readonly appendTimeoutMs: number;
  /**
   * Every commit is on the disk, and the log goes on after the machine was started anew: for what nobody says again.
   * Default: neither (see LogStore).
   */
  readonly durable?: boolean;
}

const DEFAULT_LIMITS: LogLimits = {
  fileBytesMax: 4 * 1024 ** 3,
  tailMs: 30_000,
  tailRecords: 20_000,
  tailBytes: 8 * 1024 ** 2,
  tombstoneKeepMs: 3_600_000,
};

const OPEN_RETRY_MS = 1000;
/** Σ below the 2 s that the port promises: for the transaction under way, then for the gate to close the store. */
const CLOSE_COMMIT_GRACE_MS = 1200;
const CLOSE_GATE_GRACE_MS = 400;

/** What an open topic consists of. */
interface OpenLog {
  readonly store: LogStore;
  readonly gate: CommitGate;
  readonly queue: AppendQueue;
  readonly follower: LogFollower;
}

/** A topic for several processes on one machine: a log in a folder, without any server. One partition. */
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
  #log: OpenLog | undefined;
  #closing: Promise<void> | undefined;
  #lost = false;
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
    this.#opening = this.#open();
    await this.#opening;
  }

  async append(records: readonly AppendRecord[]): Promise<void> {
    if (this.#closing || !this.#log) throw topicClosed(this.#path);
    if (this.#failure) throw this.#failure;
    if (records.length === 0) return;
    for (const { partition } of records) invariant(partition === 0, 'the only partition is 0', { partition });
    await this.#log.queue.append(records.map(encodeEntry));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #open(): Promise<void> {
    const late = setTimeout(() => {
      const reason = `another process has kept it busy for ${this.#appendTimeoutMs} ms`;
      this.#lose(new QuotameshError('TOPIC_UNREACHABLE', { topic: this.#path, reason }).message);
    }, this.#appendTimeoutMs);
    try {
      const { store, gate, folder } = await this.#openStore();
      this.#log = this.#assemble(store, gate, folder);
      await this.#log.follower.start();
    } finally {
      clearTimeout(late);
    }
    if (this.#closing) throw topicClosed(this.#path);
    this.#works();
  }

  /** Goes on trying for as long as the reason may pass by itself. */
  async #openStore(): Promise<{ store: LogStore; gate: CommitGate; folder: TopicFolder }> {
    for (;;) {
      try {
        return await this.#tryOpenStore();
      } catch (error) {
        const failure = toTopicError(this.#path, error);
        if (!mayPass(failure)) throw failure;
        if (this.#closing) throw topicClosed(this.#path);
        this.#lose(failure.message);
        await sleep(OPEN_RETRY_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
      }
    }
  }

  async #tryOpenStore(): Promise<{ store: LogStore; gate: CommitGate; folder: TopicFolder }> {
    const folder = await makeTopicFolder(this.#path, this.#durable);
    const gate = new CommitGate(folder.gateName);
    const hold = await gate.enter(this.#stopping.signal);
    if (!hold) throw topicClosed(this.#path);
    try {
      // On a full disk LMDB's table of readers would be a hole, and the first use of it a bus error.
      await new DiskRoom(folder.dataFile).check([], 0);
      await claimTopicFolder(folder);
      return { store: await LogStore.open(folder.dataFile, this.#limits, { durable: this.#durable }), gate, folder };
    } finally {
      hold.leave();
    }
  }

  #assemble(store: LogStore, gate: CommitGate, folder: TopicFolder): OpenLog {
    const follower = new LogFollower(store, this.#path, folder.dataFile, {
      onEpoch: (epoch) => this.#tell((listener) => listener.onEpoch(epoch)),
      onRecords: (records) => this.#deliver(records),
      onCaughtUp: () => this.#tell((listener) => listener.onCaughtUp()),
      onFailed: (error) => this.#fail(error),
    });
    const queue = new AppendQueue({
      topic: this.#path,
      appendTimeoutMs: this.#appendTimeoutMs,
      gate,
      commit: (entries) => store.append(entries),
      onCommitted: (records, bytes) => {
        this.counters.recordsAppended += records;
        this.counters.bytesAppended += bytes;
        this.#works();
        follower.read();
      },
      onAppendFailed: () => this.counters.appendsFailed++,
      onLost: (reason) => this.#lose(reason),
    });
    return { store, gate, queue, follower };
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    this.#log?.follower.stop();
    await this.#opening?.catch(() => {});
    const log = this.#log;
    if (!log) return;
    log.follower.stop();
    await log.queue.close(CLOSE_COMMIT_GRACE_MS);
    if (log.queue.busy) {
      exitByForceWhile(() => log.queue.busy);
      return;
    }
    // Closing takes LMDB's locks. When another process is frozen inside, the end of this process closes the file.
    const hold = await log.gate.enter(AbortSignal.timeout(CLOSE_GATE_GRACE_MS));
    if (!hold) return;
    await log.store.close();
    hold.leave();
  }

  #deliver(records: readonly ReadRecord[]): void {
    this.counters.recordsRead += records.length;
    for (const { key, value } of records) this.counters.bytesRead += Buffer.byteLength(key) + (value?.length ?? 0);
    this.#tell((listener) => listener.onRecords(records));
  }

  /** Appends would go into a file that nobody reads. */
  #fail(error: QuotameshError): void {
    this.#failure = error;
    this.#tell((listener) => listener.onFailed(error));
  }

  #lose(reason: string): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#tell((listener) => listener.onLost(reason));
  }

  #works(): void {
    if (!this.#lost) return;
    this.#lost = false;
    this.counters.reconnects++;
    this.#tell((listener) => listener.onRecovered());
  }

  /** Nobody is told anything once `close` has been called. */
  #tell(call: (listener: ReportTopicListener) => void): void {
    if (!this.#closing && this.#listener) call(this.#listener);
  }
}

/**
 * A transaction hangs in LMDB's lock, and with it a thread of libuv's pool, which `process.exit` would wait for. The
 * gate keeps this from happening among our own processes; it takes a foreign program frozen inside the data file, or
 * processes in different network namespaces. Then nothing but a signal ends the process.
 */
function exitByForceWhile(stuck: () => boolean): void {
  process.once('exit', () => {
    if (stuck()) process.kill(process.pid, 'SIGKILL');
  });
}
