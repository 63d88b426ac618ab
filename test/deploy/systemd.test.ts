import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { EXIT_CONFIG, EXIT_USAGE } from '../../src/base/errors/error-row.js';
import { STOP_WITHIN_MS } from '../../src/tools/cli/run/run-node.js';

const unit = readFileSync(fileURLToPath(new URL('../../deploy/systemd/quotamesh.service', import.meta.url)), 'utf8');
const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, key, value]) => [key, value]));

describe('deploy/systemd/quotamesh.service', () => {
  test('stops, reloads and restarts as the node does', () => {
    expect(Number.parseInt(settings.get('TimeoutStopSec')!, 10) * 1000).toBeGreaterThanOrEqual(2 * STOP_WITHIN_MS);
    expect(settings.get('ExecReload')).toBe('/bin/kill -HUP $MAINPID');
    expect(settings.get('ExecStart')).toBe('/usr/bin/quotamesh run --config /etc/quotamesh');
    expect(settings.get('RestartPreventExitStatus')).toBe(`${EXIT_USAGE} ${EXIT_CONFIG}`);
  });

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
  const reason = hasSystemd ? '' : ' (systemd-analyze is not here: install systemd)';
  if (!hasSystemd) console.log(`the unit of systemd is not verified${reason}`);

  test.skipIf(!hasSystemd)(`is a unit that systemd takes, and exposes little${reason}`, () => {
    // It looks for the program of ExecStart, which is installed nowhere here.
    expect(analyzed(['verify'], unit.replace('/usr/bin/quotamesh', process.execPath))).toBe('');
    const misspelled = unit.replace('ProtectHome=yes', 'ProtectHom=yes');
    expect(analyzed(['verify'], misspelled)).toMatch(/Unknown key.*'ProtectHom'/);
    expect(analyzed(['security', '--offline=true', '--no-pager', '--threshold=20'], unit)).toContain('OK');
  });
});

/** What systemd-analyze says; fails the test, with that, where it refuses the unit. */
function analyzed(args: readonly string[], text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-systemd-'));
  const file = join(folder, 'quotamesh.service');
  writeFileSync(file, text);
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [...args, file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  if (args[0] === 'security') expect(status, stdout).toBe(0);
  // Other units of this machine may have faults of their own.
  const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('quotamesh'));
  return lines.join('\n');
}
