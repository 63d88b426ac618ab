import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes per second of each over the next seconds. @param got bytes since the start, which go on rising */
export async function ratesOver(got: readonly number[], seconds: number): Promise<number[]> {
  const before = [...got];
  const beganMs = performance.now();
  await sleep(1000 * seconds);
  const tookSeconds = (performance.now() - beganMs) / 1000;
  return got.map((bytes, at) => (bytes - before[at]) / tookSeconds);
}
