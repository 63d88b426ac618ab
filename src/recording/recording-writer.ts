import { type FileHandle, open, rm } from 'node:fs/promises';
import { QuotameshError } from '../errors/quotamesh-error.js';
import type { ReadRecord } from '../ports/report-topic.js';
import {
  encodeEnd,
  encodeEpoch,
  encodeFrame,
  encodeHeader,
  encodeRecord,
  KIND_CAUGHT_UP,
  MAGIC,
  type RecordingHeader,
} from './recording-format.js';

/** Appends frames to a file, in order, one write at a time; whatever comes meanwhile goes into the next write. */
export class RecordingWriter {
  records = 0;
  bytes = 0;
  readonly #path: string;
  readonly #file: FileHandle;
  #pending: Buffer[] = [];
  #writing: Promise<void> | null = null;
  #hasBegun = false;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  /** Rejects with RECORDING_UNWRITABLE, also when the file exists: a recording is never written over. */
  static async create(path: string): Promise<RecordingWriter> {
    try {
      return new RecordingWriter(path, await open(path, 'wx'));
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  /** What was added before waits for the header. */
  async begin(header: RecordingHeader): Promise<void> {
    this.#pending.unshift(MAGIC, encodeFrame(encodeHeader(header)));
    this.#hasBegun = true;
    await this.flush();
  }

  epoch(epoch: string): void {
    this.#pending.push(encodeFrame(encodeEpoch(epoch)));
  }

  add(records: readonly ReadRecord[]): void {
    for (const record of records) this.#pending.push(encodeFrame(encodeRecord(record)));
    this.records += records.length;
  }

  caughtUp(): void {
    this.#pending.push(encodeFrame(Buffer.of(KIND_CAUGHT_UP)));
  }

  /** Rejects with RECORDING_UNWRITABLE: a full disk ends the recording. */
  async flush(): Promise<void> {
    if (!this.#hasBegun) return;
    while (this.#writing !== null || this.#pending.length > 0) {
      this.#writing ??= this.#write().finally(() => {
        this.#writing = null;
      });
      await this.#writing;
    }
  }

  /** Nothing is left of a recording that has not begun. */
  async end(): Promise<void> {
    try {
      if (!this.#hasBegun) return;
      this.#pending.push(encodeFrame(encodeEnd(this.records)));
      await this.flush();
      await this.#file.datasync();
    } finally {
      await this.#file.close();
      if (!this.#hasBegun) await rm(this.#path);
    }
  }

  async #write(): Promise<void> {
    const chunk = Buffer.concat(this.#pending.splice(0));
    try {
      await this.#file.appendFile(chunk);
    } catch (error) {
      throw unwritable(this.#path, error);
    }
    this.bytes += chunk.length;
  }
}

function unwritable(file: string, error: unknown): QuotameshError {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === 'EEXIST' ? 'it exists already' : code === 'ENOSPC' ? 'the disk is full' : message;
  return new QuotameshError('RECORDING_UNWRITABLE', { file, reason }, { cause: error });
}
