import { statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Most bytes that a commit adds to its records: free list, and 4 KiB per page of the trees. */
const BYTES_PER_COMMIT = 128 * 1024;
const BYTES_PER_RECORD = 12 * 1024;

/** Marks a full disk, which may get room without a change of the log. */
export class DiskFull extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DiskFull';
  }
}

/** Tests for a full disk, a used-up disk quota, or a file that may not grow. */
export function isDiskFull(error: unknown): boolean {
  if (error instanceof DiskFull) return true;
  const { code, message } = error as NodeJS.ErrnoException;
  return /^(ENOSPC|EDQUOT|EFBIG)$/.test(String(code)) || /no space left|quota exceeded|file too large/i.test(message);
}

/**
 * Checks for disk room before LMDB commits. *Why:* lmdb prints lines and a stack to standard error for each failed
 * commit, between the node's JSON. It takes 3 µs of a commit's 300. Bounds that cannot be read (disk quota, `ulimit
 * -f`) fail one commit; from then on zeros behind the last page claim the room first.
 */
export class DiskRoom {
  readonly #dataFile: string;
  #hasFailed = false;

  constructor(dataFile: string) {
    this.#dataFile = dataFile;
  }

  /**
   * Rejects with DiskFull, or the error of such a write. Call it only inside the CommitGate. @param usedBytes length of
   * the data file up to its last used page
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
      // A write that does not fit succeeds in part; the rest fails.
      for (let at = 0; at < bytes; ) at += (await file.write(zeros, at, bytes - at, from + at)).bytesWritten;
    } finally {
      await file.close();
    }
  }
}

/** Returns free bytes of the disk; Infinity = unknown. */
function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
