import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DISCONNECT, PINGREQ, PUBACK, PUBLISH, SUBSCRIBE } from '../../../src/mqtt/packets.js';
import '../../property/seed.js';
import { connectionScene, settle } from './client-socket.js';
import { filtersPacket, publishPacket, subscribePacket } from './wire.js';

const A_PUBLISH = publishPacket('a/b', Buffer.from('x'), 0);
const PING = 12;

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
      { numRuns: 30 },
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

  test('what is no PUBLISH passes behind one that waits, but not before one that has not gone on', async () => {
    const { socket, passed } = await connectionScene();
    socket.push(Buffer.concat([A_PUBLISH, PINGREQ, A_PUBLISH, PINGREQ]));
    await settle();
    expect(passed).toEqual([PUBLISH, PING]);
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
    const { socket, passed } = await connectionScene();
    socket.push(Buffer.concat(Array.from({ length: 2000 }, () => PINGREQ)));
    await turn();
    expect(passed.length).toBeGreaterThan(0);
    expect(passed.length).toBeLessThanOrEqual(100);
    while (passed.length < 2000) await turn();
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
    socket.push(Buffer.concat([Buffer.from([0x40, 2, 0, 1]), PINGREQ, subscribePacket('a', 0), A_PUBLISH]));
    await settle();
    expect(passed).toEqual([PUBACK]);
    socket.readOn();
    await settle();
    expect(passed).toEqual([PUBACK, PING, SUBSCRIBE, PUBLISH]);
  });

  test('the socket is not read while a packet waits', async () => {
    const { socket, connection } = await connectionScene();
    connection.mark('groupRate');
    socket.push(A_PUBLISH);
    await settle();
    const before = socket.readableLength;
    for (let more = 0; more < 50; more++) socket.push(A_PUBLISH);
    await settle();
    expect(socket.readableLength - before).toBe(50 * A_PUBLISH.length);
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

  test('a pause shows signs of life: half of the keep-alive time after the last packet, and not before', async () => {
    const scene = await connectionScene({}, 2000);
    const { connection, passed } = scene;
    connection.mark('groupRate');
    scene.nowMs = 999;
    connection.keepAlive(scene.nowMs);
    await settle();
    expect(passed).toEqual([]);
    scene.nowMs = 1000;
    connection.keepAlive(scene.nowMs);
    await settle();
    expect(passed).toEqual([PING]);
    connection.unmark('groupRate');
    scene.nowMs = 9000;
    connection.keepAlive(scene.nowMs);
    await settle();
    expect(passed).toEqual([PING]);
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
