import { describe, expect, test } from 'vitest';
import { LogTime } from '../../../../src/core/topic/log-time.js';

const HOUR = 3_600_000;

function logTimeAfter(...appends: readonly number[]): number {
  const logTime = new LogTime(1000);
  for (const appendMs of appends) logTime.advanceTo(appendMs);
  return logTime.ms;
}

describe('log time (heartbeat 1 s, so one record moves it by 2 s at most)', () => {
  test.each([
    { says: 'starts at 0 whatever the clock says', appends: [1.7e12], ms: 0 },
    { says: 'adds up what lies between records', appends: [1000, 1300, 2000], ms: 1000 },
    { says: 'records of the same millisecond add nothing', appends: [5, 5, 5], ms: 0 },
    { says: 'an outage counts as two heartbeats', appends: [0, 1000, 61_000, 61_500], ms: 3500 },
    { says: 'a clock that jumps ahead counts as two heartbeats', appends: [0, 1000, HOUR, HOUR + 500], ms: 3500 },
    { says: 'a clock that jumps back costs nothing', appends: [HOUR, HOUR + 500, 0, 500], ms: 1000 },
    { says: 'ahead and back again', appends: [0, 500, HOUR, 1000, 1500], ms: 3000 },
  ])('$says', ({ appends, ms }) => {
    expect(logTimeAfter(...appends)).toBe(ms);
  });

  test('records missing after compaction can only make it slower', () => {
    const appends = [0, 700, 1400, 9000, 9100, 3000, 3600, 20_000];
    for (let missing = 1; missing < appends.length - 1; missing++) {
      expect(logTimeAfter(...appends.filter((_, at) => at !== missing))).toBeLessThanOrEqual(logTimeAfter(...appends));
    }
  });
});
