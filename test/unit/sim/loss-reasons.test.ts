import { expect, test } from 'vitest';
import type { AccuracyRow } from '../../../sim/accuracy/accuracy-run.js';
import type { Loss } from '../../../sim/accuracy/better-elsewhere.js';
import { reasonOf } from '../../../sim/accuracy/loss-reasons.js';

function row(system: string, refusedBelowFair: number, utilisation: number, overAdmission = 0.05): AccuracyRow {
  const metrics = { refusedBelowFair, utilisation, overAdmission };
  return { scenario: 'zipf', system, metrics, warm: {}, missed: [], wishes: [] };
}

const LOSS: Loss = { scenario: 'zipf', start: 'cold', metric: 'worstSecond', ours: 1.06, theirs: 1.02, system: 'same' };

const ROWS = [row('max-min', 0.002, 0.998), row('refuses', 0.454, 0.999), row('wastes', 0.002, 0.9), row('same', 0, 1)];

test.each([
  ['refuses', 'worstSecond', 1.03, 'It refuses 45.4 % below the fair share, `max-min` 0.2 %.'],
  ['wastes', 'overAdmission', 0.01, 'It uses 90.0 %, `max-min` 99.8 %.'],
  ['same', 'convergenceMs', 0, 'All want the same; the equal share it starts with is right.'],
  ['same', 'convergenceMs', 20, ''],
  ['same', 'worstSecond', 1.03, ''],
])('%s is better in %s (%d): "%4$s"', (system, metric, theirs, says) => {
  expect(reasonOf({ ...LOSS, metric, ours: 1.1, theirs, system }, ROWS, 'max-min')).toBe(says);
});

test('what one bucket of the cluster may admit in a span is a reason while no more is admitted', () => {
  const within = [row('max-min', 0, 1, 0.02), row('same', 0, 1)];
  expect(reasonOf(LOSS, within, 'max-min')).toMatch(/^Any span may hold the depth/);
  expect(reasonOf({ ...LOSS, metric: 'overshootTokens' }, within, 'max-min')).toBe('');
});

test('who admits more than the quota, and who has one limit for all', () => {
  const loss: Loss = { ...LOSS, metric: 'utilisation', ours: 1, theirs: 1.2 };
  expect(reasonOf(loss, ROWS, 'max-min')).toBe('It admits 120.0 % of what the quota allows.');
  const rows = [...ROWS, row('fdb-client', 0, 0.998)];
  expect(reasonOf({ ...loss, metric: 'refusedBelowFair', system: 'fdb-client' }, rows, 'max-min')).toMatch(/one limit/);
});

test('a scenario with a reason of its own has it for the figures it explains, and for no others', () => {
  const loss: Loss = { ...LOSS, scenario: 'liar-0', metric: 'jain', ours: 0.8, theirs: 1, system: 'static' };
  expect(reasonOf(loss, ROWS, 'max-min')).toContain('believes no reports');
  expect(reasonOf({ ...loss, metric: 'utilisation' }, ROWS, 'max-min')).toBe('');
});
