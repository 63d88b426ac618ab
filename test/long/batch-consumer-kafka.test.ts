import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sharedKafka } from '../kafka/shared-kafka.js';

const SECONDS = 10;
const QUOTA = 60;

test('examples/batch-consumer on a Kafka topic: three consumers share 60 calls/s', async () => {
  const program = fileURLToPath(new URL('../../examples/batch-consumer/run.mjs', import.meta.url));
  const [broker = ''] = await sharedKafka();
  const args = [program, String(SECONDS), broker];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 180_000 });
  console.log(stdout.trim());
  const figures = [...stdout.matchAll(/: (\d+) calls .* worst second \d+; sent (\d+), handed back (\d+)/g)];
  const [free = [], [calls = 0, sent, handedBack] = []] = figures.map(([, ...all]) => all.map(Number));
  expect(calls).toBe(sent);
  expect(free[0]).toBeGreaterThan(calls);
  // Windows begin at another moment in each process; 5 % while shares move.
  expect(calls).toBeLessThanOrEqual(1.05 * (SECONDS + 1) * QUOTA);
  expect(calls).toBeGreaterThanOrEqual(0.8 * SECONDS * QUOTA);
  expect(handedBack).toBeGreaterThan(0);
});
