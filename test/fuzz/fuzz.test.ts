import { it } from 'vitest';
import { fuzz } from './fuzz.js';

it('10,000 fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded', async () => {
  await fuzz({ requests: 3000, rawRequests: 200, documents: 800, records: 6000 }, 20_261_122);
});
