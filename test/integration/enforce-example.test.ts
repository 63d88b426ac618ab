import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, test } from 'vitest';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';

const run = promisify(execFile);
const PROXY = fileURLToPath(new URL('../../examples/enforce/proxy.py', import.meta.url));
const PER_SECOND = 400;
const SECONDS = 8;
const CONFIG = `
cluster: enforce
node: a
topic: memory
http: { port: 0 }
groups:
  orders: { quota: { publish: { messagesPerSecond: ${PER_SECOND} } } }
`;

describe('examples/enforce', () => {
  test('two proxies and nobody else share one quota; the busier one gets what the other leaves', async ({
    expect,
    onTestFinished,
  }) => {
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-enforce-'));
    const file = join(folder, 'node.yaml');
    await writeFile(file, CONFIG);
    const node = execFile(process.execPath, [COMMAND_FILE, 'run', '--config', file]);
    onTestFinished(async () => {
      node.kill('SIGTERM');
      await rm(folder, { recursive: true, force: true });
    });
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      const read = (chunk: unknown) => {
        text += String(chunk);
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
        if (found !== undefined) resolve(found);
      };
      node.stdout?.on('data', read);
      node.stderr?.on('data', read);
      node.once('exit', () => reject(new Error(text)));
    });
    const proxy = async (name: string, wish: number) => {
      const { stdout } = await run('python3', [PROXY, name, url, 'orders', String(wish), String(SECONDS)]);
      return Number(/admitted (\d+)/.exec(stdout)?.[1]);
    };
    const [busy = 0, quiet = 0] = await Promise.all([proxy('busy', 2000), proxy('quiet', 40)]);
    console.log(`examples/enforce: ${busy} + ${quiet} in ${SECONDS} s at ${PER_SECOND}/s`);
    // A bucket of 50 ms each, and one of the node.
    expect(busy + quiet).toBeLessThanOrEqual(1.05 * PER_SECOND * SECONDS);
    // The first second is spent on starting, joining and finding the demand.
    expect(busy + quiet).toBeGreaterThanOrEqual(0.75 * PER_SECOND * SECONDS);
    expect(quiet).toBeGreaterThanOrEqual(0.75 * 40 * SECONDS);
  }, 60_000);
});
