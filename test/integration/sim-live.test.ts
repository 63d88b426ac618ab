import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunResult } from '../../sim/verdict/run-result.js';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { Child } from '../../src/tools/processes/child.js';
import { isRunning } from '../is-running.js';
import { runInProcess } from '../unit/cli/run-in-process.js';

const run = promisify(execFile);

/** Low rates: the machine may be busy. Two survivors want the whole quota, so that nothing is lost while n1 is away. */
const STORY = `name: live-crash
says: One of three nodes is killed and comes back.
durationSeconds: 8
nodes: 3
quota: { messagesPerSecond: 120 }
load:
  - { kind: poisson, ratePerSecond: 80 }
happenings:
  - { atSeconds: 2, what: crash, nodes: n1, forSeconds: 2 }
timing: { heartbeatMs: 200, stalenessMs: 1000 }
`;

let folder = '';
let file = '';
let env: NodeJS.ProcessEnv = {};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-live-test-'));
  file = join(folder, 'live-crash.yaml');
  writeFileSync(file, STORY);
  env = { ...process.env, TMPDIR: folder };
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a crash on real processes admits what the simulator says, and nothing is left behind', async () => {
  const [live, simulated] = await Promise.all([played(), simulate()]);
  const [seen, wanted] = [admittedOf(live), admittedOf(simulated)];
  console.log(
    `[live] admitted ${seen} live, ${wanted} simulated; settled after ${live.verdict.convergenceMs.join(', ')} ms live, ` +
      `${simulated.verdict.convergenceMs.join(', ')} ms simulated; worst second ${live.verdict.worstSecond.toFixed(3)}`,
  );
  expect(live.system).toBe('live embedded');
  expect(live.happenings.map(({ says }) => says.replace(/ for .*/, ''))).toContain('crash n1');
  expect(live.verdict.records).toBeGreaterThan(20);
  expect(Math.abs(seen / wanted - 1)).toBeLessThanOrEqual(0.1);
  const admitted = live.series[0]?.perNode.n1?.admitted ?? [];
  // A busy machine kills it up to a second late.
  const killedAt = admitted.indexOf(0, 20);
  expect(killedAt).toBeGreaterThanOrEqual(20);
  expect(killedAt).toBeLessThanOrEqual(30);
  expect(admitted.slice(killedAt, killedAt + 15)).toEqual(Array(15).fill(0));
  expect(readdirSync(folder)).toEqual(['live-crash.yaml']);
});

test('Ctrl-C ends it with 130 and leaves no process and no folder', async () => {
  const alone = file.replace('crash', 'alone');
  writeFileSync(alone, STORY.replace('nodes: 3', 'nodes: 1'));
  const child = new Child([COMMAND_FILE, 'sim', 'live', alone], { env });
  const pids = await nodePids(child);
  rmSync(alone);
  child.signal('SIGINT');
  expect((await child.ended).code).toBe(130);
  expect(pids.filter((pid) => isRunning(pid))).toEqual([]);
  expect(readdirSync(folder)).toEqual(['live-crash.yaml']);
});

/** In this process, where a start of the command takes longer than the run. */
async function simulate(): Promise<RunResult> {
  return JSON.parse((await runInProcess(['sim', 'run', file, '--json'])).stdout) as RunResult;
}

async function played(): Promise<RunResult> {
  const { stdout } = await run(process.execPath, [COMMAND_FILE, 'sim', 'live', file, '--json'], {
    env,
    maxBuffer: 1e8,
  });
  return JSON.parse(stdout) as RunResult;
}

function admittedOf({ series, sampleMs }: RunResult): number {
  const rates = Object.values(series[0]?.perNode ?? {}).flatMap(({ admitted }) => admitted);
  return rates.reduce((sum, rate) => sum + (rate * sampleMs) / 1000, 0);
}

/** Process id of the node, from what it logs, once it is ready. */
async function nodePids(child: Child): Promise<readonly number[]> {
  while (child.isRunning) {
    const own = readdirSync(folder).find((name) => name.startsWith('quotamesh-live-'));
    const logs = own === undefined ? [] : readdirSync(join(folder, own)).filter((name) => /^n\d\.log$/.test(name));
    const texts = logs.map((name) => readFileSync(join(folder, own as string, name), 'utf8'));
    if (texts.length === 1 && texts.every((text) => text.includes('node ready'))) {
      return texts.map((text) => Number(/"pid":(\d+)/.exec(text)?.[1]));
    }
    await sleep(50);
  }
  throw new Error(`the live run ended:\n${child.logEnd()}`);
}
