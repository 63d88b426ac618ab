import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { configStamp, filesStamp, isFolder } from '../../../config/files/config-files.js';

/** Interval of looks: for changes on a network or bind mount, which the system does not announce. */
const POLL_MS = 1000;

/** Editors and `cp` write in steps: a file counts when it has not changed for so long. */
const SETTLED_MS = 100;

export interface ConfigWatchOptions {
  /** A file or a folder. */
  readonly path: string;
  /** Stamp of the configuration in force, taken before it was read, followed by the stamp of `besides`. */
  readonly stamp: string;
  /** Files that the configuration in force names. */
  readonly besides?: () => readonly string[];
  /** Reads and applies it; deals with its own failures. */
  readonly reload: () => Promise<void>;
}

/**
 * Sees when the files of a configuration change. What counts is their stamps, looked at once a second: that works on every
 * file system, and over symbolic links that lead elsewhere (a ConfigMap is swapped by a link two folders away). A watch of
 * the folder only makes it look sooner. chokidar was not taken: it needs the poll for the same cases, and cannot tell
 * when a swap of several files is over.
 */
export class ConfigWatch {
  readonly #options: ConfigWatchOptions;
  #watcher: FSWatcher | null = null;
  #poll: NodeJS.Timeout | null = null;
  #soon: NodeJS.Timeout | null = null;
  /** Stamps of the files when they were last looked at, and when they were last read. */
  #seen: string;
  #read: string;
  #reading: Promise<void> | null = null;
  #closed = false;

  constructor(options: ConfigWatchOptions) {
    this.#options = options;
    this.#seen = options.stamp;
    this.#read = options.stamp;
  }

  start(): void {
    const { path } = this.#options;
    this.#poll = setInterval(() => this.#look(), POLL_MS);
    this.#poll.unref();
    try {
      this.#watcher = watch(isFolder(path) ? path : dirname(path), { persistent: false }, () => this.#lookSoon());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // No watches left, or a file system without them: the poll is enough.
    }
  }

  /** Reads it now, changed or not, behind a reading that is under way; resolves when that is over. */
  async readNow(): Promise<void> {
    await this.#reading;
    if (this.#closed || this.#reading !== null) return;
    this.#read = this.#stamp();
    this.#reading = this.#options.reload().finally(() => {
      this.#reading = null;
    });
    await this.#reading;
  }

  close(): void {
    this.#closed = true;
    this.#watcher?.close();
    if (this.#poll !== null) clearInterval(this.#poll);
    if (this.#soon !== null) clearTimeout(this.#soon);
  }

  #stamp(): string {
    const { path, besides } = this.#options;
    return configStamp(path) + filesStamp(besides?.() ?? []);
  }

  #lookSoon(): void {
    if (this.#soon !== null || this.#closed) return;
    this.#soon = setTimeout(() => {
      this.#soon = null;
      this.#look();
    }, SETTLED_MS);
    this.#soon.unref();
  }

  #look(): void {
    const stamp = this.#stamp();
    if (stamp === this.#read) {
      this.#seen = stamp;
    } else if (stamp === this.#seen) {
      if (this.#reading === null) void this.readNow();
    } else {
      this.#seen = stamp;
      this.#lookSoon();
    }
  }
}
