import { describe, expect, test } from 'vitest';
import { checkPacket } from '../../../src/mqtt/packet-check.js';
import { filtersPacket, publishPacket, subscribePacket } from './wire.js';

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
    ['cut off in its midst', subscribePacket('a/b', 1).subarray(0, 8), 'malformed-packet'],
  ])('%s', (_, packet, expected) => {
    expect(looked(packet)).toBe(expected);
  });

  test('what is refused is not read to its end', () => {
    const packet = filtersPacket(100_000);
    let reads = 0;
    const watched = new Proxy(packet, {
      get(target, key) {
        if (key === 'readUInt16BE') reads++;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    expect(looked(watched, 1000)).toBe('too-many-filters');
    expect(reads).toBe(1000);
  });
});
