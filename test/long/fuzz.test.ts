import { it } from 'vitest';
import { fuzz } from '../fuzz/fuzz.js';

/** `FUZZED=1000000` at night. */
const FUZZED = Number(process.env.FUZZED ?? 200_000);

it(`${FUZZED} fuzzed requests, documents and records: no crash, no defect, no changed share, memory bounded`, async () => {
  const part = (ratio: number) => Math.ceil(ratio * FUZZED);
  const counts = { requests: part(0.28), rawRequests: part(0.02), documents: part(0.04), records: part(0.66) };
  await fuzz(counts, Number(process.env.QUOTAMESH_TEST_SEED ?? 1));
}, 3_600_000);
