import { it } from 'vitest';
import { fuzz } from '../fuzz/fuzz.js';

it('1,000,000 fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded', async () => {
  const counts = { requests: 280_000, rawRequests: 20_000, documents: 40_000, records: 660_000 };
  await fuzz(counts, Number(process.env.QUOTAMESH_TEST_SEED ?? 1));
}, 3_600_000);
