import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { fuzzEnvoyFrames } from '../fuzz/envoy-frames.js';

it('a million fuzzed frames of Envoy: no crash, and the heap does not grow with them', async () => {
  await fuzzEnvoyFrames(100_000, 1);
  const before = heapUsed();
  await fuzzEnvoyFrames(900_000, 2);
  // 900,000 that kept 100 bytes each would be 90 MB.
  expect(heapUsed() - before).toBeLessThan(30e6);
}, 900_000);

function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}
