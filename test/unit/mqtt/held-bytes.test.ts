import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ConnectionRules, GatedConnection } from '../../../src/doors/mqtt/gated-connection.js';
import { HeldBytes } from '../../../src/doors/mqtt/held-bytes.js';
import { type ConnectionScene, connectionScene, openConnection, settle } from './client-socket.js';
import { connectPacket, publishPacket } from './wire.js';

const CONNECTIONS = 2000;
const MIB = 1_048_576;
/** A PUBLISH of a megabyte whose end never comes. */
const HALF = publishPacket('a', Buffer.alloc(1_000_000), 0).subarray(0, 100_000);

function scene() {
  const counts = { heldBytes: 0 };
  const ended: [GatedConnection, string | null][] = [];
  const rules: Partial<ConnectionRules> = {
    maxPacketBytes: MIB,
    held: new HeldBytes(64 * MIB, counts),
    onEnded: (connection, reason) => ended.push([connection, reason]),
  };
  return { counts, ended, rules };
}

describe('before a CONNECT is accepted', () => {
  test('2,000 clients hold 4 KiB each at most, and are ended after 10 s; aedes knows of none', async () => {
    const { counts, ended, rules } = scene();
    let known = 0;
    const onConnect = () => known++;
    const first = [
      Buffer.from([0x10, 0x80, 0xfa, 0x3e, 0]),
      connectPacket('c'.repeat(4200)),
      connectPacket('c'.repeat(4000)),
    ];
    const opened = Array.from({ length: CONNECTIONS }, () => openConnection({ ...rules, onConnect }));
    for (const [at, { socket }] of opened.entries()) socket.push(first[at % 3].subarray(0, -1));
    await settle();
    console.log(
      `half a CONNECT on ${CONNECTIONS}: ${counts.heldBytes} bytes held, rss ${process.memoryUsage().rss >> 20} MiB`,
    );
    const held = opened.filter(({ connection }) => !connection.destroyed);
    expect(held.length).toBe(Math.floor(CONNECTIONS / 3));
    expect(counts.heldBytes).toBeLessThanOrEqual(4096 * held.length);
    expect(new Set(ended.map(([, reason]) => reason))).toEqual(new Set(['connect-too-large']));
    for (const { connection } of held) connection.watch(9999);
    expect(held.every(({ connection }) => !connection.destroyed)).toBe(true);
    for (const { connection } of held) connection.watch(10_000);
    expect(ended.slice(-held.length).every(([, reason]) => reason === 'connect-timeout')).toBe(true);
    expect([counts.heldBytes, known]).toEqual([0, 0]);
  });

  test('a token of 3 KB gets in', async () => {
    const { connection } = await connectionScene(
      { maxPacketBytes: MIB },
      0,
      connectPacket('c', 0, true, 'x'.repeat(3072)),
    );
    expect(connection.isConnected).toBe(true);
  });
});

describe('after it', () => {
  test('2,000 halves of a packet hold 64 MiB at most: the oldest go, and who waits for its turn stays', async () => {
    const { counts, ended, rules } = scene();
    const waiting = await Promise.all(Array.from({ length: 10 }, () => connectionScene(rules)));
    for (const { socket, connection } of waiting) {
      connection.mark('groupRate');
      socket.push(publishPacket('a', Buffer.alloc(100_000), 0));
    }
    await settle();
    const halves: ConnectionScene[] = [];
    let mostBytes = 0;
    for (let batch = 0; batch < CONNECTIONS / 500; batch++) {
      const opened = await Promise.all(Array.from({ length: 500 }, () => connectionScene(rules)));
      for (const { socket } of opened) socket.push(HALF);
      halves.push(...opened);
      await settle();
      mostBytes = Math.max(mostBytes, counts.heldBytes);
    }
    console.log(
      `half a PUBLISH on ${CONNECTIONS}: ${mostBytes} bytes held, rss ${process.memoryUsage().rss >> 20} MiB`,
    );
    expect(mostBytes).toBeLessThanOrEqual(64 * MIB);
    const fit = Math.floor((64 * MIB - 10 * 100_300) / HALF.length);
    expect(Math.abs(CONNECTIONS - fit - ended.length)).toBeLessThanOrEqual(2);
    expect(ended.map(([connection]) => connection)).toEqual(
      halves.slice(0, ended.length).map(({ connection }) => connection),
    );
    expect(new Set(ended.map(([, reason]) => reason))).toEqual(new Set(['held-full']));
    for (const { connection } of [...waiting, ...halves]) connection.destroy();
    expect(counts.heldBytes).toBe(0);
  });

  test('of those who do not read the first to stop goes first; who reads slowly, or waits for a turn, stays', async () => {
    const { counts, ended } = scene();
    const onEnded: ConnectionRules['onEnded'] = (connection, reason) => ended.push([connection, reason]);
    const rules = { maxPacketBytes: MIB, held: new HeldBytes(MIB, counts), onEnded };
    const waiting = await connectionScene(rules);
    waiting.connection.mark('groupRate');
    waiting.socket.push(publishPacket('a', Buffer.alloc(100_000), 0));
    await settle();
    const [slow, first, second] = await Promise.all([1, 2, 3].map(() => connectionScene(rules)));
    const message = publishPacket('a', Buffer.alloc(150_000), 0);
    for (const one of [slow, first, second]) {
      one.socket.takes = false;
      one.connection.send(message);
    }
    for (let round = 0; round < 3; round++) {
      slow.socket.readOn();
      await settle();
      slow.socket.takes = false;
      slow.connection.send(message);
    }
    expect(counts.heldBytes).toBeGreaterThan(3 * message.length + 100_000);
    second.connection.send(message);
    expect(ended).toEqual([]);
    for (let sent = 0; sent < 3; sent++) slow.connection.send(message);
    expect(ended).toEqual([[first.connection, 'held-full']]);
    expect(first.socket.destroyed).toBe(true);
    for (const { connection } of [waiting, slow, second]) connection.destroy();
    await settle();
    expect(counts.heldBytes).toBe(0);
  });

  test('a message that is larger than the bound for all its subscribers ends none of those who read it at once', async () => {
    const { counts, ended } = scene();
    const onEnded: ConnectionRules['onEnded'] = (connection, reason) => ended.push([connection, reason]);
    const rules = { maxPacketBytes: MIB, held: new HeldBytes(MIB, counts), onEnded };
    const subscribers = await Promise.all(Array.from({ length: 20 }, () => connectionScene(rules)));
    const message = publishPacket('a', Buffer.alloc(100_000), 0);
    for (const { socket, connection } of subscribers) {
      socket.takes = false;
      connection.send(message);
    }
    expect(counts.heldBytes).toBeGreaterThan(MIB);
    // As TLS does, which is done with none before its next turn.
    for (const { socket } of subscribers.slice(0, 15)) setImmediate(() => socket.readOn());
    await settle();
    expect([ended, counts.heldBytes > 500_000]).toEqual([[], true]);
    for (const { socket, connection } of subscribers.slice(0, 15)) {
      socket.takes = false;
      connection.send(message);
    }
    await settle();
    const order = ended.map(([connection]) => subscribers.findIndex((one) => one.connection === connection));
    expect(order).toEqual([15, 16, 17, 18, 19, 0, 1, 2, 3, 4]);
    expect(counts.heldBytes).toBeLessThanOrEqual(MIB);
    for (const { connection } of subscribers) connection.destroy();
  });

  test('whoever gets a message while the turn of another runs has a turn of its own', async () => {
    const { counts, ended } = scene();
    const onEnded: ConnectionRules['onEnded'] = (connection, reason) => ended.push([connection, reason]);
    const rules = { maxPacketBytes: MIB, held: new HeldBytes(MIB, counts), onEnded };
    const [unread, ...late] = await Promise.all([1, 2, 3].map(() => connectionScene(rules)));
    for (const { socket } of [unread, ...late]) socket.takes = false;
    unread.connection.send(publishPacket('a', Buffer.alloc(10_000), 0));
    // Between the two immediates of the first.
    await turn();
    for (const { socket, connection } of late) {
      connection.send(publishPacket('a', Buffer.alloc(600_000), 0));
      setImmediate(() => socket.readOn());
    }
    await settle();
    expect(ended).toEqual([[unread.connection, 'held-full']]);
    expect(counts.heldBytes).toBe(0);
    for (const { socket, connection } of late) {
      socket.takes = false;
      connection.send(publishPacket('a', Buffer.alloc(600_000), 0));
      await turn();
    }
    await settle();
    expect(ended.slice(1)).toEqual([[late[0].connection, 'held-full']]);
    late[1].connection.destroy();
  });

  test('what an ended connection has yet to send counts until its socket is closed', async () => {
    const { counts, rules } = scene();
    const { socket, connection } = await connectionScene(rules);
    socket.destroySoon = () => undefined;
    socket.takes = false;
    connection.send(publishPacket('a', Buffer.alloc(100_000), 0));
    connection.cutOff('token-revoked');
    expect(counts.heldBytes).toBeGreaterThan(100_000);
    connection.cutOff('held-full');
    await settle();
    expect([socket.destroyed, counts.heldBytes]).toEqual([true, 0]);
  });

  test('small packets count with what Node keeps beside them', async () => {
    const { counts, rules } = scene();
    const { socket, connection } = await connectionScene(rules);
    socket.takes = false;
    for (let sent = 0; sent < 100; sent++) connection.send(publishPacket('a', Buffer.from('x'), 0));
    expect(counts.heldBytes).toBe(100 * (6 + 256));
    socket.readOn();
    await settle();
    expect(counts.heldBytes).toBe(0);
  });

  test('a queue takes a part of what is free; beyond it QoS 0 is dropped, and publishers of QoS 1 wait', async () => {
    const counts = { heldBytes: 0 };
    const dropped = { dispatched: 0, dropped: 0, queued: 0 };
    const never = () => new Promise<boolean>(() => undefined);
    const rates = { tryAdmit: () => false, admit: never, notReadingMs: 1000, counts: dropped };
    const dispatch = { ...rates, maxMessages: 10_000, maxBytes: 64 * MIB };
    const rules = { held: new HeldBytes(64 * MIB, counts), dispatch };
    const subscribers = await Promise.all(Array.from({ length: 100 }, () => connectionScene(rules)));
    const message = publishPacket('a', Buffer.alloc(10_000), 0);
    for (let sent = 0; sent < 200; sent++) for (const { connection } of subscribers) connection.write(message);
    await settle();
    expect(dropped.dropped).toBeGreaterThan(100 * 150);
    expect(counts.heldBytes).toBeLessThanOrEqual(32 * MIB);
    const queues = subscribers.map(({ connection }) => connection.dispatch);
    expect(queues.every(({ isFull, messages }) => isFull && messages > 20)).toBe(true);
    for (const { connection } of subscribers) connection.destroy();
    expect(counts.heldBytes).toBe(0);
  });

  test('nobody is read ahead beyond half of the bound, and who has nothing waiting is read on', async () => {
    const counts = { heldBytes: 0 };
    const rules = { maxPacketBytes: MIB, held: new HeldBytes(MIB, counts) };
    const [held, free] = await Promise.all([connectionScene(rules), connectionScene(rules)]);
    held.connection.mark('groupRate');
    held.socket.push(publishPacket('a', Buffer.alloc(600_000), 0));
    await settle();
    const other = await connectionScene(rules);
    other.connection.mark('groupRate');
    for (let sent = 0; sent < 2; sent++) {
      for (const { socket } of [other, free]) socket.push(publishPacket('a', Buffer.from('x'), 0));
      await settle();
    }
    expect(other.socket.readableLength).toBeGreaterThan(0);
    expect(free.passed.length).toBe(1);
    held.connection.destroy();
    other.connection.watch(1);
    await settle();
    expect(other.socket.readableLength).toBe(0);
  });

  test('what is counted is what stays in memory: the piece of which a packet is left, and a publish that is undecided', async () => {
    const { counts, rules } = scene();
    const { socket, connection, passed } = await connectionScene(rules);
    socket.push(Buffer.concat(Array.from({ length: 100 }, () => publishPacket('a', Buffer.from('x'), 0))));
    await settle();
    for (let sent = 1; sent < 99; sent++) {
      connection.decided();
      await settle();
    }
    expect([passed.length, counts.heldBytes >= 600]).toEqual([99, true]);
    connection.decided();
    await settle();
    // The last one is with aedes, and undecided.
    expect(counts.heldBytes).toBe(6);
    connection.decided();
    await settle();
    expect(counts.heldBytes).toBe(0);
  });
});
