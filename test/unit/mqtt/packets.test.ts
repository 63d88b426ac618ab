import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type PacketError,
  PacketSplitter,
  packetsOf,
  packetType,
  publishHead,
} from '../../../src/doors/mqtt/packets.js';
import { runs } from '../../property/seed.js';
import { connectPacket, publishPacket } from './wire.js';

describe('packets are cut out of a stream', () => {
  test('whatever pieces it arrives in', () => {
    const payloads = fc.array(fc.nat(300), { minLength: 1, maxLength: 12 });
    const cuts = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(payloads, cuts, (sizes, lengths) => {
        const packets = sizes.map((size, at) => publishPacket(`t/${at}`, Buffer.alloc(size, at), at % 3));
        const stream = Buffer.concat(packets);
        const splitter = new PacketSplitter(1024);
        const found: Buffer[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const length = lengths[turn % lengths.length];
          found.push(...packetsOf(splitter.push(stream.subarray(at, at + length))));
          at += length;
        }
        expect(found).toEqual(packets);
        expect(splitter.heldBytes).toBe(0);
      }),
      runs(50),
    );
  });

  // Fixed header 1 byte, remaining length 1 to 4 bytes of 7 bits (MQTT 3.1.1, 2.2.3).
  test.each([
    [0, 2],
    [127, 129],
    [128, 131],
    [16_383, 16_386],
    [16_384, 16_388],
    [2_097_151, 2_097_155],
    [2_097_152, 2_097_157],
  ])('remaining length %d makes %d bytes', (remaining, length) => {
    const packet = new PacketSplitter(3_000_000).push(Buffer.concat([header(remaining), Buffer.alloc(remaining + 1)]));
    expect(packet.length).toBe(length);
  });

  test('a packet that is too large is refused at its header, a length of five bytes at once', () => {
    expect(pushed(new PacketSplitter(100), header(98))).toBe(0);
    expect(pushed(new PacketSplitter(100), header(99))).toBe('packet-too-large');
    const five = Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x01]);
    expect(pushed(new PacketSplitter(100), five)).toBe('malformed-packet');
  });
});

test('a CONNECT is refused at its header beyond its own bound; what follows it may be larger', () => {
  const long = publishPacket('a', Buffer.alloc(9000), 0);
  const both = Buffer.concat([connectPacket('c'.repeat(4000)), long]);
  expect(pushed(new PacketSplitter(10_000, 4096), both)).toBeGreaterThan(13_000);
  const larger = connectPacket('c'.repeat(4096)).subarray(0, 3);
  expect(pushed(new PacketSplitter(10_000, 4096), larger)).toBe('connect-too-large');
});

describe('the head of a PUBLISH', () => {
  test.each([
    ['a/b', 0, 0],
    ['', 0, 5],
    ['grüße/ü', 1, 200],
    ['x'.repeat(300), 2, 20_000],
  ])('topic %s, QoS %d, payload of %d bytes', (topic, qos, size) => {
    const packet = publishPacket(topic, Buffer.alloc(size), qos);
    expect(packetType(packet)).toBe(3);
    expect(publishHead(packet)).toEqual({ qos, topic, payloadBytes: size });
  });

  test('is null where the topic is longer than the packet', () => {
    expect(publishHead(Buffer.from([0x30, 4, 0, 9, 97, 98]))).toBe(null);
    expect(publishHead(Buffer.from([0x30, 1, 0]))).toBe(null);
    expect(publishHead(Buffer.from([0x32, 3, 0, 1, 97]))).toBe(null);
  });
});

/** Bytes of whole packets, or why there are none. */
function pushed(splitter: PacketSplitter, bytes: Buffer): number | string {
  try {
    return splitter.push(bytes).length;
  } catch (error) {
    return (error as PacketError).reason;
  }
}

function header(remaining: number): Buffer {
  const bytes = [0x30];
  let left = remaining;
  do {
    bytes.push((left % 128) + (left >= 128 ? 128 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  return Buffer.from(bytes);
}
