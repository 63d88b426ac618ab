import { readFileSync, writeFileSync } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import type { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import type { AppendRecord } from '../../../src/base/ports/report-topic.js';
import { CommitGate } from '../../../src/topic/embedded/commit-gate.js';
import { EmbeddedTopic, type EmbeddedTopicOptions } from '../../../src/topic/embedded/embedded-topic.js';
import { findDamage } from '../../../src/topic/embedded/find-damage.js';
import { encodeEntry } from '../../../src/topic/embedded/log-entry.js';
import { LogStore } from '../../../src/topic/embedded/log-store.js';
import { openToOthers } from '../../../src/topic/embedded/private-folder.js';
import { makeTopicFolder } from '../../../src/topic/embedded/topic-folder.js';
import { RecordingListener } from '../../conformance/recording-listener.js';

const DEADLINE_MS = 10_000;
/** Bytes of LMDB's pages. */
const PAGE_BYTES = 4096;
/** Fields of its two meta pages. */
const META = { pageSizeAt: 48, lastPageAt: 144 };
/** A value with pages of its own. */
const LONG = 'x'.repeat(9000);

let path: string;
let topics: EmbeddedTopic[];

beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'quotamesh-folder-')), 'state');
  topics = [];
});

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(topics.map((topic) => topic.close()));
  await rm(join(path, '..'), { recursive: true });
});

describe('the folder of an embedded topic', () => {
  it('is created with its parents, says its format, and opens again with what was in it', async () => {
    path = join(path, 'deeper', 'state');
    const first = await open();
    await first.topic.append([record('kept', 'yes')]);
    await first.topic.close();
    const names = await readdir(path);
    expect(names.filter((name) => !/^reports-\w+\.mdb(-lock)?$/.test(name))).toEqual(['quotamesh-topic']);
    const second = await open();
    await second.listener.until('caught up', () => second.listener.caughtUpAfter.length > 0, DEADLINE_MS);
    expect(second.listener.has('kept')).toBe(true);
    path = join(path, '..', '..');
  });

  it.each([0o022, 0o077])('is private with all that is in it, whatever the mask (%i)', async (mask) => {
    const before = process.umask(mask);
    try {
      await (await open()).topic.append([record('a', 'b')]);
      expect([await modeOf('.'), await modesIn()]).toEqual([0o700, new Set([0o600])]);
    } finally {
      process.umask(before);
    }
  });

  it('is shared with a group where somebody has made it so, and so are folders in it', async () => {
    await mkdir(path);
    await chmod(path, 0o2770);
    await (await open()).topic.append([record('a', 'b')]);
    expect([await modeOf('.'), await modesIn()]).toEqual([0o2770, new Set([0o660])]);
    await makeTopicFolder(join(path, 'registry'));
    expect(await modeOf('registry')).toBe(0o2770);
  });

  it('is left as it is where others may look into it, and that is told', async () => {
    await mkdir(path);
    await chmod(path, 0o755);
    // Nobody gets through the folder above it.
    expect(await openToOthers(path)).toBe(null);
    await chmod(join(path, '..'), 0o755);
    // Where tests have their folder in a private one, nobody gets there either.
    const told = expect.stringMatching(/^mode 755: .*chmod 700, or 2770 for a group$/);
    expect(await openToOthers(path)).toEqual((await isReached(tmpdir())) ? told : null);
    await (await open()).topic.append([record('a', 'b')]);
    expect([await modeOf('.'), await modesIn()]).toEqual([0o755, new Set([0o600])]);
  });

  it('is refused when it is of another format, with what to do', async () => {
    await mkdir(path);
    await writeFile(join(path, 'quotamesh-topic'), 'quotamesh embedded topic, format 2\n');
    const error = await open().catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ code: 'TOPIC_SETTINGS' });
    expect((error as Error).message).toMatch(/format 2.*reads format 1; use another path, or remove the folder/);
  });

  it.each(['not LMDB at all', 'x'.repeat(100_000)])(
    'is refused when its data file is a foreign one',
    async (content) => {
      const { dataFile } = await makeTopicFolder(path);
      await writeFile(dataFile, content);
      await expect(open()).rejects.toMatchObject({ code: 'TOPIC_SETTINGS' });
      expect((await stat(dataFile)).size).toBe(content.length);
    },
  );

  it('opens with an empty data file, as a process that was killed on the way leaves it', async () => {
    const { dataFile } = await makeTopicFolder(path);
    await writeFile(dataFile, '');
    const { topic, listener } = await open();
    await topic.append([record('a', 'b')]);
    await listener.until('the record', () => listener.has('a'), DEADLINE_MS);
  });

  it('is refused when a file stands in its place', async () => {
    await writeFile(path, '');
    await expect(open()).rejects.toMatchObject({ code: 'TOPIC_SETTINGS' });
    await expect(open({ path: join(path, 'below') })).rejects.toMatchObject({ code: 'TOPIC_SETTINGS' });
  });

  it.each([0.9, 0.5, 0.1])('is refused by name when its data file was cut to %f of it', async (part) => {
    const writer = await open();
    for (let i = 0; i < 20; i++) {
      await writer.topic.append(Array.from({ length: 100 }, (_, k) => record(`key-${i}-${k}`, 'x'.repeat(500))));
    }
    await writer.topic.close();
    const { dataFile } = await makeTopicFolder(path);
    const cut = Math.floor((await stat(dataFile)).size * part);
    await truncate(dataFile, cut);
    await expect(open()).rejects.toMatchObject({ code: 'TOPIC_DAMAGED' });
    expect((await stat(dataFile)).size).toBe(cut);
  });

  it.each<[what: string, code: string, damage: (file: Buffer) => void]>([
    ['page size is 0', 'TOPIC_DAMAGED', (file) => file.writeUInt32LE(0, META.pageSizeAt)],
    ['page size is no power of two', 'TOPIC_DAMAGED', (file) => file.writeUInt32LE(3000, META.pageSizeAt)],
    ['other page size is 0', 'TOPIC_DAMAGED', (file) => file.writeUInt32LE(0, PAGE_BYTES + META.pageSizeAt)],
    [
      'last page is far off',
      'TOPIC_DAMAGED',
      (file) => inMetas((at) => file.writeUIntLE(2 ** 40, at + META.lastPageAt, 6)),
    ],
    ['first page is zeros', 'TOPIC_SETTINGS', (file) => file.fill(0, 0, PAGE_BYTES)],
    ['second page is zeros', 'TOPIC_DAMAGED', (file) => file.fill(0, PAGE_BYTES, 2 * PAGE_BYTES)],
    ['values seem to go on behind its end', 'TOPIC_DAMAGED', lengthenValues],
  ])('is refused, and left as it is, when its %s', async (_, code, damage) => {
    const writer = await open();
    for (let i = 0; i < 5; i++) await writer.topic.append([record(`key-${i}`, LONG)]);
    await writer.topic.close();
    const { dataFile } = await makeTopicFolder(path);
    const content = await readFile(dataFile);
    damage(content);
    await writeFile(dataFile, content);
    const topic = new EmbeddedTopic({ path, appendTimeoutMs: 5000 });
    topics.push(topic);
    const listener = new RecordingListener();
    const told = await Promise.race([
      topic.open(listener).catch(({ code: refusal }: QuotameshError) => refusal),
      listener.until('lost', () => listener.lost.length > 0, DEADLINE_MS).then(() => listener.lost[0]),
    ]);
    expect(told).toBe(code);
    expect((await readFile(dataFile)).equals(content)).toBe(true);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('is refused by name when pages of its data file are noise (%i)', async (seed) => {
    const writer = await open();
    // Some values have pages of their own.
    const textOf = (i: number) => 'x'.repeat(i % 10 === 0 ? 9000 : 500);
    for (let i = 0; i < 20; i++) {
      await writer.topic.append(Array.from({ length: 50 }, (_, k) => record(`key-${i % 15}-${k}`, textOf(k))));
    }
    await writer.topic.close();
    const { dataFile } = await makeTopicFolder(path);
    expect(await findDamage(dataFile)).toBe(undefined);
    const random = new Random(seed);
    const pages = (await stat(dataFile)).size / PAGE_BYTES;
    const file = await openFile(dataFile, 'r+');
    for (let page = 2; page < pages; page++) {
      if (random.next() >= 1 / seed) continue;
      const noise = Buffer.from(Array.from({ length: PAGE_BYTES }, () => Math.floor(256 * random.next())));
      await file.write(noise, 0, PAGE_BYTES, page * PAGE_BYTES);
    }
    await file.close();
    const refusal = await open().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'TOPIC_DAMAGED' });
    expect((refusal as Error).message).toMatch(/state is damaged: .*\.mdb: page \d+ is not what the log needs there$/);
  });

  it('ends once, by name, when its data file is overwritten while in use: no full disk, nothing tried again', async () => {
    const { topic, listener } = await open();
    for (let i = 0; i < 20; i++) {
      await topic.append(Array.from({ length: 50 }, (_, k) => record(`key-${i % 15}-${k}`, 'x'.repeat(500))));
    }
    await listener.until('caught up', () => listener.caughtUpAfter.length > 0, DEADLINE_MS);
    // An append finds it first.
    vi.spyOn(LogStore.prototype, 'read').mockReturnValue({ records: [], more: false });
    const { dataFile } = await makeTopicFolder(path);
    zeroPages(dataFile);
    const append = (many: number) =>
      topic.append(Array.from({ length: many }, () => record('a', 'b'))).catch((error: unknown) => error);
    // Each takes a commit of its own: the others wait when the first finds it.
    const refusals = await Promise.all([append(2000), append(2000), append(2000)]);
    refusals.push(await append(1));
    expect(refusals).toMatchObject(refusals.map(() => ({ code: 'TOPIC_DAMAGED' })));
    expect(listener.failures).toMatchObject([{ code: 'TOPIC_DAMAGED' }]);
    // Nothing hides its remedy afterwards.
    expect([listener.lost, listener.recovered]).toEqual([[], 0]);
  });

  it.each([
    ['sound', 'TOPIC_UNREACHABLE', 'MDB_READERS_FULL'],
    ['damaged', 'TOPIC_DAMAGED', 'is not what the log needs there'],
  ])('is called damaged after a failed read only if it is (%s)', async (state, code, says) => {
    const { topic, listener } = await open();
    await topic.append([record('a', 'b')]);
    await listener.until('the record', () => listener.has('a'), DEADLINE_MS);
    const { dataFile } = await makeTopicFolder(path);
    // In one turn: no real read comes in between.
    if (state === 'damaged') zeroPages(dataFile);
    vi.spyOn(LogStore.prototype, 'read').mockImplementation(() => {
      throw new Error('MDB_READERS_FULL: Environment maxreaders limit reached');
    });
    await listener.until('failed', () => listener.failures.length > 0, DEADLINE_MS);
    expect(listener.failures).toMatchObject([{ code, message: expect.stringContaining(says) }]);
  });

  it('loses the logs of earlier boots once they are old', async () => {
    await mkdir(path);
    const [old, young] = [join(path, 'reports-0000abcd.mdb'), join(path, 'reports-1111abcd.mdb')];
    for (const file of [old, `${old}-lock`, young]) await writeFile(file, 'left over');
    const yesterday = new Date(Date.now() - 86_400_000);
    for (const file of [old, `${old}-lock`]) await utimes(file, yesterday, yesterday);
    await open();
    const names = await readdir(path);
    expect(names).not.toContain('reports-0000abcd.mdb');
    expect(names).not.toContain('reports-0000abcd.mdb-lock');
    expect(names).toContain('reports-1111abcd.mdb');
  });

  it('keeps its own log and what is not a log, however long nobody has written', async () => {
    const first = await open();
    await first.topic.append([record('kept', 'yes')]);
    const { dataFile } = await makeTopicFolder(path);
    const foreign = ['notes.txt', 'log.mdb', 'reports-0000abcd.mdb.copy', 'old-reports-0000abcd.mdb'].map((name) =>
      join(path, name),
    );
    for (const file of foreign) await writeFile(file, 'somebody else wrote this');
    const yesterday = new Date(Date.now() - 86_400_000);
    for (const file of [dataFile, `${dataFile}-lock`, ...foreign]) await utimes(file, yesterday, yesterday);
    const before = await readdir(path);
    const second = await open();
    expect((await readdir(path)).sort()).toEqual(before.sort());
    await second.listener.until('caught up', () => second.listener.caughtUpAfter.length > 0, DEADLINE_MS);
    expect(second.listener.has('kept')).toBe(true);
  });

  it('begins another log for all who have it open when it is removed while in use', async () => {
    const opened = [await open(), await open()];
    await opened[0]?.topic.append([record('a', 'b')]);
    for (const { listener } of opened) await listener.until('the record', () => listener.has('a'), DEADLINE_MS);
    await rm(path, { recursive: true });
    // Nothing is acknowledged that would be in a file which nobody finds.
    await expect(opened[1]?.topic.append([record('a', 'c')])).rejects.toMatchObject({ code: 'TOPIC_UNREACHABLE' });
    for (const { listener } of opened) {
      await listener.until('another log', () => listener.epochs.length === 2, DEADLINE_MS);
      await listener.until('recovered', () => listener.recovered === 1, DEADLINE_MS);
      expect(listener.records).toEqual([]);
      expect(listener.failures).toEqual([]);
    }
    expect(opened[0]?.listener.epochs).toEqual(opened[1]?.listener.epochs);
    await opened[1]?.topic.append([record('a', 'd')]);
    for (const { listener } of opened) await listener.until('the new one', () => listener.has('a'), DEADLINE_MS);
  });

  it('fails for all who have it open when a file takes its place, and says so to who appends', async () => {
    const { topic, listener } = await open();
    await topic.append([record('a', 'b')]);
    await rm(path, { recursive: true });
    await writeFile(path, 'a file');
    await listener.until('failed', () => listener.failures.length > 0, DEADLINE_MS);
    expect(listener.failures).toMatchObject([{ code: 'TOPIC_SETTINGS' }]);
    await expect(topic.append([record('a', 'c')])).rejects.toMatchObject({ code: 'TOPIC_SETTINGS' });
  });

  it('goes on trying while its folder cannot be made, and ends at once by close', async () => {
    await symlink(join(path, '..', 'not-mounted', 'yet'), path);
    const topic = new EmbeddedTopic({ path, appendTimeoutMs: 5000 });
    const listener = new RecordingListener();
    const opening = topic.open(listener).catch(({ code }: QuotameshError) => code);
    await listener.until('told', () => listener.lost.length > 0, DEADLINE_MS);
    const closing = topic.close();
    expect(await opening).toBe('TOPIC_CLOSED');
    await closing;
    expect(listener.lost).toHaveLength(1);
  });

  it('refuses to open as soon as it is closed, however far it had come, and leaves it to others', async () => {
    const outcomes: string[] = [];
    // Closed after ever more turns of the event loop, until the open was done before.
    for (let turns = 0; !outcomes.includes('open'); turns += 1 + Math.floor(turns / 8)) {
      const topic = new EmbeddedTopic({ path, appendTimeoutMs: 5000 });
      const listener = new RecordingListener();
      let isOpen = false;
      const opening = topic.open(listener).then(
        () => {
          isOpen = true;
          return 'open';
        },
        ({ code }: QuotameshError) => code,
      );
      for (let turn = 0; turn < turns && !isOpen; turn++) await new Promise((resolve) => setImmediate(resolve));
      const wasOpen = isOpen;
      await topic.close();
      const { calls } = listener;
      outcomes.push(await opening);
      expect(outcomes.at(-1)).toBe(wasOpen ? 'open' : 'TOPIC_CLOSED');
      expect(listener.calls).toBe(calls);
    }
    expect(outcomes).toContain('TOPIC_CLOSED');
    await expect(open()).resolves.toBeDefined();
  });

  it('is another log when a backup was moved into its place, from its very start', async () => {
    const { topic, listener } = await open({ durable: true });
    for (let i = 0; i < 5; i++) await topic.append([record(`early-${i}`, 'kept')]);
    const { dataFile } = await makeTopicFolder(path, true);
    await copyFile(dataFile, `${dataFile}.backup`);
    for (let i = 0; i < 9; i++) await topic.append([record(`late-${i}`, 'lost')]);
    await listener.until('all', () => listener.records.length === 14, DEADLINE_MS);
    await rename(`${dataFile}.backup`, dataFile);
    await listener.until('the backup', () => listener.epochs.length === 2 && listener.has('early-4'), DEADLINE_MS);
    expect(listener.records.map(({ key }) => key)).toEqual([0, 1, 2, 3, 4].map((i) => `early-${i}`));
    await topic.append([record('after', 'all')]);
    await listener.until('what came after', () => listener.has('after'), DEADLINE_MS);
    expect(listener.records.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

describe('an append while the topic opens for the first time', () => {
  it('is told so, before and after that is late, and why opening failed for good', async () => {
    const hold = await new CommitGate((await makeTopicFolder(path)).gateName).enter(AbortSignal.timeout(5000));
    const topic = new EmbeddedTopic({ path, appendTimeoutMs: 100 });
    topics.push(topic);
    const listener = new RecordingListener();
    const opening = topic.open(listener);
    const told = async () => topic.append([record('a', 'b')]).catch(({ message }: QuotameshError) => message);
    const early = await told();
    await listener.until('late', () => listener.lost.length > 0, DEADLINE_MS);
    const both = [early, await told()];
    hold?.leave();
    await opening;
    expect(both).toEqual(Array(2).fill(expect.stringContaining('its log is being opened')));
    expect(await told()).toBeUndefined();
    await writeFile(join(path, 'a file'), '');
    const failed = new EmbeddedTopic({ path: join(path, 'a file'), appendTimeoutMs: 100 });
    await expect(failed.open(new RecordingListener())).rejects.toMatchObject({ code: 'TOPIC_SETTINGS' });
    await expect(failed.append([record('a', 'b')])).rejects.toMatchObject({ code: 'TOPIC_SETTINGS' });
  });
});

describe('the bounds of an embedded topic', () => {
  it('says so when its file is full, and goes on reading', async () => {
    const { topic, listener } = await open({ fileBytesMax: 16 * 1024 ** 2 });
    const fill = async () => {
      for (let i = 0; i < 1000; i++) {
        await topic.append(Array.from({ length: 100 }, (_, k) => record(`key-${i}-${k}`, 'x'.repeat(2000))));
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: 'TOPIC_FULL' });
    expect(listener.lost).toHaveLength(1);
    // A walk through the trees holds every process back: one is enough.
    const { dataFile } = await makeTopicFolder(path);
    const file = await openFile(dataFile);
    const pageRead = vi.spyOn(Object.getPrototypeOf(file), 'read');
    await file.close();
    for (let i = 0; i < 5; i++) {
      await expect(topic.append([record('a', 'b')])).rejects.toMatchObject({ code: 'TOPIC_FULL' });
    }
    expect(pageRead).not.toHaveBeenCalled();
    expect((await stat(dataFile)).size).toBeLessThanOrEqual(16 * 1024 ** 2);
    const other = await open({ fileBytesMax: 16 * 1024 ** 2 });
    await other.listener.until('caught up', () => other.listener.caughtUpAfter.length > 0, DEADLINE_MS);
    expect(other.listener.records.length).toBe(topic.counters.recordsAppended);
  });

  it('refuses appends at once when too many are waiting', async () => {
    const { topic } = await open({ appendTimeoutMs: 300 });
    const hold = await new CommitGate((await makeTopicFolder(path)).gateName).enter(AbortSignal.timeout(5000));
    const many = Array.from({ length: 10_000 }, (_, i) => record(`key-${i}`, 'x'));
    const outcomes = [topic.append(many), topic.append(many), topic.append([record('one', 'more')])].map((append) =>
      append.then(
        () => 'done',
        (error: QuotameshError) => error.code,
      ),
    );
    expect(await Promise.race([outcomes[2], Promise.all(outcomes)])).toBe('TOPIC_UNREACHABLE');
    expect(await Promise.all(outcomes)).toEqual(['APPEND_TIMED_OUT', 'APPEND_TIMED_OUT', 'TOPIC_UNREACHABLE']);
    hold?.leave();
    await expect(topic.append([record('after', 'all')])).resolves.toBeUndefined();
  });
});

/** Writes zeros over all pages but the first two. */
function zeroPages(dataFile: string): void {
  const content = readFileSync(dataFile).fill(0, 2 * PAGE_BYTES);
  writeFileSync(dataFile, content, { flag: 'r+' });
}

function inMetas(change: (at: number) => void): void {
  for (const at of [0, PAGE_BYTES]) change(at);
}

/** Writes a length beyond the file into every node with a LONG value. */
function lengthenValues(file: Buffer): void {
  const length = encodeEntry(record('key-0', LONG)).length;
  const lengthAt = Buffer.alloc(4);
  lengthAt.writeUInt32LE(length);
  for (let at = file.indexOf(lengthAt); at >= 0; at = file.indexOf(lengthAt, at + 1)) file.writeUInt32LE(2 ** 30, at);
}

interface Opened {
  readonly topic: EmbeddedTopic;
  readonly listener: RecordingListener;
}

async function open(options: Partial<EmbeddedTopicOptions> = {}): Promise<Opened> {
  const topic = new EmbeddedTopic({ path, appendTimeoutMs: 5000, ...options });
  topics.push(topic);
  const listener = new RecordingListener();
  await topic.open(listener);
  return { topic, listener };
}

function record(key: string, value: string): AppendRecord {
  return { partition: 0, key, value: Buffer.from(value) };
}

async function isReached(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & 0o001) === 0) return false;
  return folder === dirname(folder) || (await isReached(dirname(folder)));
}

async function modeOf(name: string): Promise<number> {
  return (await stat(join(path, name))).mode & 0o7777;
}

async function modesIn(): Promise<Set<number>> {
  return new Set(await Promise.all((await readdir(path)).map(modeOf)));
}
