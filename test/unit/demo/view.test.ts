import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { verdictLines } from '../../../src/tools/demo/demonstration.js';
import type { Measurement } from '../../../src/tools/demo/measure/meter.js';
import { frameLines, plainLine, type ViewFrame } from '../../../src/tools/demo/view/view.js';

const FRAME: ViewFrame = {
  elapsedMs: 12_300,
  rows: [
    { id: 'A', state: 'ready', demand: 1042, admitted: 142.4, gaveUp: 100, waiting: 800 },
    { id: 'B', state: 'dead', demand: 0, admitted: 0, gaveUp: 0, waiting: 0 },
    { id: 'C', state: 'ready', demand: 50, admitted: 50, gaveUp: 0, waiting: 0 },
  ],
  quota: [200, 440_000],
  admitted: [192.4, 220_000],
  act: null,
};

describe('the live view', () => {
  test('shows a row per node, and the cluster against its quota', () => {
    const lines = frameLines(FRAME, { headline: 'three nodes', forMs: 20_000, hints: ['curl …'] });
    expect(lines.map((line) => stripVTControlCharacters(line))).toEqual([
      'three nodes  12 s of 20 s',
      '',
      'node  wanted  admitted  gave up  waiting',
      'A      1,042       142      100      800',
      'B       dead',
      'C         50        50        0        0',
      '',
      'messages  █████████████████████████████░  192 of 200 per second',
      'bytes     ███████████████░░░░░░░░░░░░░░░  220 kB of 440 kB per second',
    ]);
    const act = { ...FRAME, act: 'Act 1 of 6', quota: [200, Infinity] } as const;
    const [first, ...others] = frameLines(act, { headline: 'three nodes', forMs: null, hints: [] });
    expect(stripVTControlCharacters(first ?? '')).toBe('Act 1 of 6  12 s');
    expect(others.join()).not.toContain('bytes');
  });

  test('as a line per second where there is no terminal', () => {
    expect(plainLine(12, FRAME)).toBe('12 s  A 142 of 1,042  B dead  C 50 of 50  |  all 192, quota 200  220 of 440 kB');
  });
});

describe('the verdict', () => {
  const KEPT: Measurement = {
    seconds: 20,
    utilisation: 0.9812,
    dueSeconds: 18,
    overAdmission: 0.003,
    worstSecond: 1.05,
    secondsAboveQuota: 0.7,
    secondsBytesTighter: 0.1,
    jain: 0.991,
    acquires: 30_000,
    acquireP50Ms: 1.2,
    acquireP99Ms: 4.8,
    nodes: [{ arrived: [10, 10], admitted: [4000, 4], gaveUp: [2000, 2] }],
  };

  test('names each promise, what was measured, and whether it was kept', () => {
    const text = verdictLines(KEPT).join('\n');
    expect(text).toMatch(/✓ {2}utilisation of min\(quota, demand\) +98\.1 % {2}≥ 97\.0 %/);
    expect(text).toMatch(/✓ {2}over-admission over any 5 s +0\.3 % {3}≤ 2\.0 %/);
    expect(text).toMatch(/✓ {2}worst sliding second ÷ quota +1\.05 {4}≤ 1\.10/);
    expect(text).toContain('4,000 / 2,000');
    expect(text).toContain('All three promises kept.');
    expect(text).not.toContain('busy');
  });

  test('an interrupted one gives figures and no verdict', () => {
    const text = verdictLines({ ...KEPT, worstSecond: 1.12 }, true).join('\n');
    expect(text).toContain('1.12');
    expect(text).toContain('Interrupted: no verdict.');
    expect(text).not.toContain('promises kept');
  });

  test('says which promise was not kept, and when the machine was too busy to tell', () => {
    const text = verdictLines({ ...KEPT, worstSecond: 1.12, acquireP99Ms: 180 }).join('\n');
    expect(text).toMatch(/✗ {2}worst sliding second ÷ quota +1\.12/);
    expect(text).toContain('NOT all promises kept.');
    expect(text).toContain('kept this machine busy');
  });
});
