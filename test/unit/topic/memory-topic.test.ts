import { describe, expect, it } from 'vitest';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { RecordingListener } from '../../conformance/recording-listener.js';

/** What the conformance suite does not ask for: the levers for tests. */
describe('memory topic', () => {
  it('never delivers inside the call that appends', async () => {
    const { topic, listener } = await open(createMemoryLog());
    const appending = append(topic, 'a');
    expect(listener.delivered).toEqual([]);
    await appending;
    await listener.until('delivered', () => listener.delivered.length === 1, 1000);
  });

  it('repeats records on demand, with the offsets they had', async () => {
    const log = createMemoryLog();
    const { topic, listener } = await open(log);
    for (const key of ['a', 'b', 'c']) await append(topic, key);
    await listener.until('all', () => listener.delivered.length === 3, 1000);
    log.repeatDelivery(2);
    expect(listener.delivered.map((record) => record.offset)).toEqual([0, 1, 2, 1, 2]);
    expect(listener.records).toHaveLength(3);
  });

  it('appends what was waiting, in order, when appends are resumed in time', async () => {
    const log = createMemoryLog();
    const { topic, listener } = await open(log);
    log.pauseAppends();
    const waiting = Promise.all(['a', 'b'].map((key) => append(topic, key)));
    log.resumeAppends();
    await waiting;
    await listener.until('both', () => listener.records.length === 2, 1000);
    expect(listener.records.map((record) => record.key)).toEqual(['a', 'b']);
    expect(listener.lost).toEqual([]);
  });

  it('compacts by itself before it grows without bound, and keeps what nobody has read yet', async () => {
    const log = createMemoryLog();
    const { topic, listener } = await open(log);
    for (let round = 0; round < 30; round++) {
      const keys = Array.from({ length: 1000 }, (_, i) => `key-${i % 10}`);
      await topic.append(keys.map((key) => ({ partition: 0, key, value: Buffer.from(`round ${round}`) })));
    }
    await listener.until('all', () => listener.delivered.length === 30_000, 5000);
    expect(log.read(0, 0).length).toBeLessThan(11_000);
    expect(log.endOffset(0)).toBe(30_000);
  });
});

async function open(log: MemoryLog): Promise<{ topic: MemoryTopic; listener: RecordingListener }> {
  const topic = new MemoryTopic(log);
  const listener = new RecordingListener();
  await topic.open(listener);
  return { topic, listener };
}

function append(topic: MemoryTopic, key: string): Promise<void> {
  return topic.append([{ partition: 0, key, value: Buffer.from('x') }]);
}
