import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_RECORD_BYTES } from '../../src/topic/codec/envelope.js';
import { SIGNATURE_BYTES } from '../../src/topic/signed/record-signature.js';
import { epochTests } from './epoch-tests.js';
import { outageTests } from './outage-tests.js';
import { RecordingListener } from './recording-listener.js';
import {
  describeRecord,
  expectCode,
  expectRisingOffsets,
  expectSubsequence,
  fingerprint,
  ofPartition,
  settled,
  text,
  within,
} from './topic-expectations.js';
import { type ConformanceOptions, type MakeWorld, Scene } from './topic-scene.js';

export type { ConformanceOptions, TopicWorld } from './topic-scene.js';

/** The guarantees of src/base/ports/report-topic.ts, by their numbers, run against one adapter. A new world for every test. */
export function reportTopicConformance(name: string, makeWorld: MakeWorld, options: ConformanceOptions): void {
  describe(`report topic: ${name}`, () => {
    const scene = new Scene(makeWorld, options);
    afterEach(() => scene.end());
    const guarantee = (what: string, tests: (scene: Scene) => void, appendTimeoutMs?: number) => {
      describe(what, () => {
        beforeEach(() => scene.begin(appendTimeoutMs));
        tests(scene);
      });
    };
    guarantee('1 same records in the same order for everybody', orderTests);
    guarantee('2 compaction keeps the newest record of each key', compactionTests);
    guarantee('3, 4, 5 one clock, acknowledged means in the log, offsets tell repetitions', appendTests);
    guarantee('6 lifecycle', lifecycleTests);
    guarantee('7 outages are bounded waits', outageTests, options.appendTimeoutMs);
    guarantee('8 another log is another epoch', epochTests);
  });
}

function orderTests(scene: Scene): void {
  it('delivers what two instances append concurrently in one order to all, newcomer included', async () => {
    const [first, second] = [await scene.open(), await scene.open()];
    const rounds = Array.from({ length: 40 }, (_, round) => round);
    await Promise.all(
      [first, second].flatMap(({ topic }, writer) =>
        rounds.map((round) => topic.append([scene.record(`writer-${writer}/${round}`, `${writer}:${round}`)])),
      ),
    );
    const newcomer = await scene.open();
    for (const reader of [first, second, newcomer]) await scene.untilRead(reader, 80);
    const expected = first.listener.records.map(describeRecord).sort();
    expect(new Set(expected).size).toBe(80);
    for (const { topic, listener } of [first, second, newcomer]) {
      expectRisingOffsets(topic, listener.records);
      for (let partition = 0; partition < topic.partitions; partition++) {
        expect(ofPartition(listener.records, partition)).toEqual(ofPartition(first.listener.records, partition));
      }
    }
  });

  it('keeps the order of the records of one append, 1,000 at once', async () => {
    const writer = await scene.open();
    const records = Array.from({ length: 1000 }, (_, i) => scene.record(`key-${i % 50}`, `value ${i}`, 0));
    await writer.topic.append(records);
    await scene.untilRead(writer, 1000);
    expect(writer.listener.records.map((record) => text(record.value))).toEqual(records.map((r) => text(r.value)));
  });

  it('keeps the order of appends that one instance starts without awaiting them', async () => {
    const [writer, reader] = [await scene.open(), await scene.open()];
    const values = Array.from({ length: 50 }, (_, i) => `value ${i}`);
    await Promise.all(values.map((value) => writer.topic.append([scene.record('key', value, 0)])));
    await scene.untilRead(reader, 50);
    // A log that pipelines appends may reorder them after a retry, but not in a healthy one.
    expect(reader.listener.records.map((record) => text(record.value))).toEqual(values);
  });

  it('has 1 to 16 partitions and delivers each record on the one it was appended to', async () => {
    const writer = await scene.open();
    expect(writer.topic.partitions).toBeGreaterThanOrEqual(1);
    expect(writer.topic.partitions).toBeLessThanOrEqual(16);
    const records = Array.from({ length: writer.topic.partitions }, (_, p) => scene.record(`on-${p}`, 'here', p));
    await writer.topic.append(records);
    await scene.untilRead(writer, records.length);
    for (const record of writer.listener.records) expect(record.key).toBe(`on-${record.partition}`);
  });
}

function compactionTests(scene: Scene): void {
  it('hands a newcomer the newest record of every key, in the order of the log', async ({ skip }) => {
    const compact = scene.world.compact?.bind(scene.world) ?? skip('this adapter cannot compact on demand');
    const writer = await scene.open();
    for (let round = 0; round < 20; round++) {
      await writer.topic.append(Array.from({ length: 25 }, (_, i) => scene.record(`key-${i}`, `${i} round ${round}`)));
    }
    await writer.topic.append([scene.record('key-3', null), scene.record('key-4', null)]);
    await scene.untilRead(writer, 502);
    await compact();
    const newcomer = await scene.open();
    await scene.untilCaughtUp(newcomer);
    for (let i = 0; i < 25; i++) {
      const read = newcomer.listener.newest.get(`key-${i}`);
      // A tombstone may itself be compacted away; an older value must never come back.
      if (i === 3 || i === 4) expect(read ?? null).toBeNull();
      else expect(text(read ?? null)).toBe(`${i} round 19`);
    }
    expectRisingOffsets(newcomer.topic, newcomer.listener.records);
    expectSubsequence(newcomer.listener.records, writer.listener.records);
    expect(newcomer.listener.records.length).toBeLessThan(502);
  });

  it('goes on after compaction: running readers miss nothing, offsets never restart', async ({ skip }) => {
    const compact = scene.world.compact?.bind(scene.world) ?? skip('this adapter cannot compact on demand');
    const [writer, reader] = [await scene.open(), await scene.open()];
    for (let i = 0; i < 30; i++) await writer.topic.append([scene.record('key', `before ${i}`, 0)]);
    await scene.untilRead(reader, 30);
    await compact();
    for (let i = 0; i < 30; i++) await writer.topic.append([scene.record('key', `after ${i}`, 0)]);
    await scene.untilRead(reader, 60);
    expectRisingOffsets(reader.topic, reader.listener.records);
    expect(reader.listener.records.slice(30).map((r) => text(r.value))).toEqual(
      Array.from({ length: 30 }, (_, i) => `after ${i}`),
    );
  });

  it('delivers tombstones to running readers', async () => {
    const [writer, reader] = [await scene.open(), await scene.open()];
    await writer.topic.append([scene.record('gone', 'here')]);
    await writer.topic.append([scene.record('gone', null)]);
    await scene.untilRead(reader, 2);
    expect(reader.listener.records.map((record) => record.value === null)).toEqual([false, true]);
  });
}

function appendTests(scene: Scene): void {
  it('stamps records with the clock of the log, the same for every reader', async () => {
    const [writer, reader] = [await scene.open(), await scene.open()];
    await writer.topic.append([scene.record('a', '1', 0)]);
    await sleep(30);
    await writer.topic.append([scene.record('b', '2', 0)]);
    for (const each of [writer, reader]) await scene.untilRead(each, 2);
    const [first, second] = writer.listener.records;
    expect(reader.listener.records.map((r) => r.appendMs)).toEqual([first.appendMs, second.appendMs]);
    expect(second.appendMs - first.appendMs).toBeGreaterThanOrEqual(0);
    expect(second.appendMs - first.appendMs).toBeLessThan(scene.deadlineMs);
  });

  it('has every acknowledged record in the log: a newcomer and a running reader get it', async () => {
    const [writer, reader] = [await scene.open(), await scene.open()];
    await writer.topic.append([scene.record('kept', 'yes')]);
    const newcomer = await scene.open();
    await scene.untilCaughtUp(newcomer);
    expect(newcomer.listener.has('kept')).toBe(true);
    await scene.untilRead(reader, 1);
  });

  it('delivers keys and values byte for byte and keeps no hold on the buffers of the writer', async () => {
    const writer = await scene.open();
    const allBytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const values = [allBytes, new Uint8Array(0), randomBytes(64 * 1024), randomBytes(3), null];
    const keys = ['all bytes', 'empty', 'large/64KiB', 'schlüssel/ключ/鍵', `long-${'k'.repeat(250)}`];
    const expected = values.map(fingerprint);
    await writer.topic.append(keys.map((key, i) => ({ partition: 0, key, value: values[i] })));
    for (const value of values) value?.fill(0xee);
    await scene.untilRead(writer, keys.length);
    await writer.topic.append([scene.record('more', 'to overwrite a reader buffer that is used twice')]);
    await scene.untilRead(writer, keys.length + 1);
    const read = writer.listener.records.slice(0, keys.length);
    expect(read.map((record) => record.key)).toEqual(keys);
    expect(read.map((record) => fingerprint(record.value))).toEqual(expected);
  });

  it('refuses a partition that it does not have, and appends nothing of what came with it', async () => {
    const { topic, listener } = await scene.open();
    for (const partition of [-1, topic.partitions]) {
      const records = [scene.record('beside', 'it'), { ...scene.record('nowhere', 'to be'), partition }];
      await expect(topic.append(records)).rejects.toThrow('partition');
    }
    await topic.append([scene.record('after', 'all')]);
    await listener.until('the next one', () => listener.has('after'), scene.deadlineMs);
    expect(listener.records.map(({ key }) => key)).toEqual(['after']);
  });

  it('takes an empty append for done', async () => {
    const writer = await scene.open();
    await expect(writer.topic.append([])).resolves.toBeUndefined();
  });

  it('counts records and bytes, written and read', async () => {
    const [writer, reader] = [await scene.open(), await scene.open()];
    await writer.topic.append(Array.from({ length: 10 }, (_, i) => scene.record(`key-${i}`, 'x'.repeat(100))));
    await writer.topic.append([scene.record('key-3', null)]);
    await scene.untilRead(reader, 11);
    expect(writer.topic.counters).toMatchObject({ recordsAppended: 11, appendsFailed: 0 });
    expect(writer.topic.counters.bytesAppended).toBeGreaterThanOrEqual(1000);
    expect(reader.topic.counters.recordsRead).toBe(reader.listener.delivered.length);
    expect(reader.topic.counters.bytesRead).toBeGreaterThanOrEqual(1000);
    expect(reader.topic.counters).toMatchObject({ recordsAppended: 0, bytesAppended: 0 });
  });
}

function lifecycleTests(scene: Scene): void {
  it('says caught up once on an empty topic', async () => {
    const reader = await scene.open();
    await scene.untilCaughtUp(reader);
    await reader.topic.append([scene.record('later', 'on')]);
    await scene.untilRead(reader, 1);
    expect(reader.listener.caughtUpAfter).toEqual([0]);
  });

  it('says caught up once, after everything that was there before', async () => {
    const writer = await scene.open();
    await writer.topic.append(Array.from({ length: 300 }, (_, i) => scene.record(`key-${i}`, `value ${i}`)));
    const reader = await scene.open();
    await scene.untilCaughtUp(reader);
    expect(reader.listener.caughtUpAfter[0]).toBeGreaterThanOrEqual(300);
    await writer.topic.append([scene.record('later', 'on')]);
    await scene.untilRead(reader, 301);
    expect(reader.listener.caughtUpAfter).toHaveLength(1);
    expect(reader.listener.lost).toEqual([]);
    expect(reader.listener.failures).toEqual([]);
  });

  it('hands running readers and a newcomer as many records of the largest size as they ask for at once', async () => {
    const writer = await scene.open();
    const value = 'x'.repeat(MAX_RECORD_BYTES + SIGNATURE_BYTES);
    const records = Array.from({ length: 260 }, (_, i) => scene.record(`${i}/`.padEnd(250, 'k'), value, 0));
    for (let i = 0; i < records.length; i += 7) await writer.topic.append(records.slice(i, i + 7));
    const newcomer = await scene.open();
    await scene.untilCaughtUp(newcomer);
    await scene.untilRead(writer, records.length);
    for (const { listener } of [writer, newcomer]) {
      expect(listener.newest.size).toBe(records.length);
      expect(listener.lost).toEqual([]);
    }
  });

  it('refuses appends before open and after close with TOPIC_CLOSED', async () => {
    const topic = scene.makeTopic();
    await expectCode(topic.append([scene.record('early', 'bird')]), 'TOPIC_CLOSED');
    await topic.open(new RecordingListener());
    await topic.close();
    await expectCode(topic.append([scene.record('late', 'comer')]), 'TOPIC_CLOSED');
  });

  it('refuses to open once closed', async () => {
    const topic = scene.makeTopic();
    await topic.close();
    await expectCode(topic.open(new RecordingListener()), 'TOPIC_CLOSED');
  });

  it('closes within 2 s, as often as asked, also before open', async () => {
    const { topic } = await scene.open();
    await within(2000, 'close', () => Promise.all([topic.close(), topic.close()]));
    await within(2000, 'close again', () => topic.close());
    await within(2000, 'close before open', () => scene.makeTopic().close());
  });

  it('settles an append that is under way when it closes', async () => {
    const { topic } = await scene.open();
    const records = Array.from({ length: 500 }, (_, i) => scene.record(`key-${i}`, 'x'.repeat(1000)));
    const pending = [topic.append(records), topic.append(records), topic.append(records)].map(settled);
    await within(2000, 'close', () => topic.close());
    for (const outcome of await within(500, 'settling', () => Promise.all(pending))) {
      expect(outcome === 'done' || outcome === 'TOPIC_CLOSED').toBe(true);
    }
  });

  it('is silent after close while others go on, and leaves them alone', async () => {
    const [closing, staying] = [await scene.open(), await scene.open()];
    await scene.untilCaughtUp(closing);
    const burst = Array.from({ length: 50 }, (_, i) => staying.topic.append([scene.record(`key-${i}`, 'value')]));
    await closing.topic.close();
    const callsAtClose = closing.listener.calls;
    await Promise.all(burst);
    await scene.untilRead(staying, 50);
    await sleep(100);
    expect(closing.listener.calls).toBe(callsAtClose);
    expect(staying.listener.lost).toEqual([]);
  });
}
