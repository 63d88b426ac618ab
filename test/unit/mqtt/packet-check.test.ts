import fc from 'fast-check';
import { generate } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { checkPacket } from '../../../src/doors/mqtt/packet-check.js';
import { runs } from '../../property/seed.js';
import { connectPacket, filtersPacket, publishPacket, subscribePacket } from './wire.js';

/** What becomes of a packet: how much work it is, or why it ends its connection. */
function looked(packet: Buffer, maxFilters = 1000): number | string {
  try {
    return checkPacket(packet, maxFilters);
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe('filters of one packet', () => {
  test.each<[string, Buffer, number | string]>([
    ['one', subscribePacket('a/b', 1), 1],
    ['as many as may be', filtersPacket(1000), 1000],
    ['one more', filtersPacket(1001), 'too-many-filters'],
    ['as many to end', filtersPacket(1000, 'unsubscribe'), 1000],
    ['one more to end', filtersPacket(1001, 'unsubscribe'), 'too-many-filters'],
    ['none of a PUBLISH', publishPacket('a', Buffer.alloc(5000), 1), 1],
    ['none at all', Buffer.from([0x82, 2, 0, 1]), 'protocol-error'],
    ['none at all to end', Buffer.from([0xa2, 2, 0, 1]), 'protocol-error'],
    ['cut off in its midst', subscribePacket('a/b', 1).subarray(0, 8), 'malformed-packet'],
  ])('%s', (_, packet, expected) => {
    expect(looked(packet)).toBe(expected);
  });

  test('what is refused is not read to its end', () => {
    const packet = filtersPacket(5000);
    let reads = 0;
    const watched = new Proxy(packet, {
      get(target, key) {
        if (key === 'readUInt16BE') reads++;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    expect(looked(watched, 1000)).toBe('too-many-filters');
    // Their lengths, and the packet id.
    expect(reads).toBe(1001);
  });
});

const NOT_UTF8 = Buffer.from([0xc3, 0x28]);
/** U+D800, which UTF-8 does not have. */
const SURROGATE = Buffer.from([0xed, 0xa0, 0x80]);
const NUL = Buffer.from('a\0');

/** With a string of the packet changed for other bytes of the same length. */
function changed(packet: Buffer, from: string, to: Buffer): Buffer {
  const bytes = Buffer.from(packet);
  to.copy(bytes, bytes.indexOf(from.padEnd(to.length)));
  return bytes;
}

function connectWith(fields: { clientId?: string; topic?: string; username?: string; password?: Buffer }): Buffer {
  const { clientId = 'sensor', topic = 'will/of', ...rest } = fields;
  const will = { topic, payload: Buffer.from([0, 0xc3, 0x28]), qos: 0 as const, retain: false };
  const protocol = { protocolId: 'MQTT', protocolVersion: 4, clean: true, keepalive: 10 } as const;
  return generate({ cmd: 'connect', clientId, will, ...protocol, ...rest });
}

describe('strings (MQTT 3.1.1, 1.5.3)', () => {
  const user = { username: 'user', password: Buffer.from([0, 0xff]) };
  test.each<[string, Buffer, number | string]>([
    ['any that there is', publishPacket('ä/€/😀/ ', Buffer.from([0, 0xff]), 0), 1],
    ['the BOM is a character', publishPacket('\uFEFFa', Buffer.alloc(0), 0), 1],
    ['payloads, wills and passwords are bytes', connectWith(user), 1],
    ['a topic that is no UTF-8', changed(publishPacket('topic', Buffer.alloc(0), 1), 'to', NOT_UTF8), 'malformed-text'],
    [
      'a topic with a surrogate',
      changed(publishPacket('topic', Buffer.alloc(0), 0), 'top', SURROGATE),
      'malformed-text',
    ],
    ['a topic with U+0000', publishPacket('a\0b', Buffer.alloc(0), 0), 'malformed-text'],
    ['a filter with U+0000', subscribePacket('a\0b', 0), 'malformed-text'],
    ['the last of many filters', changed(filtersPacket(100), 'a/99', NOT_UTF8), 'malformed-text'],
    ['one to end', changed(filtersPacket(3, 'unsubscribe'), 'a/1', NOT_UTF8), 'malformed-text'],
    ['a client id', connectPacket('a\0b'), 'malformed-text'],
    ['a client id that is no UTF-8', changed(connectWith({}), 'se', NOT_UTF8), 'malformed-text'],
    ['the topic of a will', changed(connectWith({}), 'wi', NUL), 'malformed-text'],
    ['a username', changed(connectWith(user), 'us', NOT_UTF8), 'malformed-text'],
    ['a CONNECT cut off in its midst', connectWith({}).subarray(0, 20), 'malformed-packet'],
  ])('%s', (_, packet, expected) => {
    expect(looked(packet)).toBe(expected);
  });

  test.each<[string, number, string, string, number | string]>([
    ['a will of QoS 2, retained', 0x36, 'sensor', 'will/of', 1],
    [
      'a will of QoS 3, which every subscriber would have to end its connection for',
      0x1e,
      'sensor',
      'will/of',
      'malformed-packet',
    ],
    ['QoS of a will without a will', 0x0a, 'sensor', '', 'malformed-packet'],
    ['retained, without a will', 0x22, 'sensor', '', 'malformed-packet'],
    ['the topic of a will with a wildcard', 0x06, 'sensor', 'a/#', 'protocol-error'],
    ['a will without a topic', 0x06, 'sensor', '', 'protocol-error'],
  ])('flags of a CONNECT: %s', (_, flags, clientId, topic, expected) => {
    const string = (text: string) => [0, text.length, ...Buffer.from(text)];
    const will = (flags & 0x04) === 0 ? [] : [...string(topic), ...string('x')];
    const rest = [...string('MQTT'), 4, flags, 0, 60, ...string(clientId), ...will];
    expect(looked(Buffer.from([0x10, rest.length, ...rest]))).toBe(expected);
  });

  test('MQTT 5 has other fields: aedes answers that it does not know it', () => {
    const five = generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clientId: 'c',
      clean: true,
      keepalive: 1,
      properties: { sessionExpiryInterval: 7 },
    });
    expect(looked(five)).toBe(1);
  });

  test('whatever a client says in order passes', () => {
    const text = fc.string({ unit: fc.constantFrom(...'a/$ä€\uFEFF\u0001\uFFFF😀'), minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(text, text, fc.nat(2), fc.uint8Array(), (topic, clientId, qos, payload) => {
        expect(looked(publishPacket(topic, Buffer.from(payload), qos))).toBe(1);
        expect(looked(subscribePacket(topic, qos as 0 | 1 | 2))).toBe(1);
        expect(looked(connectWith({ clientId, topic, username: clientId }))).toBe(1);
      }),
      runs(30),
    );
  });
});

describe('wildcards (MQTT 3.1.1, 4.7.1)', () => {
  test.each(['+', '#', '/', 'a/+', '+/b', 'a/+/#', '/+', '+/', 'a/#', '/#', '//'])('a filter %s', (filter) => {
    expect(looked(subscribePacket(filter, 1))).toBe(1);
  });

  test.each(['a+', '+a', '/+a', 'x/+a', 'x/a+', 'a+/b', '#a', 'a#', '#/a', 'a/#/b', '++', '+#', '##'])(
    'no filter %s',
    (filter) => expect(looked(subscribePacket(filter, 1))).toBe('protocol-error'),
  );
});

describe('packet ids (MQTT 3.1.1, 2.3.1)', () => {
  test.each<[string, number[], number | string]>([
    ['a PUBLISH of QoS 0 has none', [0x30, 5, 0, 1, 97, 0, 0], 1],
    ['a PUBLISH of QoS 1', [0x32, 5, 0, 1, 97, 0, 0], 'packet-id-zero'],
    ['a PUBLISH of QoS 2', [0x34, 5, 0, 1, 97, 0, 0], 'packet-id-zero'],
    ['a PUBACK', [0x40, 2, 0, 0], 'packet-id-zero'],
    ['a PUBREC', [0x50, 2, 0, 0], 'packet-id-zero'],
    ['a PUBREL', [0x62, 2, 0, 0], 'packet-id-zero'],
    ['a PUBCOMP', [0x70, 2, 0, 0], 'packet-id-zero'],
    ['a SUBSCRIBE', [0x82, 6, 0, 0, 0, 1, 97, 0], 'packet-id-zero'],
    ['an UNSUBSCRIBE', [0xa2, 5, 0, 0, 0, 1, 97], 'packet-id-zero'],
    ['the largest', [0x40, 2, 255, 255], 1],
    ['none where there must be one', [0x40, 0], 'malformed-packet'],
  ])('%s', (_, bytes, expected) => {
    expect(looked(Buffer.from(bytes))).toBe(expected);
  });
});

describe('what no client may send (MQTT 3.1.1, table 2.1)', () => {
  const types: readonly (readonly [string, number])[] = [
    ['reserved', 0],
    ['CONNACK', 2],
    ['SUBACK', 9],
    ['UNSUBACK', 11],
    ['PINGRESP', 13],
    ['AUTH', 15],
  ];
  test.each(types)('%s', (_, type) => {
    expect(looked(Buffer.from([type << 4, 2, 0, 0]))).toBe('protocol-error');
    expect(looked(Buffer.from([type << 4, 0]))).toBe('protocol-error');
  });

  test.each([['PINGREQ', 12] as const, ['DISCONNECT', 14] as const])('but %s', (_, type) => {
    expect(looked(Buffer.from([type << 4, 0]))).toBe(1);
  });
});
