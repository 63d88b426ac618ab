import { expect, test } from 'vitest';
import type { DispatchRules } from '../../../src/doors/mqtt/dispatch-queue.js';
import { packetsOf } from '../../../src/doors/mqtt/packets.js';
import { connectionScene, settle } from './client-socket.js';
import { publishPacket } from './wire.js';

const OPEN: (() => void)[] = [];

async function queueScene(rules: Omit<DispatchRules, 'notReadingMs' | 'counts'>, reasons: (string | null)[]) {
  const counts = { dispatched: 0, dropped: 0, queued: 0 };
  const dispatch = { ...rules, notReadingMs: 1000, counts };
  return { ...(await connectionScene({ dispatch, onEnded: (_, why) => reasons.push(why) })), counts };
}

/** Nothing is admitted but by `OPEN`. */
async function closedScene(reasons: (string | null)[] = []) {
  OPEN.length = 0;
  const admit = () => new Promise<boolean>((resolve) => OPEN.push(() => resolve(true)));
  const scene = await queueScene({ maxMessages: 4, maxBytes: 10_000, tryAdmit: () => false, admit }, reasons);
  scene.socket.written.length = 0;
  return scene;
}

function message(name: string, qos: number): Buffer {
  return publishPacket(name, Buffer.alloc(10), qos);
}

test('keeps the order, whatever the QoS; answers to pings overtake', async () => {
  const { connection, socket } = await closedScene();
  const messages = [message('1', 0), message('2', 1), message('3', 2)];
  for (const one of messages) connection.write(one);
  const pingResponse = Buffer.from([0xd0, 0]);
  connection.write(pingResponse);
  await settle();
  expect(socket.written).toEqual([pingResponse]);
  for (let turn = 0; turn < 3; turn++) {
    OPEN.shift()?.();
    await settle();
  }
  expect(socket.written.slice(1)).toEqual(messages);
});

test('QoS 0 beyond the bound is dropped and counted; QoS 1 goes on to twice the bound, then the subscriber is cut off', async () => {
  const reasons: (string | null)[] = [];
  const { connection, counts } = await closedScene(reasons);
  for (let sent = 0; sent < 6; sent++) connection.write(message(`${sent}`, 0));
  expect(counts).toEqual({ dispatched: 0, dropped: 2, queued: 4 });
  for (let sent = 0; sent < 4; sent++) connection.write(message(`${sent}`, 1));
  expect([reasons, counts.queued]).toEqual([[], 8]);
  connection.write(message('9', 1));
  expect(reasons).toEqual(['dispatch-queue-full']);
  expect(counts.queued).toBe(0);
});

test('publishers are held back until half of the queue is gone', async () => {
  const { connection } = await closedScene();
  const publisher = await connectionScene();
  for (let sent = 0; sent < 4; sent++) connection.write(message(`${sent}`, 1));
  expect(connection.dispatch.isFull).toBe(true);
  connection.dispatch.holdBack(publisher.connection);
  connection.dispatch.holdBack(publisher.connection);
  expect(publisher.connection.throttle.countOf('subscriberBehind')).toBe(1);
  await settle();
  OPEN.shift()?.();
  await settle();
  expect(publisher.connection.throttle.isThrottled).toBe(true);
  OPEN.shift()?.();
  await settle();
  expect(publisher.connection.throttle.isThrottled).toBe(false);
});

// #24799: an owner that goes while it throttles must not leave the others paused.
test('a subscriber that goes lets its publishers go', async () => {
  const { connection } = await closedScene();
  const publisher = await connectionScene();
  connection.dispatch.holdBack(publisher.connection);
  connection.destroy();
  expect(publisher.connection.throttle.isThrottled).toBe(false);
  connection.dispatch.holdBack(publisher.connection);
  expect(publisher.connection.throttle.isThrottled).toBe(false);
});

/** A client that does not read, and five large messages for it. */
async function unreadScene(reasons: (string | null)[] = []) {
  const admitsAll = { tryAdmit: () => true, admit: async () => true };
  const scene = await queueScene({ maxMessages: 100, maxBytes: 1e9, ...admitsAll }, reasons);
  scene.socket.takes = false;
  const large = publishPacket('a', Buffer.alloc(100_000), 0);
  for (let sent = 0; sent < 5; sent++) scene.connection.write(large);
  await settle();
  return scene;
}

test('a client that does not read: what waits stays here, it is cut off after notReadingMs, and a slow one is not', async () => {
  const reasons: (string | null)[] = [];
  const { connection, socket, counts } = await unreadScene(reasons);
  expect(counts).toEqual({ dispatched: 3, dropped: 0, queued: 2 });
  expect(connection.throttle.countOf('outboundBufferFull')).toBe(1);
  connection.dispatch.watch(0);
  connection.dispatch.watch(900);
  socket.bytesWritten += 10;
  connection.dispatch.watch(1100);
  connection.dispatch.watch(2000);
  expect(reasons).toEqual([]);
  connection.dispatch.watch(2101);
  expect(reasons).toEqual(['not-reading']);
});

test.each([0, 1] as const)(
  'subscribers share the payload of a large message, sent or waiting (QoS %d)',
  async (qos) => {
    const payload = Buffer.alloc(50_000, 'x');
    const scene = await unreadScene();
    scene.socket.written.length = 0;
    for (const takes of [false, true]) {
      if (takes) scene.socket.readOn();
      await settle();
      scene.connection.cork();
      const whole = publishPacket('a', payload, qos);
      scene.connection.write(whole.subarray(0, 3));
      scene.connection.write(whole.subarray(3, -payload.length));
      scene.connection.write(payload);
      scene.connection.uncork();
      await settle();
    }
    await settle();
    const { written } = scene.socket;
    expect(written.filter((chunk) => chunk === payload)).toHaveLength(2);
    expect([...packetsOf(Buffer.concat(written))].slice(-2)).toEqual(Array(2).fill(publishPacket('a', payload, qos)));
  },
);

test('a client that reads again gets what waited', async () => {
  const { connection, socket, counts } = await unreadScene();
  socket.readOn();
  await settle();
  expect(counts).toEqual({ dispatched: 5, dropped: 0, queued: 0 });
  expect(connection.throttle.isThrottled).toBe(false);
});
