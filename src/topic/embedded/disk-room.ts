import { closeSync, openSync, statfsSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Most bytes that a commit adds to its records: free list, and 4 KiB per page of the trees. */
const BYTES_PER_COMMIT = 128 * 1024;
const BYTES_PER_RECORD = 12 * 1024;

/** Marks a full disk. It may get room without a change of the log. */
export class DiskFull extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'DiskFull';
  }
}

/** Tests for a full disk, a used-up quota, or a full file. */
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

  /** Throws DiskFull. */
  check(entries: readonly Buffer[]): void {
    const bytes = bytesOf(entries);
    const freeBytes = freeBytesOf(dirname(this.#dataFile));
    if (freeBytes < bytes) throw new DiskFull(`${freeBytes} bytes are free, a commit may take ${bytes}`);
  }

  /**
   * Claims room after a failed commit, or throws that write's error. Call it only inside LMDB's lock: the zeros would
   * hide what others commit. @param usedBytes length of the data file up to its last used page
   */
  claim(entries: readonly Buffer[], usedBytes: () => number): void {
    if (!this.#hasFailed) return;
    this.#writeZeros(usedBytes(), bytesOf(entries));
    this.#hasFailed = false;
  }

  commitFailed(): void {
    this.#hasFailed = true;
  }

  #writeZeros(from: number, bytes: number): void {
    const file = openSync(this.#dataFile, 'r+');
    try {
      const zeros = Buffer.alloc(bytes);
      // A write that does not fit succeeds in part; the rest fails.
      for (let at = 0; at < bytes; ) at += writeSync(file, zeros, at, bytes - at, from + at);
    } finally {
      closeSync(file);
    }
  }
}

function bytesOf(entries: readonly Buffer[]): number {
  return entries.reduce((sum, entry) => sum + entry.length + BYTES_PER_RECORD, BYTES_PER_COMMIT);
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
