import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import { encodeEntry } from '../../../src/topic/embedded/log-entry.js';
import { type LogLimits, LogStore } from '../../../src/topic/embedded/log-store.js';
import type { MachineClock } from '../../../src/topic/embedded/machine-clock.js';
import { runs } from '../../property/seed.js';

const TAIL_RECORDS = 7;
/** A tail by number of records; tombstones go as soon as they are behind it. */
const limits: LogLimits = {
  fileBytesMax: 256 * 1024 ** 2,
  tailMs: Infinity,
  tailRecords: TAIL_RECORDS,
  tailBytes: Infinity,
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
          expectCompacted(store.read(0, 1000, Infinity).records, whole);
        }
      } finally {
        await store.close();
      }
    });
    await fc.assert(property, runs(100));
  }, 60_000);

  it('keeps it as long as it is said, to the millisecond of the log’s time', async () => {
    let steadyMs = 0;
    const clock: MachineClock = { id: 1, steadyMs: () => steadyMs, wallMs: () => 1_000_000 };
    const store = await LogStore.open(join(folder, 'exact.mdb'), { ...limits, tombstoneKeepMs: 100 }, { clock });
    const write = (key: string, value: string | null) => store.append([entryOf({ key, value })]);
    const tombstones = () => {
      const { records } = store.read(0, 1000, Infinity);
      return records.filter(({ value }) => value === null).length;
    };
    await write('deleted', null);
    for (let at = 0; at < 3 * TAIL_RECORDS; at++) await write('other', `${at}`);
    steadyMs = 100;
    await write('other', 'last within');
    expect(tombstones()).toBe(1);
    steadyMs = 101;
    await write('other', 'beyond');
    expect(tombstones()).toBe(0);
    await store.close();
  });

  it('keeps no more tombstones behind the tail than the tail has records', async () => {
    const held = await tombstonesLeft({ tombstoneKeepMs: 60_000 }, { deleted: 3 * TAIL_RECORDS, pauseMs: 0 });
    expect(held).toBe(TAIL_RECORDS);
  });

  it('keeps its file bounded while the same keys are written for ever', async () => {
    const file = join(folder, 'bounded.mdb');
    const store = await LogStore.open(file, { ...limits, tailRecords: 1000, tailBytes: 1024 ** 2 });
    const sizes: number[] = [];
    for (let round = 0; round < 6; round++) {
      for (let commit = 0; commit < 50; commit++) {
        const entries = Array.from({ length: 50 }, (_, i) => entryOf({ key: `key-${i}`, value: 'v'.repeat(900) }));
        await store.append(entries);
      }
      sizes.push((await stat(file)).size);
    }
    console.log(`embedded topic: data file after each 2,500 records of 900 bytes: ${sizes.join(', ')} bytes`);
    // 1 MiB of tail and 50 keys; the pages of a few transactions more.
    expect(sizes.at(-1)).toBeLessThan(8 * 1024 ** 2);
    expect(sizes.at(-1)).toBeLessThanOrEqual(sizes[1] * 1.5);
    await store.close();
  }, 60_000);

  it('is not written over by who claims room after a failed commit, also without the gate', async () => {
    const file = join(folder, 'two.mdb');
    let inTransaction = () => {};
    const steadyMs = () => {
      inTransaction();
      return 0;
    };
    const clock: MachineClock = { id: 1, wallMs: () => 0, steadyMs };
    const [one, other] = [await LogStore.open(file, limits), await LogStore.open(file, limits, { clock })];
    for (let round = 0; round < 20; round++) {
      // An empty buffer fails the commit.
      await expect(one.append([Buffer.alloc(0)])).rejects.toThrow(RangeError);
      let claimed: Promise<void> | undefined;
      inTransaction = () => queueMicrotask(() => (claimed ??= one.append([entryOf({ key: 'one', value: 'x' })])));
      const entries = Array.from({ length: 100 }, (_, at) =>
        entryOf({ key: `${round}/${at}`, value: 'x'.repeat(900) }),
      );
      await other.append(entries);
      await claimed;
      expect(one.read(0, 10_000, Infinity).records).toHaveLength(100 * (round + 1) + 1);
    }
    await one.close();
    await other.close();
  });

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
});

describe('the time of the embedded log', () => {
  it('goes on while the wall clock is stepped back and forth, and begins with the wall clock', async () => {
    const machine = new StubMachine();
    const times = await timesOf(join(folder, 'clock.mdb'), machine, [
      ...[0, -3_600_000, 0, 7_200_000, 0].map((stepMs) => () => machine.pass(1000, stepMs)),
    ]);
    expect(times).toEqual([1000, 2000, 3000, 4000, 5000].map((passedMs) => WALL_MS + passedMs));
  });

  it('is one for all processes of the machine', async () => {
    const machine = new StubMachine();
    const file = join(folder, 'shared.mdb');
    await timesOf(file, machine, [() => machine.pass(1000)]);
    const [, second] = await timesOf(file, machine, [() => machine.pass(500, -3_600_000)]);
    expect(second).toBe(WALL_MS + 1500);
  });

  it('rises over a start of the machine, also when the wall clock was set back meanwhile', async () => {
    const machine = new StubMachine();
    const file = join(folder, 'boot.mdb');
    await timesOf(file, machine, [() => machine.pass(50_000)]);
    machine.start({ wallStepMs: 60_000 });
    const [before, after] = await timesOf(file, machine, [() => machine.pass(10_000)]);
    expect(after - before).toBe(70_000);
    machine.start({ wallStepMs: -3_600_000 });
    const later = await timesOf(file, machine, [() => machine.pass(10_000), () => machine.pass(1000)]);
    expect(later.slice(2).map((ms) => ms - after)).toEqual([0, 1000]);
  });

  it('rises over a start that the system does not tell', async () => {
    const machine = new StubMachine();
    const file = join(folder, 'untold.mdb');
    await timesOf(file, machine, [() => machine.pass(50_000)]);
    machine.start({ wallStepMs: 60_000, id: machine.id });
    const [before, after] = await timesOf(file, machine, [() => machine.pass(10_000)]);
    expect(after - before).toBe(70_000);
  });

  it("is the machine's own unless another is given", async () => {
    const store = await LogStore.open(join(folder, 'own.mdb'), limits);
    await store.append([entryOf({ key: 'a', value: 'x' })]);
    expect(Math.abs((store.read(0, 1, 1000).records[0]?.appendMs ?? 0) - Date.now())).toBeLessThan(60_000);
    await store.close();
  });
});

const WALL_MS = 1_800_000_000_000;

class StubMachine implements MachineClock {
  id = 1;
  #steadyMs = 123_456;
  #wallMs = WALL_MS;

  pass(ms: number, wallStepMs = 0): void {
    this.#steadyMs += ms;
    this.#wallMs += ms + wallStepMs;
  }

  start({ wallStepMs, id = this.id + 1 }: { readonly wallStepMs: number; readonly id?: number }): void {
    this.id = id;
    this.#steadyMs = 5_000;
    this.#wallMs += wallStepMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }
}

/** Append times of all records in the log, after one commit behind each of the `events`. */
async function timesOf(file: string, clock: MachineClock, events: readonly (() => void)[]): Promise<number[]> {
  const store = await LogStore.open(file, { ...limits, tailRecords: 1000 }, { clock });
  for (const happen of events) {
    happen();
    await store.append([entryOf({ key: 'a', value: 'x' })]);
  }
  const times = store.read(0, 100, Infinity).records.map(({ appendMs }) => appendMs);
  await store.close();
  return times;
}

/** After deletions, a pause, and enough other records to move the tail beyond them. */
async function tombstonesLeft(
  own: Partial<LogLimits>,
  { deleted, pauseMs }: { readonly deleted: number; readonly pauseMs: number },
): Promise<number> {
  const store = await LogStore.open(join(folder, `tombstones-${deleted}-${own.tombstoneKeepMs}.mdb`), {
    ...limits,
    ...own,
  });
  const write = (key: string, value: string | null) => store.append([entryOf({ key, value })]);
  for (let at = 0; at < deleted; at++) await write(`deleted-${at}`, null);
  await sleep(pauseMs);
  for (let at = 0; at < 5 * TAIL_RECORDS; at++) await write('other', `${at}`);
  const { records } = store.read(0, 1000, Infinity);
  await store.close();
  return records.filter(({ value }) => value === null).length;
}

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
