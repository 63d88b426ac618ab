import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { isRunning } from '../is-running.js';
import { Demonstration } from './demonstration.js';

function leftFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('quotamesh-demo-'));
}

/** The figure in the row of that name. */
function measured(verdict: string, name: string): number {
  const row = verdict.split('\n').find((line) => line.includes(name)) ?? '';
  return Number.parseFloat(row.slice(row.indexOf(name) + name.length));
}

describe('npm start', () => {
  test('--for 10s ends by itself with the verdict of its figures, and leaves nothing behind', async () => {
    const before = leftFolders();
    const demonstration = new Demonstration(7370, '--for', '10s');
    const code = await demonstration.exited;
    const verdict = demonstration.output.slice(demonstration.output.indexOf('\nafter '));
    console.log(`[demo]${verdict}`);
    expect(demonstration.nodePids).toHaveLength(3);
    // A count. The part that was used and the worst second tell of the machine, too: virtual-demonstration.test.ts holds them.
    expect(measured(verdict, 'over-admission over any 5 s'), demonstration.output).toBeLessThanOrEqual(2);
    expect(code).toBe(verdict.includes('All three promises kept.') ? 0 : 1);
    expect(verdict.includes('✗')).toBe(code === 1);
    expect(demonstration.nodePids.filter(isRunning)).toEqual([]);
    expect(leftFolders().filter((name) => !before.includes(name))).toEqual([]);
  });
});
