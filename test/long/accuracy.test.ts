import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ACCURACY = fileURLToPath(new URL('../../dist/sim/accuracy/accuracy-main.js', import.meta.url));

test('docs/reference/accuracy.md says what every scenario gives on every system', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [ACCURACY, '--check'], { encoding: 'utf8' });
  console.log(stdout.trim());
  expect(status, stderr.split('\n').slice(-6).join('\n')).toBe(0);
});
