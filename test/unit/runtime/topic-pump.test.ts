import { expect, it } from 'vitest';
import type { AppendRecord, ReportTopic, ReportTopicListener } from '../../../src/base/ports/report-topic.js';
import type { Append, ReadEvent } from '../../../src/core/base/protocol/events-and-effects.js';
import { groupStateRecordKey, nodeRecordKey as keyOfNode } from '../../../src/core/base/protocol/record.js';
import { TopicPump } from '../../../src/node/loop/topic-pump.js';
import { RecordCodec } from '../../../src/topic/codec/record-codec.js';
import { wideId } from '../../wide-ids.js';

/** A topic whose appends end when the test says so. */
class HeldTopic {
  readonly produces: (readonly string[])[] = [];
  listener: ReportTopicListener | undefined;
  /** The one that was begun last. */
  end: (error?: Error) => void = () => {};

  open(listener: ReportTopicListener): Promise<void> {
    this.listener = listener;
    return Promise.resolve();
  }

  append(records: readonly AppendRecord[]): Promise<void> {
    this.produces.push(records.map(({ key }) => key));
    return new Promise((resolve, reject) => {
      this.end = (error) => (error === undefined ? resolve() : reject(error));
    });
  }
}

function nodeRecord(key: string, sequence: number, partition = 0): Append {
  const author = { nodeKey: 5, incarnation: 65_536, sequence };
  return { partition, key, record: { kind: 'node', author, nodeId: 'x', version: 't' } };
}

function scene() {
  const topic = new HeldTopic();
  const failed: (readonly string[])[] = [];
  const read: ReadEvent[] = [];
  const pump = new TopicPump(
    topic as unknown as ReportTopic,
    new RecordCodec('demo'),
    { log() {} },
    {
      onEpoch() {},
      onRead: (records) => read.push(...records),
      onCaughtUp() {},
      onAppendFailed: (_partition, keys) => {
        failed.push(keys);
        // The coordinator may answer at once, as it does when buckets are due.
        pump.send([nodeRecord('again', 9)]);
      },
    },
  );
  return { topic, pump, failed, read };
}

it('waits for a partition that does not answer with the records of that partition alone', async () => {
  const { topic, pump } = scene();
  pump.send([nodeRecord('NODE', 1, 0), nodeRecord('NODE', 2, 1)]);
  const answered = topic.end;
  expect(topic.produces).toEqual([['NODE'], ['NODE']]);
  pump.send([nodeRecord('held up', 3, 0), nodeRecord('on', 4, 1)]);
  answered();
  await new Promise((resolve) => setImmediate(resolve));
  expect(topic.produces.slice(2)).toEqual([['on']]);
});

it('passes what cannot be decoded on as a tombstone where all nodes write, because those who know write it again', async () => {
  const { topic, pump, read } = scene();
  await pump.open();
  const keys = [groupStateRecordKey(wideId(77), 1), keyOfNode(5)];
  topic.listener?.onRecords(
    keys.map((key, offset) => ({ partition: 0, offset, appendMs: 1, key, value: Buffer.from('garbage') })),
  );
  await expect.poll(() => read.length).toBe(1);
  expect(read).toEqual([{ partition: 0, offset: 0, appendMs: 1, key: keys[0], record: null }]);
  expect(Object.values(pump.undecodable).reduce((sum, count) => sum + count, 0)).toBe(2);
  await new Promise((resolve) => setImmediate(resolve));
  expect(read).toHaveLength(1);
});
