import { type FSWatcher, watch } from 'node:fs';
import { dirname } from 'node:path';
import { configStamp, filesStamp, isFolder } from '../../../config/files/config-files.js';

/** Milliseconds between looks, for network and bind mounts without events. */
const POLL_MS = 1000;

/** Milliseconds without change after which a file counts; editors write in steps. */
const SETTLED_MS = 100;

interface ConfigWatchOptions {
  /** Path of a file or a folder. */
  readonly path: string;
  /** Stamp of the configuration in force, then that of `besides`: taken before reading. */
  readonly stamp: string;
  /** Files that the configuration in force names. */
  readonly besides?: () => readonly string[];
  /** Reads and applies it; handles its own failures. */
  readonly reload: () => Promise<void>;
}

/**
 * Watches a configuration's files by their stamps, once a second. That works on every file system and over links (a
 * ConfigMap is swapped two folders away). A watch of the folder only speeds it up. *Rejected:* chokidar, which polls in
 * the same cases, and cannot tell the end of a swap.
 */
export class ConfigWatch {
  readonly #options: ConfigWatchOptions;
  #watcher: FSWatcher | null = null;
  #poll: NodeJS.Timeout | null = null;
  #soon: NodeJS.Timeout | null = null;
  /** Stamps at the last look, and at the last reading. */
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
      // Without watches the poll is enough.
    }
  }

  /** Reads it now, behind a reading under way; resolves when that is over. */
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
