import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HeldBytes } from '../../../src/doors/mqtt/held-bytes.js';
import { DISCONNECT, PINGREQ, PUBACK, PUBLISH, PUBREL, SUBSCRIBE } from '../../../src/doors/mqtt/packets.js';
import { runs } from '../../property/seed.js';
import { connectionScene, settle } from './client-socket.js';
import { filtersPacket, publishPacket, subscribePacket } from './wire.js';

const A_PUBLISH = publishPacket('a/b', Buffer.from('x'), 0);
const PING = Buffer.from([PINGREQ << 4, 0]);
const PINGRESP = 13;

/** PIP-322, "Fixing the inconsistency of multiple levels of throttling": five conditions at once. */
const FIVE = ['nodeRate', 'topicRate', 'groupRate', 'inFlightPerConnection', 'ioThreadBytes'] as const;

describe('reasons to hold a connection', () => {
  test('five come and go in random order: PUBLISH passes exactly when none holds', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constantFrom('mark' as const, 'unmark' as const), reason: fc.constantFrom(...FIVE) }),
        fc.constant({ kind: 'publish' as const, reason: FIVE[0] }),
      ),
      { minLength: 1, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const { socket, connection, passed } = await connectionScene();
        const holders = new Map<string, number>();
        let sent = 0;
        let expected = 0;
        for (const { kind, reason } of sequence) {
          const count = holders.get(reason) ?? 0;
          const isCounted = reason === 'topicRate' || reason === 'groupRate';
          if (kind === 'publish') {
            sent++;
            socket.push(A_PUBLISH);
          } else if (kind === 'mark') {
            connection.mark(reason);
            holders.set(reason, isCounted ? count + 1 : 1);
          } else {
            connection.unmark(reason);
            holders.set(reason, Math.max(0, count - 1));
          }
          if ([...holders.values()].every((held) => held === 0)) expected = sent;
          // As the publish gate does: each is decided, and the next may come.
          for (let before = -1; before !== passed.length; ) {
            before = passed.length;
            connection.decided();
            await settle();
          }
          expect(passed.length, JSON.stringify(sequence)).toBe(expected);
        }
        connection.destroy();
      }),
      runs(30),
    );
  });

  test('a PUBLISH whose turn has come waits for the other reasons', async () => {
    const { connection } = await connectionScene();
    let passes = 0;
    connection.mark('groupRate');
    connection.mark('ioThreadBytes');
    connection.whenReading(() => passes++);
    connection.unmark('groupRate');
    expect(passes).toBe(0);
    connection.unmark('ioThreadBytes');
    expect(passes).toBe(1);
  });
});

describe('packets go to aedes one by one', () => {
  test('at most one PUBLISH is undecided, although all arrive in one chunk', async () => {
    const { socket, connection, passed } = await connectionScene();
    socket.push(Buffer.concat([A_PUBLISH, A_PUBLISH, A_PUBLISH]));
    await settle();
    expect(passed).toEqual([PUBLISH]);
    connection.decided();
    await settle();
    expect(passed).toEqual([PUBLISH, PUBLISH]);
  });

  test('pings and acknowledgements overtake a PUBLISH that waits, nothing else does', async () => {
    const { socket, passed } = await connectionScene();
    const answers = [PUBACK, PUBREL].map((type) => Buffer.from([(type << 4) | (type === PUBREL ? 2 : 0), 2, 0, 1]));
    socket.push(Buffer.concat([A_PUBLISH, PING, A_PUBLISH, subscribePacket('a', 0), ...answers, PING]));
    await settle();
    expect(passed.toSorted()).toEqual([PUBLISH, PUBACK, PUBREL]);
    expect(socket.answers).toEqual([PINGRESP, PINGRESP]);
  });

  test('a SUBSCRIBE waits until the client has got the retained messages of the one before, and is held', async () => {
    const counts = { heldBytes: 0 };
    const rules = { held: new HeldBytes(1_000_000, counts) };
    const { socket, connection, passed } = await connectionScene(rules, 0, undefined, false);
    const [first, second] = [filtersPacket(3), filtersPacket(5)];
    socket.push(Buffer.concat([first, A_PUBLISH, second, PING]));
    await settle();
    connection.decided();
    await settle();
    expect([passed, socket.answers]).toEqual([[SUBSCRIBE, PUBLISH], [PINGRESP]]);
    expect(counts.heldBytes).toBeGreaterThanOrEqual(first.length + second.length);
    connection.subscribed();
    await settle();
    expect(passed).toEqual([SUBSCRIBE, PUBLISH, SUBSCRIBE]);
    connection.subscribed();
    await settle();
    expect(counts.heldBytes).toBe(0);
  });

  test('a SUBSCRIBE of a client that has left waits for no retained messages, and nothing waits behind it', async () => {
    const { socket, connection, passed } = await connectionScene({}, 0, undefined, false);
    const bytes = [subscribePacket('a', 0), subscribePacket('b', 0), A_PUBLISH, subscribePacket('c', 0)];
    socket.push(Buffer.concat([...bytes, Buffer.from([DISCONNECT << 4, 0])]));
    await settle();
    expect([passed, connection.hasLeft]).toEqual([[SUBSCRIBE], false]);
    socket.push(null);
    await settle();
    expect([passed, connection.hasLeft]).toEqual([[SUBSCRIBE, SUBSCRIBE, PUBLISH, SUBSCRIBE], true]);
    connection.decided();
    await settle();
    expect(passed).toEqual([SUBSCRIBE, SUBSCRIBE, PUBLISH, SUBSCRIBE, DISCONNECT]);
  });

  test('DISCONNECT waits for the PUBLISH before it: its end would take that with it', async () => {
    const { socket, connection, passed } = await connectionScene();
    socket.push(Buffer.concat([A_PUBLISH, Buffer.from([0xe0, 0])]));
    await settle();
    expect(passed).toEqual([PUBLISH]);
    connection.decided();
    await settle();
    expect(passed).toEqual([PUBLISH, DISCONNECT]);
  });

  test('a flood of what is not throttled leaves the event loop to others between a few packets', async () => {
    const { socket } = await connectionScene();
    socket.push(Buffer.concat(Array.from({ length: 2000 }, () => PING)));
    await turn();
    expect(socket.answers.length).toBeGreaterThan(0);
    expect(socket.answers.length).toBeLessThanOrEqual(100);
    while (socket.answers.length < 2000) await turn();
  });

  test('filters count as packets do: as many of them go on in a turn, be they in one packet or in sixteen', async () => {
    for (const [perPacket, most] of [
      [1, 16],
      [4, 4],
      [20, 1],
    ] as const) {
      const { socket, connection, passed } = await connectionScene();
      socket.push(Buffer.concat(Array.from({ length: 40 }, () => filtersPacket(perPacket))));
      let before = 0;
      let mostInTurn = 0;
      while (passed.length < 40) {
        await turn();
        mostInTurn = Math.max(mostInTurn, passed.length - before);
        before = passed.length;
      }
      // Two turns of the pacer may fall between two looks.
      expect(mostInTurn, `${perPacket} per packet`).toBeLessThanOrEqual(2 * most);
      connection.destroy();
    }
  });

  test('nothing of a client that does not read its answers is answered, until it reads', async () => {
    const { socket, connection, passed } = await connectionScene();
    socket.takes = false;
    connection.send(Buffer.alloc(300_000));
    socket.push(Buffer.concat([Buffer.from([0x40, 2, 0, 1]), PING, subscribePacket('a', 0), A_PUBLISH]));
    await settle();
    expect(passed).toEqual([PUBACK]);
    socket.readOn();
    await settle();
    expect(passed).toEqual([PUBACK, SUBSCRIBE, PUBLISH]);
    expect(socket.answers.at(-1)).toBe(PINGRESP);
  });

  test('while it waits, a client is read ahead up to a bound, and its pings are answered until then', async () => {
    const { socket, connection, passed } = await connectionScene({
      maxPacketBytes: 100_000,
      held: new HeldBytes(64 * 1_048_576, { heldBytes: 0 }),
    });
    const publish = publishPacket('a/b', Buffer.alloc(50_000), 0);
    connection.mark('groupRate');
    for (let sent = 0; sent < 5; sent++) {
      socket.push(Buffer.concat([publish, PING]));
      await settle();
    }
    expect([passed, socket.answers.length]).toEqual([[], 5]);
    for (let sent = 0; sent < 60; sent++) {
      socket.push(Buffer.concat([publish, PING]));
      await settle();
    }
    // 32 MiB / 17 = 1,973,790 bytes, exceeded by one read at most.
    expect(socket.answers.length).toBe(Math.ceil(1_973_790 / (publish.length + 256)));
    expect(socket.readableLength).toBe((65 - socket.answers.length) * (publish.length + 2));
  });

  test('SUBSCRIBE waits for its own rate, and holds back what is behind it', async () => {
    const waits = [15, 0];
    const { socket, connection, passed } = await connectionScene({ subscribeWaitMs: () => waits.shift() ?? 0 });
    socket.push(Buffer.concat([subscribePacket('a', 0), A_PUBLISH]));
    await settle();
    expect(passed).toEqual([]);
    expect(connection.throttle.countOf('subscribeRate')).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(passed).toEqual([SUBSCRIBE, PUBLISH]);
    expect(connection.throttle.isThrottled).toBe(false);
  });

  test('nobody is told anything unasked, however long it waits, and who keeps its word stays', async () => {
    const scene = await connectionScene({}, 2000);
    const { connection, socket, passed } = scene;
    connection.mark('groupRate');
    socket.push(A_PUBLISH);
    for (let ping = 1; ping <= 30; ping++) {
      scene.nowMs += 1000;
      connection.watch(scene.nowMs);
      await settle();
      expect(socket.answers.length).toBe(ping - 1);
      socket.push(PING);
      await settle();
      expect(socket.answers.length).toBe(ping);
    }
    expect([passed, connection.destroyed]).toEqual([[], false]);
  });

  test('who is silent for one and a half of its keep-alive is ended, waiting or not; not who is answered or not read', async () => {
    for (const held of [false, true]) {
      const reasons: (string | null)[] = [];
      const scene = await connectionScene({ onEnded: (_, why) => reasons.push(why) }, 2000);
      if (held) scene.connection.mark('groupRate');
      for (const nowMs of [1, 3001, 3002]) scene.connection.watch(nowMs);
      expect(reasons).toEqual(['keep-alive']);
    }
    const answered = await connectionScene({}, 2000);
    for (const nowMs of [1, 2500, 5000, 7500]) {
      answered.nowMs = nowMs;
      answered.connection.decided();
      answered.connection.watch(nowMs);
    }
    expect(answered.connection.destroyed).toBe(false);
    const full = await connectionScene({ maxPacketBytes: 1_000_000 }, 2000);
    full.connection.mark('groupRate');
    for (let sent = 0; sent < 2; sent++) full.socket.push(publishPacket('a', Buffer.alloc(300_000), 0));
    await settle();
    full.socket.push(A_PUBLISH.subarray(0, 5));
    full.socket.push(Buffer.alloc(100));
    for (const nowMs of [1, 5000, 10_000]) full.connection.watch(nowMs);
    expect(full.connection.destroyed).toBe(false);
  });

  test('a client that says all and leaves is heard out', async () => {
    const { socket, connection, passed } = await connectionScene();
    let ended = false;
    connection.on('end', () => {
      ended = true;
    });
    connection.mark('groupRate');
    socket.push(Buffer.concat([A_PUBLISH, A_PUBLISH]));
    socket.push(null);
    await settle();
    connection.unmark('groupRate');
    await settle();
    connection.decided();
    await settle();
    expect([passed, ended]).toEqual([[PUBLISH, PUBLISH], false]);
    connection.decided();
    await settle();
    expect(ended).toBe(true);
  });

  test.each([
    ['packet-too-large', Buffer.from([0x30, 0xff, 0x7f])],
    ['malformed-packet', Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff])],
    ['too-many-filters', filtersPacket(21)],
    ['too-many-filters', filtersPacket(21, 'unsubscribe')],
    ['malformed-text', publishPacket('a\0b', Buffer.from('x'), 0)],
    ['packet-id-zero', Buffer.from([0x32, 5, 0, 1, 97, 0, 0])],
  ])('%s ends the connection, and aedes sees nothing of it', async (reason, bytes) => {
    const reasons: (string | null)[] = [];
    const { socket, connection, passed } = await connectionScene({ onEnded: (_, why) => reasons.push(why) });
    socket.push(bytes);
    await settle();
    expect([reasons, passed]).toEqual([[reason], []]);
    expect([connection.destroyed, socket.destroyed]).toEqual([true, true]);
  });
});
