import { it } from 'vitest';
import { drawn, partOf } from '../property/seed.js';
import { fuzzEnvoyFrames } from './envoy-frames.js';

/** A hundred times as many in test:long. */
it('fuzzed frames and descriptors of Envoy: answered or refused, and nothing stays held', async () => {
  await fuzzEnvoyFrames(partOf(10_000), 20_261_130 + drawn);
});
