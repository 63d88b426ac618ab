import { statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The most that a commit adds besides its records: the free list, and 4 KiB per page of the trees above the records.
 */
const BYTES_PER_COMMIT = 128 * 1024;
const BYTES_PER_RECORD = 12 * 1024;

/** The disk has no room for the log to grow. Room may come back without anybody touching the log. */
export class DiskFull extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DiskFull';
  }
}

/** Whether an error says that the disk is full, a disk quota is used up, or the file may not grow. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof DiskFull) return true;
  const { code, message } = error as NodeJS.ErrnoException;
  return /^(ENOSPC|EDQUOT|EFBIG)$/.test(String(code)) || /no space left|quota exceeded|file too large/i.test(message);
}

/**
 * Finds out whether the disk has room for a commit before LMDB tries it: for every commit that fails, lmdb prints a
 * line and a stack to standard error, between the node's log lines, which are JSON. The check takes 3 µs of the 300 µs
 * of a commit. Some bounds cannot be asked for (a user's disk quota, `ulimit -f`). The first commit that meets one
 * fails; from then on the room is claimed first, by writing zeros after the last page until they fit.
 */
export class DiskRoom {
  readonly #dataFile: string;
  #hasFailed = false;

  constructor(dataFile: string) {
    this.#dataFile = dataFile;
  }

  /**
   * Rejects with DiskFull, or with the error that a write of that size meets. Call it only inside the CommitGate.
   *
   * @param usedBytes length of the data file up to its last used page
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
      // A write that does not fit succeeds in part; writing the rest fails.
      for (let at = 0; at < bytes; ) at += (await file.write(zeros, at, bytes - at, from + at)).bytesWritten;
    } finally {
      await file.close();
    }
  }
}

/** Free bytes on the disk; Infinity if the file system does not tell. */
function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
