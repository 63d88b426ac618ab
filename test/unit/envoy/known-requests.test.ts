import { expect, test } from 'vitest';
import { envoy } from '../../../src/doors/envoy/generated/messages.js';
import { KnownRequests } from '../../../src/doors/envoy/ratelimit/known-requests.js';

const { RateLimitRequest } = envoy.service.ratelimit.v3;

function bytesOf(value: string): Uint8Array {
  return RateLimitRequest.encode({ domain: 'edge', descriptors: [{ entries: [{ key: 'user', value }] }] }).finish();
}

test('equal bytes are read once, others by their own; of many the oldest are forgotten, and large ones at once', () => {
  const known = new KnownRequests();
  const alice = known.read(bytesOf('alice'));
  expect(known.read(bytesOf('alice'))).toBe(alice);
  expect(known.read(bytesOf('älice')).descriptors[0]?.entries).toMatchObject([{ key: 'user', value: 'älice' }]);
  for (let at = 0; at < 8000; at++) known.read(bytesOf(`user-${at}`));
  // It was asked in the last but one generation.
  expect(known.read(bytesOf('alice'))).toBe(alice);
  for (let at = 0; at < 10_001; at++) known.read(bytesOf(`other-${at}`));
  expect(known.read(bytesOf('alice'))).not.toBe(alice);
  expect(known.read(bytesOf('alice'))).toEqual(alice);
  const large = bytesOf('x'.repeat(300));
  expect(known.read(large)).not.toBe(known.read(large));
  expect(() => known.read(Buffer.of(10, 200))).toThrow('no such message');
});
