import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { COMMAND_FILE, PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { isDrawn } from '../property/seed.js';

const BLOCK_END = '@@ end of a block';

test.runIf(isDrawn(5))(
  'docs/guide/two-nodes.md does what it says, command by command',
  async () => {
    const page = await readFile(new URL('docs/guide/two-nodes.md', PACKAGE_ROOT), 'utf8');
    const [install, ...blocks] = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    expect(install).toBe('npm install ../quotamesh/quotamesh-0.1.0.tgz lmdb\n');
    const [portA, portB] = await freePorts(2);
    const commands = blocks
      .join(`echo '${BLOCK_END}'\n`)
      .replaceAll('127.0.0.1:7070', `127.0.0.1:${portA}`)
      .replaceAll('127.0.0.1:7071', `127.0.0.1:${portB}`)
      // The default address belongs to whoever runs on this machine.
      .replaceAll(/^quotamesh (status|explain orders)$/gm, `quotamesh $1 --url http://127.0.0.1:${portA}`);
    const { code, stdout } = await played(`${patient(commands)}echo "a ended with $?"\n`);

    const [checked, started, askedOne, askedBoth, killed, ended] = stdout.split(`${BLOCK_END}\n`);
    expect(checked).toBe('two.yaml: valid; cluster laptop, 1 group\n');
    expect(sharesIn(started)).toEqual({ a: 50, b: 50, Σ: 100 });
    expect(sharesIn(askedOne).a).toBeGreaterThan(90);
    const both = sharesIn(askedBoth);
    expect(both.Σ).toBe(100);
    expect(both.a).toBeGreaterThan(45);
    expect(both.b).toBeGreaterThan(45);
    expect(killed).toMatch(/^b +expired/m);
    expect(sharesIn(killed)).toMatchObject({ a: 100, Σ: 100 });
    expect(killed).toMatch(/^ +in force +100 messages\/s/m);
    expect({ code, ended }).toEqual({ code: 0, ended: 'a ended with 0\n' });
  },
  180_000,
);

/**
 * The page sleeps as long as a person reads. Where the cores are busy, curl asks for less than the page says until then: what it shows next is
 * waited for instead, for 40 s at most.
 */
function patient(commands: string): string {
  const wished = ['a +\\S+ +\\S+ +(9[1-9]|100)', 'b +\\S+ +\\S+ +(4[5-9]|5[0-4])'];
  return commands.replaceAll(/^sleep 5\n(quotamesh status.*)$/gm, (_, status: string) => {
    // What is shown is the answer that was judged: a second one might differ.
    return `for _ in $(seq 80); do shown=$(${status}); grep -qE '${wished.shift()}' <<< "$shown" && break; sleep 0.5; done\necho "$shown"`;
  });
}

/** Node → the SHARE that `quotamesh status` prints. */
function sharesIn(text = ''): Readonly<Record<string, number>> {
  const rows = text.matchAll(/^(?:orders +publish msg\/s)? +([abΣ]) +\S+ +\S+ +(\S+)/gm);
  return Object.fromEntries([...rows].map(([, node, share]) => [node, Number(share)]));
}

/** Runs the commands in an empty folder with the package installed; what they have started ends with the test. */
async function played(commands: string): Promise<{ readonly code: number | null; readonly stdout: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-two-'));
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(COMMAND_FILE, join(folder, 'node_modules/.bin/quotamesh'));
  // A group of processes of its own, so that nodes and loops can be ended together.
  const shell = spawn('bash', ['-c', commands], { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    try {
      process.kill(-(shell.pid as number), 'SIGKILL');
    } catch {
      // All of them have ended.
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  let stdout = '';
  shell.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk;
  });
  const code = await new Promise<number | null>((resolve) => shell.on('close', resolve));
  return { code, stdout };
}
