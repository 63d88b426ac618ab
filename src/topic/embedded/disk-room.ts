import { statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What a commit may add besides its records: pages of the trees that lead to them, 4 KiB each, and the free list. */
const BYTES_PER_COMMIT = 128 * 1024;
const BYTES_PER_RECORD = 12 * 1024;

/** The disk has no room for the log to grow; may pass by itself. */
export class DiskFull extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DiskFull';
  }
}

/** What the file system says of a write beyond the disk's end, a quota's, or the size that it allows a file. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof DiskFull) return true;
  const { code, message } = error as NodeJS.ErrnoException;
  return /^(ENOSPC|EDQUOT|EFBIG)$/.test(String(code)) || /no space left|quota exceeded|file too large/i.test(message);
}

/**
 * Whether the disk has room for a commit, asked before LMDB is: from within, lmdb prints a line and a stack to the
 * standard error for every commit that fails, beside the log lines of the node, which are JSON. Asking takes 3 µs of
 * the 300 of a commit. A bound that the file system does not tell of (a user's quota, `ulimit -f`) is met once; from
 * then on the room is claimed first, by zeros behind the last page, until they fit.
 */
export class DiskRoom {
  readonly #dataFile: string;
  #hasFailed = false;

  constructor(dataFile: string) {
    this.#dataFile = dataFile;
  }

  /**
   * Rejects with DiskFull, or with what a write of that size ends with. Only inside the CommitGate.
   *
   * @param usedBytes of the data file, up to its last page
   */
  async check(entries: readonly Buffer[], usedBytes: number): Promise<void> {
    const bytes = entries.reduce((sum, entry) => sum + entry.length + BYTES_PER_RECORD, BYTES_PER_COMMIT);
    const freeBytes = freeBytesOf(dirname(this.#dataFile));
    if (freeBytes < bytes) throw new DiskFull(`${freeBytes} bytes are free, a commit may take ${bytes}`);
    if (!this.#hasFailed) return;
    await this.#claim(usedBytes, bytes);
    this.#hasFailed = false;
  }

  commitFailed(): void {
    this.#hasFailed = true;
  }

  async #claim(from: number, bytes: number): Promise<void> {
    const file = await open(this.#dataFile, 'r+');
    try {
      const zeros = Buffer.alloc(bytes);
      // What does not fit as a whole is written in part, without an error; the rest has one.
      for (let at = 0; at < bytes; ) at += (await file.write(zeros, at, bytes - at, from + at)).bytesWritten;
    } finally {
      await file.close();
    }
  }
}

/** Infinity where the file system does not tell. */
function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
