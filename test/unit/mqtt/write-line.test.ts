import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import type { ConnectionRules, GatedConnection } from '../../../src/doors/mqtt/gated-connection.js';
import { HeldBytes } from '../../../src/doors/mqtt/held-bytes.js';
import { WriteLine } from '../../../src/doors/mqtt/write-line.js';
import { connectionScene, settle } from './client-socket.js';
import { publishPacket } from './wire.js';

const MIB = 1_048_576;

afterEach(() => {
  vi.useRealTimers();
});

/** Subscribers, and what writes a message to all of them as aedes does. */
async function subscribed(count: number, maxHeldBytes: number) {
  const counts = { heldBytes: 0 };
  const ended: [GatedConnection, string | null][] = [];
  const onEnded: ConnectionRules['onEnded'] = (connection, reason) => ended.push([connection, reason]);
  const dispatched = { dispatched: 0, dropped: 0, queued: 0 };
  const free = { tryAdmit: () => true, admit: async () => true, notReadingMs: 1000, counts: dispatched };
  const dispatch = { ...free, maxMessages: 100, maxBytes: 8 * MIB };
  const [held, line] = [new HeldBytes(maxHeldBytes, counts), new WriteLine(maxHeldBytes)];
  const rules = { maxPacketBytes: MIB, dispatch, held, line, onEnded };
  const all = await Promise.all(Array.from({ length: count }, () => connectionScene(rules)));
  const unsent = () => all.reduce((sum, { socket }) => sum + (socket.destroyed ? 0 : socket.writableLength), 0);
  const publish = (payload: Buffer) => {
    const head = publishPacket('a', payload, 0).subarray(0, -payload.length);
    for (const { connection } of all) {
      connection.cork();
      connection.write(head);
      connection.write(payload);
      connection.uncork();
    }
  };
  return { counts, ended, all, unsent, publish, dispatched };
}

test('the sockets of 1,000 that read nothing hold three eighths of the bound, the message is held once, and each gets it whole', async () => {
  const { counts, ended, all, unsent, publish } = await subscribed(1000, 16 * MIB);
  for (const { socket } of all) socket.takes = false;
  const payload = Buffer.alloc(MIB, 'x');
  publish(payload);
  let mostBytes = 0;
  let mostHeldBytes = 0;
  const behind = () => all.filter(({ socket }) => socket.bytesWritten < MIB || socket.writableLength > 0);
  // In turns, as clients read: the system takes one write of each, and all that follows it waits again.
  for (let rounds = 0; behind().length > 0; rounds++) {
    expect(rounds).toBeLessThan(2000);
    mostBytes = Math.max(mostBytes, unsent());
    mostHeldBytes = Math.max(mostHeldBytes, counts.heldBytes);
    for (const { socket } of all) socket.takeOne();
    await turn();
  }
  console.log(`1 MB for 1,000: at most ${mostBytes} bytes in sockets, ${mostHeldBytes} held`);
  expect(mostBytes).toBeGreaterThan(5.8 * MIB);
  expect(mostBytes).toBeLessThan(6.2 * MIB);
  expect(mostHeldBytes).toBeLessThanOrEqual(16 * MIB);
  await settle();
  expect([ended, counts.heldBytes]).toEqual([[], 0]);
  const whole = publishPacket('a', payload, 0);
  expect(all.every(({ socket }) => Buffer.concat(socket.written).equals(whole))).toBe(true);
});

test('who reads gets it behind any number of those who do not: these end while others wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { counts, ended, all, unsent, publish } = await subscribed(200, 4 * MIB);
  const [unread, readers] = [all.slice(0, 180), all.slice(180)];
  for (const { socket } of unread) socket.takes = false;
  publish(Buffer.alloc(MIB, 'x'));
  const got = () => readers.filter(({ socket }) => socket.bytesWritten > MIB).length;
  await settle();
  expect([got(), ended.length]).toEqual([0, 0]);
  let looks = 0;
  for (; got() < readers.length && looks < 100; looks++) {
    await vi.advanceTimersByTimeAsync(500);
    await settle();
    expect(unsent()).toBeLessThan(1.6 * MIB);
    expect(counts.heldBytes).toBeLessThan(4 * MIB);
  }
  expect(got()).toBe(readers.length);
  // 180 pieces, 24 at a time; each stands from one look to the next.
  expect(looks).toBeLessThanOrEqual(2 * Math.ceil(180 / 24));
  expect(new Set(ended.map(([, reason]) => reason))).toEqual(new Set(['held-full']));
  expect(readers.every(({ connection }) => !connection.destroyed)).toBe(true);
  // Nobody waits: who is left may stay.
  const left = ended.length;
  await vi.advanceTimersByTimeAsync(5000);
  await settle();
  expect([left, ended.length]).toEqual([left, left]);
  for (const { connection } of all) connection.destroy();
  await settle();
  expect(counts.heldBytes).toBe(0);
});

test('who reads loses no message of QoS 0 behind those who do not', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { all, publish, dispatched } = await subscribed(300, 32 * MIB);
  const [unread, readers] = [all.slice(0, 280), all.slice(280)];
  for (const { socket } of unread) socket.takes = false;
  for (let sent = 0; sent < 3; sent++) {
    publish(Buffer.alloc(MIB, 'x'));
    await settle();
  }
  expect(dispatched.dropped).toBe(0);
  const got = () => readers.filter(({ socket }) => socket.bytesWritten > 3 * MIB).length;
  for (let looks = 0; got() < readers.length && looks < 100; looks++) {
    await vi.advanceTimersByTimeAsync(500);
    await settle();
  }
  expect(got()).toBe(readers.length);
  // One that goes on reading nothing holds a part of its own bound at most.
  for (let sent = 3; sent < 20; sent++) publish(Buffer.alloc(MIB, 'x'));
  expect(dispatched.dropped).toBeGreaterThan(0);
  for (const { connection } of all) connection.destroy();
});

test('whose system takes a piece between two looks stays, however long others wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { ended, all, publish } = await subscribed(100, 4 * MIB);
  for (const { socket } of all) socket.takes = false;
  publish(Buffer.alloc(MIB, 'x'));
  for (let looks = 0; looks < 20; looks++) {
    // The head and the piece that follows it.
    for (const { socket } of [...all, ...all]) socket.takeOne();
    await vi.advanceTimersByTimeAsync(500);
    await settle();
  }
  expect(ended.length).toBe(0);
  for (const { connection } of all) connection.destroy();
});

test('one that is larger than the bound gets through alone, and what comes after it waits for its end', async () => {
  const { counts, ended, all, publish } = await subscribed(1, MIB);
  const [{ socket, connection }] = all;
  socket.takes = false;
  publish(Buffer.alloc(3 * MIB, 'x'));
  connection.write(Buffer.from([0xd0, 0]));
  await settle();
  expect(socket.writableLength).toBeLessThan(MIB / 2);
  socket.readOn();
  await settle();
  expect([socket.answers, ended, counts.heldBytes]).toEqual([[3, 13], [], 0]);
});
