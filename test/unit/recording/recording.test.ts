import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import { type RecordingEntry, readRecording } from '../../../src/topic/recording/read-recording.js';
import type { RecordingHeader } from '../../../src/topic/recording/recording-format.js';
import { RecordingWriter } from '../../../src/topic/recording/recording-writer.js';
import { runs } from '../../property/seed.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';

const HEADER: RecordingHeader = {
  format: 1,
  cluster: 'demo',
  version: '1',
  topic: 'embedded',
  startedAt: '2026-01-01T00:00:00.000Z',
  partitions: 2,
  timing: { heartbeatMs: 1000 },
  limiting: SETTINGS.limiting,
  groups: [GROUP],
  keys: [{ pattern: 'key:{id}', group: GROUP, overrides: [{ ...GROUP, name: 'key:vip' }] }],
};

const RECORDS: readonly ReadRecord[] = Array.from({ length: 12 }, (_, at) => ({
  partition: at % 2,
  offset: 1_900_000_000 * 2 ** 20 + at * 1000,
  appendMs: 1_700_000_000_000 + at,
  key: at % 3 === 0 ? 'schlüssel/1' : `key${at}`,
  value: at % 4 === 3 ? null : Buffer.from(`value ${at}`),
}));

describe('a recording', () => {
  let folder: string;
  let whole: Buffer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'quotamesh-recording-'));
    const { file, writer } = await written('whole.qmrec');
    await writer.end();
    whole = readFileSync(file);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function written(name: string) {
    const file = join(folder, name);
    const writer = await RecordingWriter.create(file);
    writer.epoch('erste Epoche');
    writer.add(RECORDS.slice(0, 3));
    writer.caughtUp();
    await writer.begin(HEADER);
    writer.add(RECORDS.slice(3));
    await writer.flush();
    return { file, writer };
  }

  test('is read as it was written: header with unlimited quotas, records, tombstones, the mark, the end', async () => {
    const { header, entries, end } = await read(whole);
    expect(header).toEqual(HEADER);
    expect(header.groups[0]?.quota.dispatch).toEqual([Infinity, Infinity]);
    const before = [{ epoch: 'erste Epoche' }, ...RECORDS.slice(0, 3), 'caught-up'];
    expect(entries).toEqual([...before, ...RECORDS.slice(3)]);
    expect(end).toEqual({ isClosed: true, damage: null });
  });

  test('of a killed recorder is whole, but not closed', async () => {
    const { file, writer } = await written('killed.qmrec');
    const { entries, end } = await read(readFileSync(file));
    await writer.end();
    expect(entries).toHaveLength(14);
    expect(end).toEqual({ isClosed: false, damage: null });
  });

  test('cut off anywhere gives what is before the cut, and says what is lost', async () => {
    const all = (await read(whole)).entries;
    let mostRead = 0;
    for (let length = headerBytes(whole); length < whole.length; length += 3) {
      const { entries, end } = await read(whole.subarray(0, length));
      expect(entries).toEqual(all.slice(0, entries.length));
      expect(entries.length).toBeGreaterThanOrEqual(mostRead);
      mostRead = entries.length;
      expect(end.isClosed).toBe(false);
      if (end.damage !== null) expect(end.damage.atByte + end.damage.bytesLost).toBe(length);
    }
    // The last steps are within the end's frame.
    expect(mostRead).toBe(14);
  });

  test('with one byte changed anywhere behind the header gives a part of it, never anything else', async () => {
    const all = (await read(whole)).entries;
    const places = fc.integer({ min: headerBytes(whole), max: whole.length - 1 });
    await fc.assert(
      fc.asyncProperty(places, fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const damaged = Buffer.from(whole);
        damaged[at] = damaged[at] ^ flip;
        const { entries, end } = await read(damaged);
        expect(entries).toEqual(all.slice(0, entries.length));
        expect(end.damage).not.toBeNull();
        expect(end.damage!.atByte).toBeLessThanOrEqual(at);
        expect(end.damage!.atByte + end.damage!.bytesLost).toBe(whole.length);
      }),
      runs(200),
    );
  });

  test('with fewer or more records than its end tells is not whole, and says so', async () => {
    const frames = framesOf(whole);
    const [, , second] = frames;
    const without = await read(Buffer.concat([whole.subarray(0, 8), ...frames.filter((frame) => frame !== second)]));
    expect(without.entries).toHaveLength(13);
    const twice = await read(
      Buffer.concat([whole.subarray(0, 8), ...frames.flatMap((frame) => (frame === second ? [frame, frame] : frame))]),
    );
    expect([without, twice].map(({ end }) => [end.isClosed, end.damage?.reason])).toEqual([
      [false, 'it holds 11 records, its end tells 12'],
      [false, 'it holds 13 records, its end tells 12'],
    ]);
  });

  test('into a stream leaves no listener behind, however often it waits for the reader', async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    const writer = RecordingWriter.into(stream);
    const reading = stream.toArray();
    const before = listenersOf(stream);
    await writer.begin(HEADER);
    for (const record of RECORDS) {
      writer.add([record]);
      await writer.flush();
    }
    expect(listenersOf(stream)).toBe(before);
    await writer.end();
    expect((await read(Buffer.concat(await reading))).end).toEqual({ isClosed: true, damage: null });
  });

  test.for([
    ['nothing', Buffer.alloc(0), 'it is empty'],
    ['something else', Buffer.from('TIMESTAMP,ContextTokens\n1,2\n'), 'it does not begin like a recording'],
    ['half a header', 'half', 'the file ends within a frame'],
  ] as const)('%s is refused: %s', async ([, content, reason]) => {
    const bytes = content === 'half' ? whole.subarray(0, 60) : content;
    await expect(readRecording(Readable.from([bytes]), 'x.qmrec')).rejects.toMatchObject({
      code: 'RECORDING_UNREADABLE',
      message: expect.stringContaining(reason),
    });
  });

  test('is never written over', async () => {
    const file = join(folder, 'mine');
    writeFileSync(file, 'mine');
    await expect(RecordingWriter.create(file)).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: expect.stringContaining('it exists already'),
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
  });

  test('is for its user alone; one that never began leaves no file', async () => {
    const file = join(folder, 'never');
    const writer = await RecordingWriter.create(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    writer.add(RECORDS);
    await writer.end();
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});

async function read(bytes: Buffer) {
  const chunks = Array.from({ length: Math.ceil(bytes.length / 23) }, (_, at) => bytes.subarray(23 * at, 23 * at + 23));
  const { header, entries, end } = await readRecording(Readable.from(chunks), 'x.qmrec');
  const all: RecordingEntry[] = await Readable.from(entries).toArray();
  return { header, entries: all, end };
}

/** All frames behind the magic. */
function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 8; at < bytes.length; at += frames.at(-1)?.length ?? 0) {
    frames.push(bytes.subarray(at, at + 8 + bytes.readUInt32BE(at)));
  }
  return frames;
}

function listenersOf(stream: PassThrough): number {
  return ['drain', 'close', 'error'].reduce((sum, event) => sum + stream.listenerCount(event), 0);
}

/** Magic and first frame. */
function headerBytes(bytes: Buffer): number {
  return 8 + 8 + bytes.readUInt32BE(8);
}
