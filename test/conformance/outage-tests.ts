import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { RecordingListener } from './recording-listener.js';
import { expectRisingOffsets, LagWatch, settled, within } from './topic-expectations.js';
import type { Scene } from './topic-scene.js';

/** Guarantee 7, and what the port says of `open`, `append` and `close` while the topic cannot be reached. */
export function outageTests(scene: Scene): void {
  it('rejects appends in time, says lost once, leaves the event loop free and recovers', async ({ skip }) => {
    const { breakTopic, healTopic } = scene.outage() ?? skip('this world cannot break its topic');
    const [writer, reader] = [await scene.open(), await scene.open()];
    await scene.untilAppended(writer, [scene.record('before', 'outage')]);
    await writer.listener.until('a topic that works', () => writer.listener.lostBecause === null, scene.deadlineMs);
    const lostBefore = writer.listener.lost.length;
    await breakTopic();
    const lag = new LagWatch();
    for (let i = 0; i < 3; i++) {
      const outcome = await within(scene.options.appendTimeoutMs + 5000, 'append in the outage', () =>
        settled(writer.topic.append([scene.record(`during-${i}`, 'outage')])),
      );
      expect(outcome).not.toBe('done');
    }
    await writer.listener.until('lost', () => writer.listener.lostBecause !== null, scene.deadlineMs);
    expect(writer.listener.lost).toHaveLength(lostBefore + 1);
    expect(lag.stop()).toBeLessThan(500);
    expect(writer.topic.counters.appendsFailed).toBeGreaterThanOrEqual(3);
    await healTopic();
    await scene.untilAppended(writer, [scene.record('after', 'outage')]);
    await writer.listener.until('recovered', () => isWhole(writer.listener), scene.deadlineMs);
    await reader.listener.until('the record after', () => reader.listener.has('after'), scene.deadlineMs);
    expectRisingOffsets(reader.topic, reader.listener.records);
  });

  it('closes within 2 s in an outage and rejects what was pending', async ({ skip }) => {
    const { breakTopic } = scene.outage() ?? skip('this world cannot break its topic');
    const { topic, listener } = await scene.open();
    await breakTopic();
    const pending = [settled(topic.append([scene.record('a', 'b')])), settled(topic.append([scene.record('c', 'd')]))];
    await sleep(50);
    await within(2000, 'close', () => topic.close());
    const callsAtClose = listener.calls;
    for (const outcome of await within(500, 'settling', () => Promise.all(pending))) expect(outcome).not.toBe('done');
    await sleep(200);
    expect(listener.calls).toBe(callsAtClose);
  });

  it('keeps open pending in an outage, tells, and succeeds afterwards', async ({ skip }) => {
    const { breakTopic, healTopic } = scene.outage() ?? skip('this world cannot break its topic');
    const writer = await scene.open();
    await scene.untilAppended(writer, [scene.record('before', 'outage')]);
    await breakTopic();
    const listener = new RecordingListener();
    const topic = scene.makeTopic();
    const opening = topic.open(listener);
    // An adapter may be able to read while appends are out; then opening succeeds and only the append fails.
    if ((await Promise.race([settled(opening), sleep(1500).then(() => 'pending')])) === 'pending') {
      await listener.until('lost', () => listener.lost.length > 0, scene.deadlineMs);
    }
    await healTopic();
    await within(scene.deadlineMs, 'open after the outage', () => opening);
    await listener.until('the record before', () => listener.has('before'), scene.deadlineMs);
    await listener.until('as often recovered as lost', () => isWhole(listener), scene.deadlineMs);
  });

  it('ends a pending open by close', async ({ skip }) => {
    const { breakTopic } = scene.outage() ?? skip('this world cannot break its topic');
    await breakTopic();
    const topic = scene.makeTopic();
    const opening = settled(topic.open(new RecordingListener()));
    await sleep(100);
    await within(2000, 'close', () => topic.close());
    expect(['done', 'TOPIC_CLOSED']).toContain(await within(500, 'settling of open', () => opening));
  });
}

function isWhole({ lost, lostBecause, recovered }: RecordingListener): boolean {
  return lostBecause === null && lost.length === recovered;
}
