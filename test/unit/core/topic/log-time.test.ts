import { describe, expect, test } from 'vitest';
import { LogTime } from '../../../../src/core/log/log-time.js';

const HOUR = 3_600_000;
const NOW = 1.8e12;
const YEARS = 50 * 365.25 * 24 * HOUR;

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
    { says: 'a time that is years away is left out', appends: [NOW, NOW + YEARS, NOW + 300, -1, NOW + 500], ms: 500 },
    { says: 'so are all of them', appends: [NOW, 9.2e18, NOW + 1, NaN, NOW + 2, Infinity, NOW + 3], ms: 3 },
    { says: 'a second one shows that the clock was set', appends: [0, 500, NOW, NOW + 9, NOW + 20], ms: 520 },
    { says: 'back, too', appends: [NOW, NOW + 500, 0, 9, 20, 30], ms: 530 },
    { says: 'a first one is no yardstick', appends: [YEARS, NOW, NOW + 7, NOW + 9], ms: 9 },
    { says: 'a first one that is no time', appends: [NaN, NOW, NOW + 7], ms: 7 },
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

describe('the time that counts absences whole', () => {
  const HEARTBEAT_MS = 1000;
  const HOUR_MS = 3_600_000;

  test('goes on like the other, but the step before the first record of a life counts whole', () => {
    const time = new LogTime(HEARTBEAT_MS);
    expect([time.ms, time.spanMs, time.appendMs]).toEqual([0, 0, 0]);
    time.advanceTo(5e9);
    time.countWholeStep(true);
    expect([time.ms, time.spanMs, time.appendMs]).toEqual([0, 0, 5e9]);
    time.advanceTo(5e9 + HOUR_MS);
    expect([time.ms, time.spanMs]).toEqual([2 * HEARTBEAT_MS, 2 * HEARTBEAT_MS]);
    time.advanceTo(5e9 + 2 * HOUR_MS);
    time.countWholeStep(true);
    expect([time.ms, time.spanMs]).toEqual([4 * HEARTBEAT_MS, 2 * HEARTBEAT_MS + HOUR_MS]);
  });

  test('both go on by single milliseconds, and not back', () => {
    const time = new LogTime(HEARTBEAT_MS);
    for (let ms = 0; ms <= 100; ms++) time.advanceTo(5e9 + ms);
    time.advanceTo(5e9);
    expect([time.ms, time.spanMs]).toEqual([100, 100]);
  });

  test('a time that is years away is no absence, and is told', () => {
    const time = new LogTime(HEARTBEAT_MS);
    const told = [NOW, NOW + YEARS, NOW + YEARS + 5, NOW + 5].map((appendMs) => {
      const isBelieved = time.advanceTo(appendMs);
      time.countWholeStep(true);
      return isBelieved;
    });
    expect(told).toEqual([true, false, true, false]);
    expect([time.ms, time.spanMs, time.pauseMs, time.wholeMs]).toEqual([5, 5, 0, 5]);
  });

  test('both begin at 0 in another log, whatever its clock says', () => {
    const time = new LogTime(HEARTBEAT_MS);
    for (const appendMs of [5e9, 5e9 + 10]) time.advanceTo(appendMs);
    time.startAgain();
    expect([time.ms, time.spanMs, time.appendMs]).toEqual([0, 0, 0]);
    time.advanceTo(9e9);
    expect([time.ms, time.spanMs]).toEqual([0, 0]);
    time.advanceTo(9e9 + 7);
    expect([time.ms, time.spanMs]).toEqual([7, 7]);
  });
});
