import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Child } from '../../src/tools/processes/child.js';
import { findDistribution } from '../kafka/distribution.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';

/** `npm run chaos` plays as many as it is told at night. */
const MINUTES = 2;
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
    const recording = join(folder, 'chaos.qmrec');
    const run = new Child([script, '--seed', '1', '--minutes', String(MINUTES), '--page', page, '--record', recording]);
    const { code } = await run.ended;
    console.log(run.output);
    expect(code, run.output).toBe(0);
    expect(run.output).toContain('Every promise was kept.');
    expect(run.output).toMatch(/the recording, .*\n\d{3,} records of cluster .*; (?:9\d|1[01]\d)\.\d s of log time/);
  },
  MINUTES * 60_000 + AROUND_MS,
);
