import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MQTT_METRICS } from '../../src/doors/telemetry/metric-table.js';
import { type BrokerProcess, Brokers } from '../mqtt/broker-process.js';
import { connectPacket, filtersPacket, publishPacket, subscribesPacket } from '../unit/mqtt/wire.js';

const GROUPS = {
  blocked: { quota: { publish: { messagesPerSecond: 0 } } },
  steady: { quota: { publish: { messagesPerSecond: 200 } } },
  mute: { quota: { dispatch: { messagesPerSecond: 0 } } },
  thin: { quota: { dispatch: { messagesPerSecond: 100 } } },
  small: { quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: '10k' } }, maxRequest: { bytes: 1000 } },
};
const MQTT = {
  rules: [{ topic: '{namespace}/#', group: '{namespace}' }],
  maxPacketBytes: 100_000,
  connectsPerSecond: 50,
  subscribesPerSecond: 10,
};

const CONSTANTS = { maxQueuedMessages: 50, notReadingMs: 500 };

let cluster: Brokers;
let broker: BrokerProcess;
const clients: MqttClient[] = [];

beforeAll(async () => {
  [cluster, broker] = (await Brokers.start({ topic: 'memory', groups: GROUPS, mqtt: MQTT, constants: CONSTANTS }, [
    'a',
  ])) as [Brokers, BrokerProcess];
});

afterAll(async () => {
  for (const client of clients) client.end(true);
  await cluster?.stop();
});

async function client(clientId: string, keepalive = 60): Promise<MqttClient> {
  const one = await mqtt.connectAsync(broker.mqttUrl, { clientId, keepalive, reconnectPeriod: 0 });
  one.on('error', () => undefined);
  clients.push(one);
  return one;
}

function rawSocket(): Promise<Socket> {
  const { hostname, port } = new URL(broker.mqttUrl);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => resolve(socket));
    socket.on('error', () => undefined);
  });
}

async function until(holds: () => boolean | Promise<boolean>, timeoutMs = 8000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it never came to that');
    await sleep(20);
  }
}

describe('a publisher over its quota', () => {
  test.concurrent.each([0, 1, 2] as const)(
    'is held for longer than its keep-alive at QoS %d; neither side takes the other for dead',
    async (qos) => {
      const publisher = await client(`held-${qos}`, 1);
      let closed = false;
      publisher.on('close', () => {
        closed = true;
      });
      let answered = 0;
      for (let sent = 0; sent < 60; sent++)
        publisher.publish('blocked/x', 'x', { qos }, (error) => error ?? answered++);
      const raw = await rawSocket();
      const got: Buffer[] = [];
      raw.on('data', (chunk) => got.push(chunk));
      raw.write(Buffer.concat([connectPacket(`raw-${qos}`, 1), publishPacket('blocked/x', Buffer.from('x'), qos)]));
      for (let ping = 0; ping < 5; ping++) {
        await sleep(700);
        raw.write(Buffer.from([0xc0, 0]));
      }
      await sleep(100);
      // CONNACK, and an answer for each ping: nothing that was not asked for.
      expect(Buffer.concat(got).toString('hex')).toBe(`20020000${'d000'.repeat(5)}`);
      // mqtt.js calls back for QoS 0 once it has written.
      expect([closed, answered]).toEqual([false, qos === 0 ? 60 : 0]);
      expect((await broker.status()).throttledBy.groupRate).toBeGreaterThanOrEqual(2);
      publisher.end(true);
      raw.resetAndDestroy();
    },
  );

  test('is pushed back over TCP: what it has not sent yet stays with it', async () => {
    const socket = await rawSocket();
    socket.write(connectPacket('flood'));
    await sleep(50);
    const packet = publishPacket('blocked/x', Buffer.alloc(50_000), 0);
    for (let sent = 0; sent < 400; sent++) socket.write(packet);
    await sleep(300);
    const { heldBytes } = await broker.status();
    // What is read ahead, exceeded by one read, and what the socket has read before us.
    expect(heldBytes).toBeLessThan(1_973_790 + 3 * 65_536);
    expect(socket.writableLength).toBeGreaterThan(10_000_000);
    socket.destroy();
  });

  test('others of the same broker are not', async () => {
    const blocked = await client('in-line');
    blocked.publish('blocked/x', 'x', { qos: 1 });
    const other = await client('other');
    const begin = performance.now();
    for (let sent = 0; sent < 20; sent++) await other.publishAsync('free/x', 'x', { qos: 1 });
    expect(performance.now() - begin).toBeLessThan(1500);
    blocked.end(true);
  });

  test('says all and leaves: everything is published, in order, at the rate', async () => {
    const subscriber = await client('listener');
    await subscriber.subscribeAsync('steady/#', { qos: 0 });
    const got: number[] = [];
    subscriber.on('message', (_, payload) => got.push(Number(payload)));
    const publisher = await client('says-all');
    const begin = performance.now();
    for (let sent = 0; sent < 300; sent++) publisher.publish('steady/x', `${sent}`, { qos: 0 });
    publisher.end();
    await until(() => got.length === 300);
    expect(got).toEqual(Array.from({ length: 300 }, (_, at) => at));
    // 300 at 200/s, of which the bucket gives 50 at once at most (a quarter second).
    expect(performance.now() - begin).toBeGreaterThan(1100);
  });
});

describe('dispatch', () => {
  test('QoS 1 holds its publishers back, and nothing is lost', async () => {
    const subscriber = await client('thin-1');
    await subscriber.subscribeAsync('thin/#', { qos: 1 });
    const got: number[] = [];
    subscriber.on('message', (_, payload) => got.push(Number(payload)));
    const publisher = await client('many-1');
    let acknowledged = 0;
    for (let sent = 0; sent < 250; sent++) {
      publisher.publish('thin/x', `${sent}`, { qos: 1 }, () => acknowledged++);
    }
    await until(async () => (await broker.status()).throttledBy.subscriberBehind > 0);
    expect(acknowledged).toBeLessThan(200);
    await until(() => got.length === 250);
    expect(got).toEqual(Array.from({ length: 250 }, (_, at) => at));
    await subscriber.endAsync();
  });

  test('who disconnects while its retained messages wait has left in order: what it sent counts, its will does not', async () => {
    const other = await client('reads-wills');
    const got: string[] = [];
    other.on('message', (topic) => got.push(topic));
    await other.subscribeAsync('free/left/#', { qos: 1 });
    for (const at of [1, 2]) await other.publishAsync(`mute/${at}`, 'x', { qos: 1, retain: true });
    const before = await broker.status();
    const socket = await rawSocket();
    socket.resume();
    const all = [{ topic: 'mute/#', qos: 1 as const }];
    const bytes = [connectPacket('leaves', 0, true, undefined, 'free/left/will'), subscribesPacket(all)];
    bytes.push(subscribesPacket(all), publishPacket('free/left/message', Buffer.from('x'), 1));
    socket.end(Buffer.concat([...bytes, Buffer.from([0xe0, 0])]));
    await until(() => got.length > 0);
    await until(async () => (await broker.status()).connections === before.connections);
    await other.publishAsync('free/left/last', 'x', { qos: 1 });
    await until(() => got.includes('free/left/last'));
    expect(got).toEqual(['free/left/message', 'free/left/last']);
    expect((await broker.status()).disconnects).toEqual(before.disconnects);
  });
});

describe('rates of CONNECT and SUBSCRIBE', () => {
  test('a client that reconnects 1,000 times is refused beyond the rate, and the others notice nothing', async () => {
    const other = await client('bystander');
    const before = await broker.status();
    let slowestMs = 0;
    for (let batch = 0; batch < 10; batch++) {
      const begin = performance.now();
      const sockets = await Promise.all(Array.from({ length: 100 }, rawSocket));
      // A client that hangs up before the answer may not have been looked at yet, and then is no connect.
      const answers = sockets.map(
        (socket) => new Promise((resolve) => socket.once('data', resolve).once('close', resolve)),
      );
      for (const socket of sockets) socket.write(connectPacket('again'));
      await other.publishAsync('free/x', 'x', { qos: 1 });
      slowestMs = Math.max(slowestMs, performance.now() - begin);
      await Promise.all(answers);
      for (const socket of sockets) socket.destroy();
    }
    await until(async () => (await broker.status()).connections <= clients.length);
    const { connects } = await broker.status();
    expect(connects.refused - before.connects.refused).toBeGreaterThan(200);
    expect(slowestMs).toBeLessThan(2000);
    await sleep(1100);
  });
});

describe('QoS 2', () => {
  test('more at once than aedes would keep are all taken, on one connection', async () => {
    const one = await client('hasty');
    await Promise.all(Array.from({ length: 1100 }, () => one.publishAsync('free/x', 'x', { qos: 2 })));
    expect(one.connected).toBe(true);
  });

  test('a message that is sent again before it is released is not waited for', async () => {
    const before = (await broker.status()).publishes.unlimited;
    const socket = await rawSocket();
    socket.resume();
    socket.write(connectPacket('again'));
    await sleep(50);
    for (let at = 0; at < 20; at++) socket.write(publishPacket('free/x', Buffer.from('x'), 2));
    await until(async () => (await broker.status()).publishes.unlimited === before + 20);
    await until(async () => (await broker.status()).pendingPublishes === 0);
    socket.destroy();
  });
});

describe('bad input', () => {
  test.each<[string, Buffer, string]>([
    ['no MQTT', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'malformed-packet'],
    ['a length of five bytes', Buffer.from([0x30, 255, 255, 255, 255, 1]), 'malformed-packet'],
    ['a packet that is too large', publishPacket('a', Buffer.alloc(100_001), 0), 'packet-too-large'],
    ['a message larger than the group allows', publishPacket('small/x', Buffer.alloc(1001), 0), 'publish-rejected'],
    ['a reserved topic', publishPacket('$SYS/x', Buffer.from('x'), 0), 'publish-rejected'],
    ['a second CONNECT', connectPacket('bad'), 'protocol-error'],
    ['a SUBSCRIBE of more filters than may be', filtersPacket(1001), 'too-many-filters'],
    ['a topic with U+0000', publishPacket('free/\0', Buffer.from('x'), 0), 'malformed-text'],
    ['a PUBLISH of QoS 1 with the packet id 0', Buffer.from([0x32, 5, 0, 1, 97, 0, 0]), 'packet-id-zero'],
    ['a CONNACK', Buffer.from([0x20, 2, 0, 0]), 'protocol-error'],
    ['a SUBACK', Buffer.from([0x90, 3, 0, 1, 0]), 'protocol-error'],
    ['a PINGRESP', Buffer.from([0xd0, 0]), 'protocol-error'],
    ['a PUBLISH of QoS 3', Buffer.from([0x36, 5, 0, 1, 97, 0, 1]), 'protocol-error'],
  ])('%s ends that connection, counted as such', async (_, bytes, reason) => {
    const before = (await broker.status()).disconnects[reason] ?? 0;
    const socket = await rawSocket();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    if (bytes[0] !== 0x47) socket.write(connectPacket('bad'));
    await sleep(50);
    socket.write(bytes);
    await closed;
    await until(async () => ((await broker.status()).disconnects[reason] ?? 0) === before + 1);
  });

  test('a session without a client id is refused with return code 2, a clean client without one gets in', async () => {
    for (const [flags, code] of [
      [0, 2],
      [2, 0],
    ] as const) {
      const socket = await rawSocket();
      const answer = new Promise<Buffer>((resolve) => socket.once('data', resolve));
      socket.write(Buffer.from([0x10, 12, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, flags, 0, 60, 0, 0]));
      expect([...(await answer)]).toEqual([0x20, 2, 0, code]);
      socket.destroy();
    }
  });

  test.each(['$SYS/#', '$share/some/free/x', '$queue/free/x'])(
    'a SUBSCRIBE to %s is refused, for nothing of it would come or others would be seen',
    async (filter) => {
      const socket = await rawSocket();
      const answers: number[] = [];
      socket.on('data', (bytes) => answers.push(...bytes));
      const topics = [filter, 'free/y'].map((topic) => ({ topic, qos: 0 as const }));
      socket.write(Buffer.concat([connectPacket('reserved'), subscribesPacket(topics)]));
      await until(() => answers.length >= 10);
      expect(answers).toEqual([0x20, 2, 0, 0, 0x90, 4, 0, 1, 128, 0]);
      socket.destroy();
    },
  );

  test('an empty payload is one message and 0 bytes', async () => {
    const one = await client('empty');
    await one.publishAsync('small/x', '', { qos: 1 });
    const answer = await fetch(`${broker.httpUrl}/v1/groups/small`);
    expect(answer.status).toBe(200);
    one.end(true);
  });

  test('random bytes after a CONNECT never take the broker down', async () => {
    let seed = 7;
    for (let round = 0; round < 30; round++) {
      const socket = await rawSocket();
      const bytes = Buffer.alloc(200);
      for (let at = 0; at < bytes.length; at++) {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        bytes[at] = seed >> 16;
      }
      socket.write(Buffer.concat([connectPacket(`junk-${round}`), bytes]));
      await sleep(5);
      socket.destroy();
    }
    expect(broker.child.isRunning).toBe(true);
    const metrics = await broker.metrics();
    for (const name of Object.keys(MQTT_METRICS)) expect(metrics).toContain(`\n# TYPE ${name} `);
  });
});
