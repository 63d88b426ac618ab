import { Aedes } from 'aedes';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMqttCounts } from '../../../src/doors/mqtt/mqtt-counts.js';
import { boundSessions, type SessionStore } from '../../../src/doors/mqtt/session-bounds.js';

const BOUNDS = {
  maxSessionMessages: 3,
  maxSessionBytes: 1000,
  maxSubscriptions: 4,
  maxRetainedMessages: 2,
  maxRetainedBytes: 614,
};

type FullStore = SessionStore & { outgoingStream(client: { id: string }): AsyncIterable<unknown> };

let aedes: Aedes & { persistence: FullStore };
let store: FullStore;
let full: string[];
let repeated: object[];
const { kept: fresh } = createMqttCounts();
let counts = { ...fresh };

beforeEach(async () => {
  aedes = new Aedes() as typeof aedes;
  await aedes.listen();
  store = aedes.persistence;
  full = [];
  counts = { ...fresh };
  repeated = [];
  const onFull = (bound: string, client: string | null) => full.push(`${bound} ${client}`);
  boundSessions(store, { ...BOUNDS, counts, onFull, onRepeated: (packet) => repeated.push(packet) });
});
afterEach(() => new Promise<void>((resolve) => aedes.close(() => resolve())));

let counter = 0;
const message = (bytes: number, topic = 't') => ({
  cmd: 'publish',
  topic,
  payload: Buffer.alloc(bytes),
  qos: 1,
  brokerId: aedes.id,
  brokerCounter: ++counter,
});
const enqueue = (clientId: string, packet: ReturnType<typeof message>) =>
  store.outgoingEnqueueCombi([{ clientId }], packet);

async function storedFor(id: string): Promise<number> {
  let count = 0;
  for await (const _ of store.outgoingStream({ id })) count++;
  return count;
}

describe('messages of a session', () => {
  test('the fourth of three is dropped, and what is acknowledged makes room', async () => {
    const packets = [10, 20, 30, 40].map((bytes) => message(bytes));
    for (const packet of packets) await enqueue('away', packet);
    expect([await storedFor('away'), full]).toEqual([3, ['session-full away']]);
    expect(counts).toMatchObject({ sessionMessages: 3, sessionBytes: 831, sessionDropped: 1 });
    await store.outgoingUpdate({ id: 'away' }, { ...packets[1], messageId: 7 });
    await store.outgoingClearMessageId({ id: 'away' }, { topic: '', payload: '', messageId: 7 });
    expect(counts).toMatchObject({ sessionMessages: 2, sessionBytes: 554 });
    await enqueue('away', message(5));
    expect([await storedFor('away'), counts.sessionDropped]).toEqual([3, 1]);
  });

  test('bytes are bounded over all sessions, each counted', async () => {
    const packet = message(100);
    await store.outgoingEnqueueCombi([{ clientId: 'a' }, { clientId: 'b' }, { clientId: 'c' }], packet);
    expect([await storedFor('a'), await storedFor('b'), await storedFor('c')]).toEqual([1, 1, 0]);
    expect(counts).toMatchObject({ sessionBytes: 714, sessionDropped: 1 });
  });

  test('QoS 2: a PUBREL takes the place of its message; both are gone with PUBCOMP', async () => {
    const packet = message(100);
    await enqueue('away', packet);
    await store.outgoingUpdate({ id: 'away' }, { ...packet, messageId: 9 });
    await store.outgoingUpdate({ id: 'away' }, { cmd: 'pubrel', messageId: 9 } as never);
    expect(counts.sessionBytes).toBe(357);
    await store.outgoingClearMessageId({ id: 'away' }, { topic: '', payload: '', messageId: 9 });
    expect([await storedFor('away'), counts.sessionMessages, counts.sessionBytes]).toEqual([0, 0, 0]);
  });

  test('sent again under another message id after a reconnect, it is one message still', async () => {
    const packet = message(100);
    await enqueue('away', packet);
    for (const messageId of [3, 4]) await store.outgoingUpdate({ id: 'away' }, { ...packet, messageId });
    await store.outgoingClearMessageId({ id: 'away' }, { topic: '', payload: '', messageId: 4 });
    expect([await storedFor('away'), counts.sessionMessages, counts.sessionBytes]).toEqual([0, 0, 0]);
  });

  test('a clean session ends what waited, sent or not', async () => {
    await store.addSubscriptions({ id: 'away' }, [{ topic: 't' }]);
    const packets = [1, 2, 3].map((bytes) => message(bytes));
    for (const packet of packets) await enqueue('away', packet);
    await store.outgoingUpdate({ id: 'away' }, { ...packets[1], messageId: 5 });
    await store.cleanSubscriptions({ id: 'away' });
    expect(await storedFor('away')).toBe(0);
    expect(counts).toMatchObject({ sessionMessages: 0, sessionBytes: 0, subscriptions: 0 });
  });
});

describe('messages of QoS 2 that their sender has not released', () => {
  const sender = { id: 'c' };
  const sent = (messageId: number) => ({ ...message(900), qos: 2, messageId });

  test('are kept by their id alone; the fourth of three ends the connection, a released one makes room', async () => {
    for (const id of [1, 2, 3]) await store.incomingStorePacket(sender, sent(id));
    expect((await store.incomingGetPacket(sender, sent(1))).payload).toHaveLength(0);
    await expect(store.incomingStorePacket(sender, sent(4))).rejects.toThrow('not released');
    expect(full).toEqual(['session-full c']);
    await store.incomingDelPacket(sender, sent(1));
    await expect(store.incomingDelPacket(sender, sent(1))).rejects.toThrow('no such packet');
    await store.incomingStorePacket(sender, sent(4));
    expect(counts).toMatchObject({ sessionMessages: 3, sessionBytes: 768 });
    await store.cleanIncoming(sender);
    expect(counts).toMatchObject({ sessionMessages: 0, sessionBytes: 0 });
    await expect(store.incomingGetPacket(sender, sent(4))).rejects.toThrow('no such packet');
  });

  test('all senders share maxSessionBytes, and the same id again takes none', async () => {
    for (const id of ['a', 'b', 'c']) await store.incomingStorePacket({ id }, sent(1));
    await store.incomingStorePacket(sender, sent(1));
    await expect(store.incomingStorePacket({ id: 'd' }, sent(1))).rejects.toThrow('not released');
    expect(counts).toMatchObject({ sessionMessages: 3, sessionBytes: 768 });
  });

  test('one that is sent again is told: aedes does not publish it a second time', async () => {
    const again = sent(1);
    await expect(store.incomingGetPacket(sender, again)).rejects.toThrow('no such packet');
    await store.incomingStorePacket(sender, sent(1));
    await store.incomingGetPacket(sender, again);
    expect(repeated).toEqual([again]);
  });
});

test('subscriptions: the same topic again is none, beyond the bound the client is told of', async () => {
  await store.addSubscriptions({ id: 'a' }, [{ topic: '1' }, { topic: '2' }, { topic: '3' }]);
  await store.addSubscriptions({ id: 'a' }, [{ topic: '3' }, { topic: '3' }]);
  expect(counts.subscriptions).toBe(3);
  await expect(store.addSubscriptions({ id: 'b' }, [{ topic: '1' }, { topic: '2' }])).rejects.toThrow(/too many/);
  expect([counts.subscriptions, full]).toEqual([3, ['subscriptions-full b']]);
  await store.removeSubscriptions({ id: 'a' }, ['1', 'unknown']);
  await store.addSubscriptions({ id: 'b' }, [{ topic: '1' }, { topic: '2' }]);
  expect(counts.subscriptions).toBe(4);
});

test('one SUBSCRIBE is stored once, although aedes asks for all of it for each of its filters', async () => {
  const stored = store.addSubscriptions;
  let calls = 0;
  store.addSubscriptions = (client, subscriptions) => {
    calls++;
    return stored(client, subscriptions);
  };
  boundSessions(store, { ...BOUNDS, counts: { ...fresh }, onFull: () => undefined, onRepeated: () => undefined });
  const subscriptions = ['a', 'b', 'c'].map((topic) => ({ topic, qos: 0 }));
  await Promise.all(subscriptions.map(() => store.addSubscriptions({ id: 'c' }, subscriptions)));
  expect(calls).toBe(1);
  await store.addSubscriptions({ id: 'c' }, [...subscriptions]);
  expect(calls).toBe(2);
});

describe('what is kept without a payload', () => {
  test('a message to a session has its topic, and 256 bytes of its own', async () => {
    await enqueue('away', message(0, 'topic'));
    expect(counts).toMatchObject({ sessionMessages: 1, sessionBytes: 261 });
    await enqueue('away', message(0, 't'.repeat(800)));
    expect(counts).toMatchObject({ sessionMessages: 1, sessionDropped: 1 });
  });

  test('so has a retained one', async () => {
    await store.storeRetained(message(1, 't'.repeat(800)));
    expect([counts.retainedMessages, full]).toEqual([0, ['retained-full null']]);
  });

  test('a filter is one subscription more for each 256 bytes', async () => {
    await store.addSubscriptions({ id: 'a' }, [{ topic: 'f'.repeat(255) }, { topic: 'ä'.repeat(255) }]);
    expect(counts.subscriptions).toBe(3);
    await expect(store.addSubscriptions({ id: 'b' }, [{ topic: 'f'.repeat(256) }])).rejects.toThrow(/too many/);
    await store.removeSubscriptions({ id: 'a' }, ['ä'.repeat(255)]);
    await store.addSubscriptions({ id: 'b' }, [{ topic: 'f'.repeat(512) }]);
    expect(counts.subscriptions).toBe(4);
    for (const id of ['a', 'b']) await store.cleanSubscriptions({ id });
    expect(counts.subscriptions).toBe(0);
  });
});

test('retained messages: bounded in number and bytes; replacing and deleting make room', async () => {
  await store.storeRetained(message(40, 'a'));
  await store.storeRetained(message(50, 'b'));
  await store.storeRetained(message(1, 'c'));
  await store.storeRetained(message(70, 'a'));
  expect(counts).toMatchObject({ retainedMessages: 2, retainedBytes: 604, retainedDropped: 2 });
  await store.storeRetained(message(10, 'a'));
  await store.storeRetained(message(0, 'b'));
  await store.storeRetained(message(90, 'c'));
  expect(counts).toMatchObject({ retainedMessages: 2, retainedBytes: 614, retainedDropped: 2 });
  expect(full).toEqual(['retained-full null', 'retained-full null']);
});
