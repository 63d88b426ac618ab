import { appendFile, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import { LogFollower } from '../../../src/topic/embedded/log-follower.js';
import type { LogStore } from '../../../src/topic/embedded/log-store.js';

/** A log in memory, of which the test says how far it can be seen; reads are counted. */
class StubStore {
  readonly id = 'log';
  visible = 0;
  /** Can be seen from the next look but one on. */
  coming = 0;
  reads = 0;
  failure: Error | null = null;

  read(offset: number, recordsMax: number): { records: ReadRecord[]; more: boolean } {
    this.reads++;
    if (this.failure !== null) throw this.failure;
    const count = Math.min(recordsMax, this.visible - offset);
    const records = Array.from({ length: count }, (_, at) => recordAt(offset + at));
    const more = offset + count < this.visible;
    this.visible = Math.max(this.visible, this.coming);
    return { records, more };
  }
}

function recordAt(offset: number): ReadRecord {
  return { partition: 0, offset, appendMs: 0, key: 'key', value: null };
}

let folder: string;
let dataFile: string;
let store: StubStore;
let follower: LogFollower;
let told: string[];
let offsets: number[];
let onRecords: () => void;

beforeEach(async () => {
  // Nothing is found by polling: what is delivered was notified.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-follower-'));
  dataFile = join(folder, 'log.mdb');
  await writeFile(dataFile, '');
  const { ino } = await stat(dataFile);
  store = new StubStore();
  told = [];
  offsets = [];
  onRecords = () => undefined;
  const file = { topic: folder, dataFile, inode: ino };
  follower = new LogFollower(store as unknown as LogStore, file, {
    onEpoch: () => told.push('epoch'),
    onRecords: (records) => {
      told.push('records');
      offsets.push(...records.map(({ offset }) => offset));
      onRecords();
    },
    onCaughtUp: () => told.push('caught up'),
    onFailed: ({ code }) => told.push(code),
    onReplaced: () => told.push('replaced'),
  });
});

afterEach(async () => {
  follower.stop();
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

const count = (length: number) => [...Array(length).keys()];

/** `vi.waitFor` would let the stubbed time go on, and with it the polling. */
async function until(isTrue: () => boolean): Promise<void> {
  for (const endMs = Date.now() + 10_000; !isTrue(); ) {
    expect(Date.now()).toBeLessThan(endMs);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test('everything in order, in batches of one turn each; caught up once, behind what was there at the start', async () => {
  store.visible = 1201;
  follower.start();
  expect(told).toEqual(['epoch']);
  await until(() => told.includes('caught up'));
  expect(told).toEqual(['epoch', 'records', 'records', 'records', 'caught up']);
  expect(offsets).toEqual(count(1201));
  store.visible = 1202;
  follower.read();
  expect(told.slice(5)).toEqual(['records']);
});

test('finds by notification what others append, also when it comes before it can be seen', async () => {
  follower.start();
  await until(() => told.includes('caught up'));
  for (let appended = 1; appended <= 5; appended++) {
    store.coming = appended;
    await appendFile(dataFile, 'x');
    await until(() => offsets.length === appended);
    // Nothing is left to come of this notification.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test.each<[how: string, expected: string[], end: () => void]>([
  ['stopped', [], () => follower.stop()],
  ['told that its file is another one', ['replaced'], () => follower.replaced()],
  [
    'unable to read',
    ['TOPIC_DAMAGED'],
    () => {
      store.failure = new Error('MDB_CORRUPTED');
      follower.read();
    },
  ],
])('once %s it tells nothing more, and reads no more', async (_, expected, end) => {
  follower.start();
  await until(() => told.includes('caught up'));
  told.length = 0;
  await appendFile(dataFile, 'x');
  end();
  expect(told).toEqual(expected);
  const { reads } = store;
  store.failure = null;
  store.visible = 10;
  follower.read();
  follower.replaced();
  await appendFile(dataFile, 'x');
  await vi.advanceTimersByTimeAsync(10_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told).toEqual(expected);
  expect(store.reads).toBe(reads);
});

test('who stops in the middle of a batch hears neither of the next one nor that all was read', async () => {
  store.visible = 1201;
  onRecords = () => follower.stop();
  follower.start();
  await until(() => told.includes('records'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(told).toEqual(['epoch', 'records']);
  // The last batch is no other.
  expect(offsets).toEqual(count(500));
});

test('a file that is another one, or none, is noticed within two seconds', async () => {
  follower.start();
  await until(() => told.includes('caught up'));
  await vi.advanceTimersByTimeAsync(6000);
  expect(told).not.toContain('replaced');
  await rm(dataFile);
  await writeFile(`${dataFile}-other`, '');
  await vi.advanceTimersByTimeAsync(2000);
  await until(() => told.at(-1) === 'replaced');
});
