import { it } from 'vitest';
import { drawn, partOf } from '../property/seed.js';
import { fuzz } from './fuzz.js';

/** Ninety times as many in test:long. */
it('fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded', async () => {
  const counts = { requests: partOf(700), rawRequests: partOf(50), documents: partOf(100), records: partOf(1400) };
  await fuzz(counts, 20_261_122 + drawn);
});
