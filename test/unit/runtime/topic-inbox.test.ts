import { expect, test } from 'vitest';
import { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import type { ReadRecord } from '../../../src/base/ports/report-topic.js';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { TopicInbox } from '../../../src/topic/topic-inbox.js';

function record(offset: number): ReadRecord {
  return { partition: 0, offset, appendMs: 0, key: 'key', value: null };
}

function make(recordsPerTurn: number) {
  const told: string[] = [];
  const inbox = new TopicInbox({
    name: 'topic',
    lossMeans: '',
    recordsPerTurn,
    telemetry: silentTelemetry,
    onEpoch: (epoch) => told.push(`epoch ${epoch}`),
    onRead: (records) => told.push(records.map(({ offset }) => offset).join()),
    onCaughtUp: () => told.push('caught up'),
  });
  return { inbox, told };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test('epochs, records and being caught up keep their order, whatever came within one turn', async () => {
  const { inbox, told } = make(2);
  inbox.onEpoch('a');
  inbox.onRecords([0, 1, 2].map(record));
  inbox.onCaughtUp();
  inbox.onRecords([record(3)]);
  inbox.onEpoch('b');
  inbox.onRecords([record(0)]);
  inbox.onCaughtUp();
  inbox.onEpoch('c');
  inbox.onCaughtUp();
  expect(told).toEqual([]);
  await turns(10);
  const ofA = ['epoch a', '0,1', '2,3', 'caught up'];
  expect(told).toEqual([...ofA, 'epoch b', '0', 'caught up', 'epoch c', 'caught up']);
});

test('an epoch that ended before it was caught up with is never said to be', async () => {
  const { inbox, told } = make(10);
  inbox.onEpoch('a');
  inbox.onRecords([record(0)]);
  inbox.onEpoch('b');
  inbox.onCaughtUp();
  await turns(10);
  expect(told).toEqual(['epoch a', '0', 'epoch b', 'caught up']);
});

test('a turn handles no more records than it may, and the next ones follow by themselves', async () => {
  const { inbox, told } = make(2);
  inbox.onEpoch('a');
  inbox.onRecords([0, 1, 2, 3, 4].map(record));
  inbox.onCaughtUp();
  await turns(6);
  inbox.onRecords([record(5)]);
  await turns(2);
  expect(told).toEqual(['epoch a', '0,1', '2,3', '4', 'caught up', '5']);
});

test('what has failed is told with its remedy until the topic is back', () => {
  const { inbox } = make(1);
  const error = new QuotameshError('TOPIC_MISSING', { topic: 'reports' });
  inbox.onFailed(error);
  expect(inbox.lost).toBe(`topic reports does not exist any more. ${error.remedy}`);
  inbox.onRecovered();
  expect(inbox.lost).toBeNull();
});
