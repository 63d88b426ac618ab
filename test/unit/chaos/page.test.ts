import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { renderChaosPage } from '../../chaos/page.js';
import { SharesHeld } from '../../chaos/shares-held.js';
import { type Evidence, judge } from '../../chaos/verdict.js';

const FAULT = {
  fault: { kind: 'node-kill', fromMs: 3000, toMs: 5000, node: 2, broker: null, delayMs: null },
  round: 0,
  fromMs: 3000,
  remedyMs: 5000,
  doneMs: 6000,
  notes: ['<a note>'],
} as const;

function evidenceOf(grants: number): Evidence {
  const calls = Array.from({ length: grants }, (_, at) => {
    return { dueMs: at, sentMs: at, endedMs: at + 1, node: 0, group: 0, outcome: 'granted' } as const;
  });
  return {
    durationMs: 20_000,
    waitedForCore: null,
    wrongs: [],
    calls,
    samples: [],
    happened: [FAULT],
    lives: [],
    shares: new SharesHeld('', 0, 5),
  };
}

test('the page is one file with a script that can be read, and says what was broken and beside what', () => {
  const evidence = evidenceOf(5000);
  const page = renderChaosPage(evidence, judge(evidence), 17);
  const script = /<script>([\s\S]*)<\/script>\s*<\/body>/.exec(page)?.[1] ?? '';
  expect(() => new Script(script)).not.toThrow();
  expect(page).toContain('seed 17');
  expect(page).toContain('promises were broken');
  expect(page).toContain('node-kill n3');
  expect(page).toContain('&lt;a note&gt;');
  expect(page).not.toMatch(/(src|href)="http/);
  const values = JSON.parse(/id="run">(.*)<\/script>/.exec(page)?.[1] ?? '{}');
  expect(values.faults).toEqual([{ fromMs: 3000, toMs: 6000, what: 'node-kill', whom: 'n3', scope: 'process' }]);
  expect(values.groups[0].admitted[0]).toBe(999.8);
  expect(values.broken.length).toBeGreaterThan(0);
});
