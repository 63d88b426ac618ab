import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../src/tools/processes/node-process.js';
import { isDrawn } from '../property/seed.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GUIDE = readFileSync(join(ROOT, 'docs/guide/shadow.md'), 'utf8');

test.runIf(isDrawn(3))(
  'docs/guide/shadow.md: its commands do what it says, on the node of its YAML',
  { timeout: 120_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quotamesh-shadow-'));
    const configFile = join(folder, 'node.yaml');
    const [yaml = ''] = blocksOf('yaml');
    writeFileSync(configFile, yaml);
    const [port] = (await freePorts(1)) as [number];
    const node = new NodeProcess({ id: 'a', port, configFile });
    onTestFinished(async () => {
      await node.child.stop(5000);
      rmSync(folder, { recursive: true, force: true });
    });
    await node.ready();
    const acquire = async () => {
      const body = JSON.stringify({ group: 'orders', messages: 1 });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${node.url}/v1/acquire`, { method: 'POST', headers, body })).json();
    };
    await expect.poll(acquire, { timeout: 5000 }).toEqual({ granted: true, shadow: 'refused' });
    const commands = blocksOf('sh').flatMap((block) => block.trim().split('\n'));
    const told: string[] = [];
    for (const command of commands) {
      // The page is read beside an installed package, the test runs within it.
      const [npx, name, ...args] = command.replace('node_modules/quotamesh/', '').split(' ');
      expect([npx, name]).toEqual(['npx', 'quotamesh']);
      const url = args[0] === 'recommend' ? [] : ['--url', node.url];
      const { stdout } = await run(process.execPath, [COMMAND_FILE, ...args, ...url], { cwd: ROOT });
      told.push(stdout);
      if (command.endsWith('mode=shadow')) expect(await acquire()).toMatchObject({ granted: true });
    }
    const [recommended, planned, explained, status] = told;
    expect(recommended).toMatch(/Recommended: [\d.]+ messages\/s with a burst of \d+, max-min/);
    expect(planned).toMatch(/^orders: revision/);
    expect(explained).toMatch(/shadow\s+quota 400 messages\/s/);
    expect(explained).toMatch(/would refuse\s+\d+ times/);
    expect(status).toMatch(/publish msg shadow/);
  },
);

function blocksOf(language: string): string[] {
  return [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block);
}
