import { expect, test } from 'vitest';
import { aimLine, bytesLine } from '../../../bench/limiter/figures.js';

test('what is below nothing, or was never measured, meets no aim and misses none', () => {
  for (const noise of [-0.4, Number.NaN]) {
    expect(aimLine('bytes per group ≤ 64', noise, noise <= 64)).toMatch(/ {2}not measurable here$/);
    expect(bytesLine('columns', noise)).toMatch(/ not measurable$/);
  }
});

test('what was measured meets its aim or misses it', () => {
  expect(aimLine('bytes ≤ 64', 40, true)).toMatch(/ 40\.0 {2}met$/);
  expect(aimLine('ratio ≥ 10', 9.876, false, 2)).toMatch(/ 9\.88 {2}missed$/);
  expect(bytesLine('columns', 0)).toMatch(/ 0\.0$/);
});
