import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findDistribution } from '../kafka/distribution.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';

const MINUTES = 3;
/** Beside the minutes themselves: compiling, starting, judging, and what every late remedy shifts. */
const AROUND_MS = 240_000;

let folder = '';
beforeAll(async () => {
  await findDistribution();
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-chaos-page-'));
}, KAFKA_START_TIMEOUT_MS);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The command as a person runs it; half an hour of it is for people and nights (docs/contribute/chaos.md). */
test(
  `${MINUTES} minutes of faults on three brokers and five nodes break no promise`,
  async () => {
    const script = fileURLToPath(new URL('../../scripts/chaos.mjs', import.meta.url));
    const page = join(folder, 'chaos.html');
    const { code, output } = await runToItsEnd([script, '--seed', '1', '--minutes', String(MINUTES), '--page', page]);
    console.log(output);
    expect(code, output).toBe(0);
    expect(output).toContain('Every promise was kept.');
  },
  MINUTES * 60_000 + AROUND_MS,
);

function runToItsEnd(args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
