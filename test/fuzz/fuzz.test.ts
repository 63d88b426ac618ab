import { it } from 'vitest';
import { fuzz } from './fuzz.js';

/** A million in test:long. */
it('5,000 fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded', async () => {
  await fuzz({ requests: 1500, rawRequests: 100, documents: 400, records: 3000 }, 20_261_122);
});
