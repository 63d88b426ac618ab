import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { Child } from '../../src/tools/processes/child.js';
import { startRedis } from '../redis/redis.js';
import { findRedis } from '../redis/redis-source.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Fetched here, because 25 packages are too many for an example that few read. */
const PACKAGES = ['bullmq@6.7.0', 'ioredis@6.0.0'];
const JOBS = 400;
const WORKED_MS = 12_000;

test('bullmq-worker.mjs: two workers do as many jobs as the quota of the cluster allows, and lose none', async ({
  skip,
}) => {
  if ((await findRedis()) === null) skip('there is no Redis');
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-bullmq-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await writeFile(join(folder, 'package.json'), '{}');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
  const failed = await run('npm', ['install', ...quiet, ...PACKAGES], { cwd: folder }).then(
    () => null,
    (error: Error) => error.message,
  );
  if (failed !== null) {
    console.log(`skipped: ${PACKAGES.join(', ')} cannot be installed: ${failed}`);
    skip('BullMQ cannot be installed');
  }
  await mkdir(join(folder, 'node_modules'), { recursive: true });
  await symlink(ROOT, join(folder, 'node_modules/quotamesh'));
  await copyFile(join(ROOT, 'examples/bullmq-worker.mjs'), join(folder, 'worker.mjs'));
  await writeFile(join(folder, 'queue.mjs'), QUEUE);
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const env = { ...process.env, REDIS_URL: `redis://${redis.address}` };
  const workers = ['a', 'b'].map((id) => new Child([join(folder, 'worker.mjs'), id, join(folder, 'state')], { env }));
  onTestFinished(() => Promise.all(workers.map((worker) => worker.stop(8000))).then(() => undefined));
  while (!workers.every(({ stdout }) => stdout.includes('ready'))) {
    if (workers.some(({ isRunning }) => !isRunning)) throw new Error(workers.map((each) => each.logEnd()).join('\n'));
    await sleep(50);
  }
  const startMs = performance.now();
  const { stdout } = await run(process.execPath, [join(folder, 'queue.mjs'), `${JOBS}`, `${WORKED_MS}`], { env });
  const seconds = (performance.now() - startMs) / 1000;
  const counts = JSON.parse(stdout) as Record<string, number>;
  console.log(`bullmq-worker.mjs: ${stdout.trim()} in ${seconds.toFixed(1)} s at 10/s`);
  expect(counts.failed).toBe(0);
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(JOBS);
  // Three depths of ten, and 10/s.
  expect(counts.completed).toBeLessThanOrEqual(30 + 10 * seconds);
  // A worker that rests asks a moment after it might, and a busy machine later.
  expect(counts.completed).toBeGreaterThanOrEqual((0.7 * 10 * WORKED_MS) / 1000);
});

const QUEUE = `
import { Queue } from 'bullmq';
const [, , jobs, workedMs] = process.argv.map(Number);
const { hostname: host, port } = new URL(process.env.REDIS_URL);
const queue = new Queue('calls', { connection: { host, port: Number(port) } });
await queue.addBulk(Array.from({ length: jobs }, (_, n) => ({ name: 'call', data: { n } })));
await new Promise((resolve) => setTimeout(resolve, workedMs));
console.log(JSON.stringify(await queue.getJobCounts('completed', 'failed', 'waiting', 'active', 'delayed', 'prioritized')));
await queue.close();
`;
