import { type FSWatcher, watch } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import { findDamage } from './find-damage.js';
import type { LogStore } from './log-store.js';
import { damagedLog, toTopicError } from './topic-error.js';

/** Milliseconds between looks in case a notification was missed; 10 µs each. */
const POLL_MS = 500;
/** Milliseconds between looks without a watch (inotify instances are scarce); 0.1 % of a core. */
const POLL_UNWATCHED_MS = 20;
/** Milliseconds to a second look: a notification may precede its commit by some µs. */
const LOOK_AGAIN_MS = 3;
/** Most records per turn of the event loop: 2 ms. */
const READ_RECORDS_MAX = 500;
const READ_BYTES_MAX = 1024 * 1024;
/** Milliseconds between checks of the file, whose removal nothing announces. */
const FILE_CHECK_MS = 2000;

export interface FollowerListener {
  /** Called once, before the first record. */
  onEpoch(epoch: string): void;
  onRecords(records: readonly ReadRecord[]): void;
  /** Called once, when all records of the start are delivered. */
  onCaughtUp(): void;
  /** Called once; nothing is read after it. */
  onFailed(error: QuotameshError): void;
  /** Called once, when the name leads to another file, or none; nothing is read after it. */
  onReplaced(): void;
}

export interface FollowedFile {
  /** Topic in error messages. */
  readonly topic: string;
  readonly dataFile: string;
  readonly inode: number;
}

/** Reads the log from its start, and all that any process appends; watches the file, and polls slowly besides. */
export class LogFollower {
  readonly #store: LogStore;
  readonly #topic: string;
  readonly #dataFile: string;
  readonly #inode: number;
  readonly #listener: FollowerListener;
  /** Reason of the end; nothing is read or written after it. */
  failure: QuotameshError | undefined;
  #nextOffset = 0;
  #caughtUp = false;
  #stopped = false;
  /** True = more records are due in the event loop's next turn. */
  #continuing = false;
  #watcher: FSWatcher | undefined;
  #poll: NodeJS.Timeout | undefined;
  #fileCheck: NodeJS.Timeout | undefined;
  #lookAgain: NodeJS.Timeout | undefined;

  constructor(store: LogStore, { topic, dataFile, inode }: FollowedFile, listener: FollowerListener) {
    this.#store = store;
    this.#topic = topic;
    this.#dataFile = dataFile;
    this.#inode = inode;
    this.#listener = listener;
  }

  /** Begins to read. The epoch has the inode, because a restored backup has the log's id. */
  start(): void {
    this.#listener.onEpoch(`${this.#store.id}/${this.#inode}`);
    this.#startWatching();
    this.#poll = setInterval(() => this.read(), this.#watcher ? POLL_MS : POLL_UNWATCHED_MS);
    this.#fileCheck = setInterval(() => void this.#checkFile(), FILE_CHECK_MS);
    setImmediate(() => this.read());
  }

  stop(): void {
    this.#stopped = true;
    this.#watcher?.close();
    clearInterval(this.#poll);
    clearInterval(this.#fileCheck);
    clearTimeout(this.#lookAgain);
  }

  /** Delivers new records, at most READ_RECORDS_MAX per turn of the event loop. Takes no lock. */
  read(): void {
    if (this.#stopped || this.#continuing) return;
    const read = this.#readSome();
    if (!read) return;
    const last = read.records.at(-1);
    if (last) {
      this.#nextOffset = last.offset + 1;
      this.#listener.onRecords(read.records);
    }
    if (read.more) {
      this.#continuing = true;
      setImmediate(() => {
        this.#continuing = false;
        this.read();
      });
    } else if (!this.#caughtUp && !this.#stopped) {
      this.#caughtUp = true;
      this.#listener.onCaughtUp();
    }
  }

  #readSome(): { records: ReadRecord[]; more: boolean } | undefined {
    try {
      return this.#store.read(this.#nextOffset, READ_RECORDS_MAX, READ_BYTES_MAX);
    } catch (error) {
      void this.#unreadable(error);
      return undefined;
    }
  }

  #startWatching(): void {
    try {
      this.#watcher = watch(this.#dataFile, (event) => {
        if (event === 'rename') void this.#checkFile();
        else this.#notified();
      });
      this.#watcher.on('error', () => {});
    } catch {
      this.#watcher = undefined;
    }
  }

  #notified(): void {
    this.read();
    if (this.#lookAgain || this.#stopped) return;
    this.#lookAgain = setTimeout(() => {
      this.#lookAgain = undefined;
      this.read();
    }, LOOK_AGAIN_MS);
  }

  async #checkFile(): Promise<void> {
    const found = await stat(this.#dataFile).catch(() => undefined);
    if (found?.ino !== this.#inode) this.replaced();
  }

  /** Notes that the file was replaced or removed; an append may notice it, too. */
  replaced(): void {
    if (this.#stopped) return;
    this.stop();
    this.#listener.onReplaced();
  }

  /** Ends the topic. Only a known damage is told as one: its remedy is to remove the file. */
  async #unreadable(error: unknown): Promise<void> {
    const failure = toTopicError(this.#topic, error);
    this.stop();
    const isDamage = failure.code === 'TOPIC_DAMAGED';
    const damage = isDamage ? (error as Error).message : await findDamage(this.#dataFile).catch(() => undefined);
    this.#end(damage === undefined ? failure : damagedLog(this.#topic, `${this.#dataFile}: ${damage}`, error));
  }

  /** Ends the topic: nothing of this file is read or written any more. */
  fail(failure: QuotameshError): void {
    if (this.#stopped) return;
    this.stop();
    this.#end(failure);
  }

  #end(failure: QuotameshError): void {
    this.failure = failure;
    this.#listener.onFailed(failure);
  }
}
