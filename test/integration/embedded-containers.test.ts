import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const COMMAND = fileURLToPath(new URL('../../dist/bin/quotamesh.js', import.meta.url));
/** Processes of their own, and a network of their own: what containers and pods have. */
const CONTAINER = ['--pid', '--fork', '--kill-child', '--mount-proc', '--net'];
const MAKES_NONE = spawnSync('unshare', [...CONTAINER, 'true'], { encoding: 'utf8' });
const cannot = MAKES_NONE.error?.message ?? (MAKES_NONE.status === 0 ? null : MAKES_NONE.stderr.trim());
if (cannot !== null) console.log(`skipped: containers on one folder need unshare (${cannot})`);

test.skipIf(cannot !== null)(
  'two containers on one folder: a node with another process id joins, one with the same is refused by name',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-containers-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const config = join(folder, 'node.yaml');
    await writeFile(config, `cluster: c\ntopic: { kind: embedded, path: ${folder}/state }\ngroups: { orders: {} }\n`);
    const run = (node: string, prefix = 'exec') => {
      const http = `unix:${folder}/${node}.sock`;
      const line = `${prefix} "${process.execPath}" "${COMMAND}" run --config "${config}" --node ${node} --http ${http}`;
      const child = spawn('unshare', [...CONTAINER, 'sh', '-c', line]);
      onTestFinished(() => void child.kill('SIGKILL'));
      let output = '';
      const lines = (chunk: Buffer) => {
        output += chunk.toString();
      };
      child.stdout.on('data', lines);
      child.stderr.on('data', lines);
      const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
      return { ended, output: () => output };
    };
    const first = run('a');
    await expect.poll(first.output, { timeout: 20_000 }).toContain('node ready');
    const same = run('b');
    expect(await same.ended).toBe(78);
    expect(same.output()).toContain('another container has it open with the process id of this one (1)');
    expect(same.output()).toContain('one PID namespace');
    const other = run('c', 'true & wait;');
    await expect.poll(other.output, { timeout: 20_000 }).toMatch(/"members":2,.*node ready/);
  },
);
