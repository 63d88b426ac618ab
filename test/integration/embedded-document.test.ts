import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the program of docs/guide/embedding.md runs as it stands there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-doc-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const text = await readFile(join(root, 'docs/guide/embedding.md'), 'utf8');
  const [first = '', second = ''] = [...text.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code);
  // The second piece goes on where the first ends, and the node is closed once.
  const close = /^await node\.close\(\);.*$/m;
  expect(first).toMatch(close);
  await writeFile(
    join(folder, 'service.mjs'),
    `${first.replace(close, '')}${second}console.log(turn);\nawait node.close();\n`,
  );
  await cp(join(root, 'examples/node.yaml'), join(folder, 'node.yaml'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules/quotamesh'));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['service.mjs'], {
    cwd: folder,
    timeout: 30_000,
  });
  expect(stderr).toBe('');
  // A decision is printed with all that it tells of its quota.
  expect(stdout).toMatch(/^\{\n {2}granted: true,\n {2}limit: \{ messages: \d+, bytes: \d+ \},$/m);
}, 60_000);
