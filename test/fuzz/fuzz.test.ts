import { it } from 'vitest';
import { fuzz } from './fuzz.js';

it('20,000 fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded', async () => {
  await fuzz({ requests: 6000, rawRequests: 400, documents: 1600, records: 12_000 }, 20_261_122);
});
