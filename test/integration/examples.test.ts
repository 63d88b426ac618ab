import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const embed = fileURLToPath(new URL('../../examples/embed.mjs', import.meta.url));

describe('examples/embed.mjs', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quotamesh-embed-'));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test('two processes of it share 100 messages/s, not 100 each', async () => {
    const outputs = await Promise.all(
      ['one', 'two'].map((id) => run(process.execPath, [embed, id, folder], { timeout: 20_000 })),
    );
    const admitted = outputs.map(({ stdout }) => Number(/admitted (\d+)/.exec(stdout)?.[1]));
    console.log(`embed.mjs: admitted ${admitted.join(' + ')} in 5 s at 100/s`);
    const total = admitted.reduce((sum, count) => sum + count, 0);
    // The second may be ready a moment after the first; neither counts more than 5 s.
    expect(total).toBeGreaterThanOrEqual(450);
    expect(total).toBeLessThanOrEqual(620);
  });
});

describe('examples/mqtt-broker', () => {
  test('its configuration is valid', async () => {
    const cli = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
    const config = fileURLToPath(new URL('../../examples/mqtt-broker/broker.yaml', import.meta.url));
    const { stdout } = await run(process.execPath, [cli, 'mqtt', '--config', config, '--check']);
    expect(stdout).toContain('valid');
  });
});
