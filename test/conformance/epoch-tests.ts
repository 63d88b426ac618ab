import { expect, it } from 'vitest';
import type { RecordingListener } from './recording-listener.js';
import { describeRecord, expectRisingOffsets, text } from './topic-expectations.js';
import type { Scene } from './topic-scene.js';

/** Guarantee 8: whoever reads is told when the log is another one. */
export function epochTests(scene: Scene): void {
  it('tells one epoch in a quiet life, before the first record, and all readers the same', async () => {
    const writer = await scene.open();
    await writer.topic.append(Array.from({ length: 20 }, (_, at) => scene.record(`key-${at}`, 'here')));
    const reader = await scene.open();
    for (const each of [writer, reader]) {
      await scene.untilRead(each, 20);
      await scene.untilCaughtUp(each);
      expect(each.listener.order.slice(0, 2)).toEqual(['epoch', expect.stringMatching(/^records$|^caught-up$/)]);
      expect(each.listener.epochs).toHaveLength(1);
    }
    expect(reader.listener.epochs).toEqual(writer.listener.epochs);
  });

  it('gives a log made anew from its start, with another epoch, and says caught up again', async ({ skip }) => {
    const makeAnew = scene.world.makeAnew?.bind(scene.world) ?? skip('this world cannot make its log anew');
    const [writer, reader] = [await scene.open(), await scene.open()];
    await writer.topic.append(Array.from({ length: 20 }, (_, at) => scene.record(`old-${at}`, 'gone')));
    for (const each of [writer, reader]) await scene.untilRead(each, 20);
    await makeAnew();
    await scene.untilAppended(writer, [scene.record('new', 'first')]);
    for (const { topic, listener } of [writer, reader]) {
      await untilNewEpoch(listener, scene.deadlineMs);
      await listener.until('the new record', () => listener.has('new'), scene.deadlineMs);
      expect(listener.records.filter(({ key }) => key.startsWith('old-'))).toEqual([]);
      expectRisingOffsets(topic, listener.records);
      await listener.until('caught up again', () => listener.order.at(-1) !== 'epoch', scene.deadlineMs);
      await listener.until('caught up twice', () => listener.caughtUpAfter.length === 2, scene.deadlineMs);
    }
    expect(new Set(reader.listener.epochs).size).toBe(2);
    const newcomer = await scene.open();
    await scene.untilCaughtUp(newcomer);
    expect(newcomer.listener.epochs).toEqual(reader.listener.epochs.slice(1));
  });

  it('gives a log made anew that has grown past all that was read exactly as newcomers get it', async ({ skip }) => {
    const makeAnew = scene.world.makeAnew?.bind(scene.world) ?? skip('this world cannot make its log anew');
    const readers = [await scene.open(), await scene.open()];
    await readers[0]?.topic.append(Array.from({ length: 20 }, (_, at) => scene.record(`old-${at}`, 'gone')));
    for (const each of readers) await scene.untilRead(each, 20);
    await makeAnew();
    const newcomer = await scene.open();
    const grown = Array.from({ length: 200 }, (_, at) => scene.record(`new-${at}`, 'grown'));
    await scene.untilAppended(newcomer, grown);
    for (const { listener } of [newcomer, ...readers]) {
      await listener.until('the whole log', () => grown.every(({ key }) => listener.has(key)), scene.deadlineMs);
    }
    const expected = newcomer.listener.records.map(describeRecord).sort();
    for (const { listener } of readers) expect(listener.records.map(describeRecord).sort()).toEqual(expected);
  });

  it('gives a log that lost its end and has grown past it again from its start, as another epoch', async ({ skip }) => {
    const truncate = scene.world.truncate?.bind(scene.world) ?? skip('this world cannot shorten its log');
    const [writer, reader] = [await scene.open(), await scene.open()];
    await writer.topic.append(Array.from({ length: 20 }, (_, at) => scene.record(`old-${at}`, 'there', 0)));
    for (const each of [writer, reader]) await scene.untilRead(each, 20);
    await truncate(15, async () => {
      const regrown = Array.from({ length: 10 }, (_, at) => scene.record(`new-${at}`, 'regrown', 0));
      await scene.untilAppended(writer, regrown);
    });
    for (const { listener } of [writer, reader]) {
      await untilNewEpoch(listener, scene.deadlineMs);
      await listener.until('the whole log', () => listener.has('old-14') && listener.has('new-9'), scene.deadlineMs);
      expect(listener.has('old-19')).toBe(false);
      expect(text(listener.newest.get('new-0') ?? null)).toBe('regrown');
    }
  });
}

function untilNewEpoch(listener: RecordingListener, deadlineMs: number): Promise<void> {
  return listener.until('another epoch', () => listener.epochs.length > 1, deadlineMs);
}
