import { expect, test } from 'vitest';
import { MessageBus } from '../../../sim/baselines/message-bus.js';
import { EventQueue } from '../../../sim/cluster/event-queue.js';
import { Random } from '../../../sim/cluster/random.js';

const NO_FAULTS = { lostRatio: 0, repeatedRatio: 0, lateRatio: 0, lateMs: 0 };

function scene(isOrdered = true) {
  const queue = new EventQueue();
  const environment = {
    queue,
    random: new Random(1),
    delays: { appendMs: [1, 1], deliveryMs: [1, 9] } as const,
    quota: { messagesPerSecond: 1, bytesPerSecond: 1 },
    nodes: 2,
  };
  const bus = new MessageBus<number>(environment, isOrdered);
  const heard: Record<string, number[]> = { a: [], b: [] };
  for (const node of ['a', 'b']) bus.attach(node, (message) => heard[node]?.push(message));
  return { queue, bus, heard };
}

function sendMany(bus: MessageBus<number>, count = 1000): void {
  for (let message = 0; message < count; message++) bus.send('a', 'b', message, 10);
}

test('a topic reaches all, the sender too; both are counted once', () => {
  const { queue, bus, heard } = scene();
  bus.publish('a', 1, 30);
  queue.runUntil(1.9);
  expect(heard).toEqual({ a: [], b: [] });
  queue.runUntil(10);
  expect(heard).toEqual({ a: [1], b: [1] });
  expect(bus.sent).toEqual({ records: 1, bytes: 30 });
});

test.each([true, false])('in order: %s', (isOrdered) => {
  const { queue, bus, heard } = scene(isOrdered);
  sendMany(bus);
  queue.runUntil(100);
  const sorted = heard.b?.toSorted((left, right) => left - right);
  expect(sorted).toHaveLength(1000);
  if (isOrdered) expect(heard.b).toEqual(sorted);
  else expect(heard.b).not.toEqual(sorted);
});

test('a tenth lost, a fifth repeated', () => {
  const { queue, bus, heard } = scene();
  bus.setFaults({ ...NO_FAULTS, lostRatio: 0.1, repeatedRatio: 0.2 });
  sendMany(bus, 10_000);
  queue.runUntil(100);
  expect(new Set(heard.b).size / 10_000).toBeCloseTo(0.9, 1);
  expect((heard.b?.length ?? 0) / new Set(heard.b).size).toBeCloseTo(1.2, 1);
  expect(bus.sent.records).toBe(10_000);
});

test('what is late comes late, half of it', () => {
  const { queue, bus, heard } = scene(false);
  bus.setFaults({ ...NO_FAULTS, lateRatio: 0.5, lateMs: 1000 });
  sendMany(bus);
  queue.runUntil(500);
  expect((heard.b?.length ?? 0) / 1000).toBeCloseTo(0.5, 1);
  queue.runUntil(2000);
  expect(heard.b).toHaveLength(1000);
});

test('cut ways and outages lose what is sent and what is under way; nothing is delivered afterwards', () => {
  const { queue, bus, heard } = scene();
  bus.cut('a', { readsCut: false, appendsCut: true });
  bus.send('a', 'b', 1, 1);
  bus.send('b', 'a', 2, 1);
  queue.runUntil(20);
  expect(heard).toEqual({ a: [2], b: [] });
  bus.cut('a', { readsCut: true, appendsCut: false });
  bus.send('a', 'b', 3, 1);
  bus.send('b', 'a', 4, 1);
  queue.runUntil(40);
  expect(heard).toEqual({ a: [2], b: [3] });
  bus.cut('a', { readsCut: false, appendsCut: false });
  bus.send('a', 'b', 5, 1);
  bus.setOutage(true);
  bus.send('a', 'b', 6, 1);
  queue.runUntil(60);
  bus.setOutage(false);
  bus.send('a', 'b', 7, 1);
  queue.runUntil(80);
  expect(heard).toEqual({ a: [2], b: [3, 7] });
});
