import { it } from 'vitest';
import { drawn, partOf } from '../property/seed.js';
import { fuzz } from './fuzz.js';

/** Forty times as many in test:long. */
it('fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded', async () => {
  const counts = { requests: partOf(1500), rawRequests: partOf(100), documents: partOf(400), records: partOf(3000) };
  await fuzz(counts, 20_261_122 + drawn);
});
