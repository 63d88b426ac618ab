import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { OtherLoad } from '../other-load.js';
import { isDrawn } from '../property/seed.js';

const run = promisify(execFile);
/** Five times what the longest of them takes. */
const PATIENT = { timeout: 180_000 };
const embed = fileURLToPath(new URL('../../examples/embed.mjs', import.meta.url));

/** Each says what it shows; npm test runs a sixth of them. */
describe.concurrent('examples', PATIENT, () => {
  test.runIf(isDrawn(0))(
    'embed.mjs: two processes of it share 100 messages/s, not 100 each',
    async ({ expect, onTestFinished }) => {
      const folder = await mkdtemp(join(tmpdir(), 'quotamesh-embed-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const [load, beganMs] = [new OtherLoad(), performance.now()];
      const outputs = await Promise.all(
        ['one', 'two'].map((id) => run(process.execPath, [embed, id, folder], PATIENT)),
      );
      const admitted = outputs.map(({ stdout }) => Number(/admitted (\d+)/.exec(stdout)?.[1]));
      console.log(`embed.mjs: admitted ${admitted.join(' + ')} in 5 s at 100/s`);
      const total = admitted.reduce((sum, count) => sum + count, 0);
      // The second may be ready a moment after the first; neither counts more than 5 s, but for a timer that is late.
      expect(total).toBeLessThanOrEqual(620 + 100 * lateSeconds(beganMs, 7));
      if (!load.isTooMuch('embed.mjs')) expect(total).toBeGreaterThanOrEqual(450);
    },
  );

  test.runIf(isDrawn(1))(
    'embed-groups.mjs: one makes, changes and deletes a group, the other hears of it',
    async ({ expect, onTestFinished }) => {
      const program = fileURLToPath(new URL('../../examples/embed-groups.mjs', import.meta.url));
      const folder = await mkdtemp(join(tmpdir(), 'quotamesh-embed-groups-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const load = new OtherLoad();
      const watching = run(process.execPath, [program, 'watch', folder], PATIENT);
      await new Promise<void>((resolve) => {
        watching.child.stdout?.on('data', (text) => String(text).includes('watching') && resolve());
      });
      const { stdout } = await run(process.execPath, [program, 'make', folder], PATIENT);
      expect(stdout).toBe('acme has not paid: refused\nleft: others\n');
      const told = (await watching).stdout.trim().split('\n');
      expect(told[0]).toBe('watching');
      // Changes that are read together are told by their outcome alone.
      expect(told).toContain('group acme: null');
      if (!load.isTooMuch('embed-groups.mjs')) expect(told.length).toBeGreaterThan(2);
    },
  );

  const WHAT = 'batch-consumer: three consumers share 60 calls/s in batches; without the quota they take what they can';
  test.runIf(isDrawn(2))(WHAT, async ({ expect }) => {
    const program = fileURLToPath(new URL('../../examples/batch-consumer/run.mjs', import.meta.url));
    const load = new OtherLoad();
    const { stdout } = await run(process.execPath, [program, '6'], PATIENT);
    console.log(stdout.trim());
    const figures = [...stdout.matchAll(/: (\d+) calls .* worst second \d+; sent (\d+), handed back (\d+)/g)];
    const [without, quota] = figures.map(([, ...numbers]) => numbers.map(Number));
    const [calls = 0, sent, handedBack] = quota ?? [];
    expect(calls).toBe(sent);
    expect(without?.[0]).toBeGreaterThan(calls);
    // Windows begin at another moment in each process, and 6 s touch seven of them; 5 % while shares move meanwhile.
    expect(calls).toBeLessThanOrEqual(1.05 * 7 * 60);
    // A busy machine answers late, and a consumer that waits for answers misses windows.
    if (!load.isTooMuch('batch-consumer')) expect(calls).toBeGreaterThanOrEqual(4 * 60);
    expect(handedBack).toBeGreaterThan(0);
  });

  test.runIf(isDrawn(3))('tcp-throttle.mjs: two clients share 1,000 lines/s in equal parts', async ({ expect }) => {
    const program = fileURLToPath(new URL('../../examples/tcp-throttle.mjs', import.meta.url));
    const [load, beganMs] = [new OtherLoad(), performance.now()];
    const { stdout } = await run(process.execPath, [program], PATIENT);
    const [a = 0, b = 0] = [...stdout.matchAll(/: (\d+) of/g)].map(([, count]) => Number(count));
    console.log(`tcp-throttle.mjs: ${a} + ${b} lines in 4 s at 1,000/s`);
    // A timer that is late by the depth of the bucket, 50 ms, loses what it would have given.
    expect(a + b).toBeLessThanOrEqual(4400 + 1000 * lateSeconds(beganMs, 6));
    if (load.isTooMuch('tcp-throttle.mjs')) return;
    expect(a + b).toBeGreaterThanOrEqual(2400);
    expect(Math.abs(a - b)).toBeLessThanOrEqual(0.05 * (a + b));
  });

  test.runIf(isDrawn(4))('mqtt-broker: its configuration is valid', async ({ expect }) => {
    const config = fileURLToPath(new URL('../../examples/mqtt-broker/broker.yaml', import.meta.url));
    const { stdout } = await run(process.execPath, [COMMAND_FILE, 'check', config]);
    expect(stdout).toContain('valid');
  });
});

/** Returns by how much a program took longer than it does on a machine that has time, seconds. */
function lateSeconds(beganMs: number, usualSeconds: number): number {
  return Math.max(0, (performance.now() - beganMs) / 1000 - usualSeconds);
}
