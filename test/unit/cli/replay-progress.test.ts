import { expect, test } from 'vitest';
import { progressText } from '../../../sim/commands/replay-progress.js';

test('time left is what is left of the file at the pace until now', () => {
  expect(progressText({ rows: 120_000, systems: 6, fileMs: 2_460_000, part: 0.25, elapsedMs: 10_000 })).toBe(
    '120000 rows on 6 systems, 41 min of the file, 25 %, 30 s left',
  );
  expect(progressText({ rows: 1, systems: 1, fileMs: 90_000_000, part: 0.5, elapsedMs: 7_200_000 })).toBe(
    '1 rows on 1 system, 25.0 h of the file, 50 %, 2.0 h left',
  );
});

test('without a known length nothing is promised', () => {
  expect(progressText({ rows: 10, systems: 2, fileMs: 1500, part: null, elapsedMs: 10 })).toBe(
    '10 rows on 2 systems, 2 s of the file',
  );
});
