import { it } from 'vitest';
import { drawn, partOf } from '../property/seed.js';
import { fuzz } from './fuzz.js';

/** A hundred and eighty times as many in test:long. */
it('fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded', async () => {
  const counts = { requests: partOf(350), rawRequests: partOf(25), documents: partOf(50), records: partOf(700) };
  await fuzz(counts, 20_261_122 + drawn);
});
