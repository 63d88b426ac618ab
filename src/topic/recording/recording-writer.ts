import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import {
  encodeEnd,
  encodeEpoch,
  encodeFrame,
  encodeHeader,
  encodeRecord,
  KIND_CAUGHT_UP,
  RECORDING_MAGIC,
  type RecordingHeader,
} from './recording-format.js';

/** Sink of a recording. */
interface Target {
  append(chunk: Buffer): Promise<unknown>;
  /** @param isEmpty nothing was appended */
  close(isEmpty: boolean): Promise<unknown>;
}

/** Appends frames in order: by one write at a time of all that waits. */
export class RecordingWriter {
  records = 0;
  bytes = 0;
  /** Bytes not written yet. */
  waitingBytes = 0;
  readonly #target: Target;
  #pending: Buffer[] = [];
  #writing: Promise<void> | null = null;
  #hasBegun = false;

  private constructor(target: Target) {
    this.#target = target;
  }

  /** Creates a file. Rejects with FILE_UNWRITABLE, also where it exists: recordings are never overwritten. */
  static async create(path: string): Promise<RecordingWriter> {
    try {
      return new RecordingWriter(await fileTarget(path));
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  /** Writes into a stream, waits for its reader, and ends it. */
  static into(stream: Writable): RecordingWriter {
    return new RecordingWriter({
      append: async (chunk) => {
        if (stream.write(chunk) || stream.destroyed) return;
        const round = new AbortController();
        const ends = ['drain', 'close'].map((event) => once(stream, event, round));
        await Promise.race(ends).finally(() => round.abort());
      },
      close: async () => stream.end(),
    });
  }

  async begin(header: RecordingHeader): Promise<void> {
    this.#pending.unshift(RECORDING_MAGIC, encodeFrame(encodeHeader(header)));
    this.#hasBegun = true;
    await this.flush();
  }

  epoch(epoch: string): void {
    this.#pending.push(encodeFrame(encodeEpoch(epoch)));
  }

  add(records: readonly ReadRecord[]): void {
    for (const record of records) {
      const frame = encodeFrame(encodeRecord(record));
      this.waitingBytes += frame.length;
      this.#pending.push(frame);
    }
    this.records += records.length;
  }

  caughtUp(): void {
    this.#pending.push(encodeFrame(Buffer.of(KIND_CAUGHT_UP)));
  }

  /** Writes what waits. Rejects with FILE_UNWRITABLE: a full disk ends the recording. */
  async flush(): Promise<void> {
    if (!this.#hasBegun) return;
    while (this.#writing !== null || this.#pending.length > 0) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = null;
      });
      await this.#writing;
    }
  }

  /** Ends; leaves nothing of a recording that has not begun. */
  async end(): Promise<void> {
    try {
      if (!this.#hasBegun) return;
      this.#pending.push(encodeFrame(encodeEnd(this.records)));
      await this.flush();
    } finally {
      await this.#target.close(!this.#hasBegun);
    }
  }

  async #write(): Promise<void> {
    const chunk = Buffer.concat(this.#pending.splice(0));
    await this.#target.append(chunk);
    this.waitingBytes = this.#pending.reduce((sum, { length }) => sum + length, 0);
    this.bytes += chunk.length;
  }
}

async function fileTarget(path: string): Promise<Target> {
  const file = await open(path, 'wx', 0o600);
  return {
    append: (chunk) => {
      return file.appendFile(chunk).catch((error: unknown) => {
        throw unwritable(path, error);
      });
    },
    close: async (isEmpty) => {
      try {
        if (!isEmpty) await file.datasync();
      } finally {
        await file.close();
        if (isEmpty) await rm(path);
      }
    },
  };
}

function unwritable(file: string, error: unknown): QuotameshError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'EEXIST' ? 'it exists already' : code === 'ENOSPC' ? 'the disk is full' : message;
  return new QuotameshError('FILE_UNWRITABLE', { path: file, reason }, { cause: error });
}
