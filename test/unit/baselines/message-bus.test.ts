import { expect, test } from 'vitest';
import { MessageBus } from '../../../sim/baselines/message-bus.js';
import { EventQueue } from '../../../sim/cluster/event-queue.js';
import { Random } from '../../../sim/cluster/random.js';

function scene(isOrdered = true) {
  const queue = new EventQueue();
  const delays = { appendMs: [1, 1], deliveryMs: [1, 9] } as const;
  const quota = { messagesPerSecond: 1, bytesPerSecond: 1 };
  const bus = new MessageBus<number>({ queue, random: new Random(1), delays, quota, nodes: 2 }, isOrdered);
  const heard: Record<string, number[]> = { a: [], b: [] };
  for (const node of ['a', 'b']) bus.attach(node, (message) => heard[node]?.push(message));
  return { queue, bus, heard };
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
  for (let message = 0; message < 1000; message++) bus.send('a', 'b', message, 10);
  queue.runUntil(100);
  const sorted = heard.b?.toSorted((left, right) => left - right);
  expect(sorted).toHaveLength(1000);
  if (isOrdered) expect(heard.b).toEqual(sorted);
  else expect(heard.b).not.toEqual(sorted);
});
