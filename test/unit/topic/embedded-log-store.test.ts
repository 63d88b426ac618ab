import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadRecord } from '../../../src/ports/report-topic.js';
import { encodeEntry } from '../../../src/topic/embedded/log-entry.js';
import { type LogLimits, LogStore } from '../../../src/topic/embedded/log-store.js';

const TAIL_RECORDS = 7;
/** A tail by number of records; tombstones go as soon as they are behind it. */
const limits: LogLimits = {
  fileBytesMax: 256 * 1024 ** 2,
  tailMs: Number.POSITIVE_INFINITY,
  tailRecords: TAIL_RECORDS,
  tailBytes: Number.POSITIVE_INFINITY,
  tombstoneKeepMs: -1,
};

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-log-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('the log of the embedded topic', () => {
  it('is, after any appends, what a dumb log compacted in the same way would be', async () => {
    const write = fc.record({ key: fc.integer({ min: 0, max: 5 }), tombstone: fc.boolean() });
    const commits = fc.array(fc.array(write, { maxLength: 6 }), { minLength: 1, maxLength: 25 });
    let run = 0;
    const property = fc.asyncProperty(commits, async (batches) => {
      const store = await LogStore.open(join(folder, `run-${run++}.mdb`), limits);
      try {
        const whole: Write[] = [];
        for (const batch of batches) {
          const writes = batch.map(({ key, tombstone }, i) => ({
            key: `key-${key}`,
            value: tombstone ? null : `value ${whole.length + i}`,
          }));
          await store.append(writes.map(entryOf));
          whole.push(...writes);
          expectCompacted(store.read(0, 1000, Number.POSITIVE_INFINITY).records, whole);
        }
      } finally {
        await store.close();
      }
    });
    await fc.assert(property, { numRuns: 100 });
  }, 60_000);

  it('gives a reader that lags behind the tail the newest record of every key from there on', async () => {
    const store = await LogStore.open(join(folder, 'lag.mdb'), limits);
    await store.append([entryOf({ key: 'a', value: 'first' })]);
    const position = (store.read(0, 1, 1000).records.at(-1)?.offset ?? 0) + 1;
    for (let i = 0; i < 100; i++) await store.append([entryOf({ key: `key-${i % 10}`, value: `${i}` })]);
    const { records } = store.read(position, 1000, Number.POSITIVE_INFINITY);
    expect(records.map((record) => record.offset)).toEqual([...records.map((record) => record.offset)].sort(byNumber));
    const newest = new Map(records.map((record) => [record.key, text(record)]));
    expect([...newest.values()].sort()).toEqual(Array.from({ length: 10 }, (_, i) => `${90 + i}`));
    expect(records.length).toBeLessThanOrEqual(10 + TAIL_RECORDS);
    await store.close();
  });

  it('keeps its file bounded while the same keys are written for ever', async () => {
    const file = join(folder, 'bounded.mdb');
    const store = await LogStore.open(file, { ...limits, tailRecords: 1000, tailBytes: 1024 ** 2 });
    const sizes: number[] = [];
    for (let round = 0; round < 6; round++) {
      for (let commit = 0; commit < 100; commit++) {
        const entries = Array.from({ length: 50 }, (_, i) => entryOf({ key: `key-${i}`, value: 'v'.repeat(900) }));
        await store.append(entries);
      }
      sizes.push((await stat(file)).size);
    }
    console.log(`embedded topic: data file after each 5,000 records of 900 bytes: ${sizes.join(', ')} bytes`);
    // 1 MiB of tail and 50 keys; the pages of a few transactions more.
    expect(sizes.at(-1)).toBeLessThan(8 * 1024 ** 2);
    expect(sizes.at(-1)).toBeLessThanOrEqual(sizes[1] * 1.5);
    await store.close();
  }, 60_000);

  it('hands out values that do not change when their pages are used again', async () => {
    const store = await LogStore.open(join(folder, 'stable.mdb'), limits);
    const large = Buffer.alloc(300_000, 7);
    await store.append([encodeEntry({ partition: 0, key: 'large', value: large })]);
    const [read] = store.read(0, 1, 1).records;
    for (let i = 0; i < 50; i++) {
      await store.append([encodeEntry({ partition: 0, key: 'large', value: Buffer.alloc(300_000, i + 8) })]);
    }
    expect(Buffer.compare(read.value ?? Buffer.alloc(0), large)).toBe(0);
    await store.close();
  });

  it('never lets its clock run backwards', async () => {
    const store = await LogStore.open(join(folder, 'clock.mdb'), limits);
    for (let i = 0; i < 5; i++) await store.append([entryOf({ key: 'a', value: 'x' })]);
    const times = store.read(0, 10, 1000).records.map((record) => record.appendMs);
    expect(times).toEqual([...times].sort(byNumber));
    expect(Math.abs(times[0] - Date.now())).toBeLessThan(60_000);
    await store.close();
  });
});

interface Write {
  readonly key: string;
  readonly value: string | null;
}

/** `read` is the tail of `whole`, plus the newest record of each key before it unless that is a tombstone. */
function expectCompacted(read: readonly ReadRecord[], whole: readonly Write[]): void {
  const tailStart = Math.max(0, whole.length - TAIL_RECORDS);
  const newest = new Map(whole.map(({ key }, offset) => [key, offset]));
  const expected = whole
    .map((write, offset) => ({ ...write, offset }))
    .filter(({ key, value, offset }) => offset >= tailStart || (newest.get(key) === offset && value !== null));
  expect(read.map((record) => ({ key: record.key, value: text(record), offset: record.offset }))).toEqual(expected);
}

function entryOf({ key, value }: Write): Buffer {
  return encodeEntry({ partition: 0, key, value: value === null ? null : Buffer.from(value) });
}

function text({ value }: ReadRecord): string | null {
  return value && Buffer.from(value).toString();
}

function byNumber(a: number, b: number): number {
  return a - b;
}
