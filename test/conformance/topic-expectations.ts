import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import type { ReadRecord, ReportTopic } from '../../src/base/ports/report-topic.js';

/** 'done', or the error code of the rejection (the message where it is no error of the catalogue). Never rejects. */
export function settled(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'done',
    (error: unknown) => (error instanceof QuotameshError ? error.code : `not in the catalogue: ${String(error)}`),
  );
}

export async function within<T>(deadlineMs: number, what: string, action: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    return await Promise.race([action(), late]);
  } finally {
    clearTimeout(timer);
  }
}

export async function expectCode(promise: Promise<unknown>, code: string): Promise<void> {
  expect(await settled(promise)).toBe(code);
}

export function expectRisingOffsets(topic: ReportTopic, records: readonly ReadRecord[]): void {
  for (let partition = 0; partition < topic.partitions; partition++) {
    const offsets = records.filter((record) => record.partition === partition).map((record) => record.offset);
    expect(offsets.every((offset, i) => Number.isSafeInteger(offset) && (i === 0 || offset > offsets[i - 1]))).toBe(
      true,
    );
  }
}

/** What a newcomer reads of a compacted log is what an older reader read, with some left out. */
export function expectSubsequence(part: readonly ReadRecord[], whole: readonly ReadRecord[]): void {
  const known = new Set(whole.map(describeRecord));
  for (const record of part) expect(known).toContain(describeRecord(record));
}

export function ofPartition(records: readonly ReadRecord[], partition: number): string[] {
  return records.filter((record) => record.partition === partition).map(describeRecord);
}

export function describeRecord(record: ReadRecord): string {
  return `${record.partition}@${record.offset} ${record.appendMs} ${record.key}=${text(record.value)}`;
}

/** Stands for the exact bytes without printing 64 KiB when a test fails. */
export function fingerprint(value: Uint8Array | null): string {
  return value === null ? 'tombstone' : `${value.length} bytes ${createHash('sha256').update(value).digest('hex')}`;
}

export function text(value: Uint8Array | null): string | null {
  return value === null ? null : Buffer.from(value).toString();
}

/** Measures the longest time that the event loop was away, ms; a wait for a core that others have is no such time. */
export class LagWatch {
  readonly #timer: NodeJS.Timeout;
  #lastTickAt = ownMs();
  #worstMs = 0;

  constructor() {
    this.#timer = setInterval(() => this.#tick(), 10);
  }

  stop(): number {
    clearInterval(this.#timer);
    this.#tick();
    return this.#worstMs;
  }

  #tick(): void {
    const now = ownMs();
    this.#worstMs = Math.max(this.#worstMs, now - this.#lastTickAt - 10);
    this.#lastTickAt = now;
  }
}

/** Returns a clock that stands while the main thread is ready and waits for a core (Linux tells; elsewhere it never stands). */
function ownMs(): number {
  const queuedNs =
    process.platform === 'linux' ? Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[1]) : 0;
  return performance.now() - queuedNs / 1e6;
}
