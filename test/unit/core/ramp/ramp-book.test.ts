import { describe, expect, test } from 'vitest';
import type { RampSettings } from '../../../../src/core/ramp/ramp.js';
import { RampBook } from '../../../../src/core/ramp/ramp-book.js';
import { LogTime } from '../../../../src/core/topic/log-time.js';
import { GROUP } from '../../../simulation/settings.js';

const RAMP: RampSettings = {
  ...{ mode: 'relaxed', fromPerSecond: 100, toPerSecond: 1000, overMs: 10_000 },
  ...{ thresholdRatio: 0.5, coolDownMs: 5000, pausePenaltyRatio: 0.5, timeToLiveMs: 30_000 },
};
const RELAXED = { ...GROUP, ramp: RAMP };
const SCHEDULED = { ...GROUP, ramp: { ...RAMP, mode: 'scheduled' as const } };

function state(level: number, sequence: number, { nodeKey = 1, incarnation = 1, lateMs = 0 } = {}) {
  const author = { nodeKey, incarnation, sequence };
  return { kind: 'group-state', author, groupId: 7, direction: 0, level, lateMs, timeToLiveMs: 30_000 } as const;
}

describe('levels by the log', () => {
  test('the newest record counts, within the ramp; older ones of its author do not', () => {
    const book = new RampBook(() => undefined);
    expect(book.levelOf(RELAXED, 0, 3)).toBe(100);
    book.apply(3, state(280, 5));
    expect(book.levelOf(RELAXED, 0, 3)).toBe(280);
    expect(book.apply(3, state(900, 4))).toBe('repeated');
    expect(book.apply(3, state(900, 9, { nodeKey: 2 }))).toBe('applied');
    expect(book.levelOf({ ...RELAXED, ramp: { ...RAMP, toPerSecond: 500 } }, 0, 3)).toBe(500);
    expect(book.levelOf({ ...RELAXED, ramp: { ...RAMP, fromPerSecond: 950 } }, 0, 3)).toBe(950);
    expect(book.levelOf(GROUP, 0, 3)).toBe(Number.POSITIVE_INFINITY);
    expect(book.levelOf(RELAXED, 1, 4)).toBe(Number.POSITIVE_INFINITY);
  });

  test('scheduled goes on with log time, from where the record held', () => {
    const book = new RampBook(() => undefined);
    book.advanceTo(1000, 1000);
    book.apply(3, state(280, 5, { lateMs: 500 }));
    expect(book.levelOf(SCHEDULED, 0, 3)).toBe(280 + 45);
    book.advanceTo(2500, 2500);
    expect(book.levelOf(SCHEDULED, 0, 3)).toBe(280 + 180);
    expect(book.isMoving(SCHEDULED, 0, 3)).toBe(true);
    book.advanceTo(20_000, 20_000);
    expect(book.levelOf(SCHEDULED, 0, 3)).toBe(1000);
    expect(book.isMoving(SCHEDULED, 0, 3)).toBe(false);
    expect(book.levelOf(RELAXED, 0, 3)).toBe(280);
  });

  test('forgotten after its time to live, and the lane is told', () => {
    const changed: number[] = [];
    const book = new RampBook((lane) => changed.push(lane));
    book.apply(3, state(280, 5));
    book.advanceTo(1000, 29_000);
    book.apply(4, state(370, 6));
    book.advanceTo(1000, 30_000);
    expect(book.levelOf(RELAXED, 0, 3)).toBe(280);
    book.advanceTo(1001, 30_001);
    expect([book.levelOf(RELAXED, 0, 3), book.levelOf(RELAXED, 0, 4)]).toEqual([100, 370]);
    expect(changed).toEqual([3, 4, 3]);
    book.advanceTo(1002, 59_001);
    expect(book.levelOf(RELAXED, 0, 4)).toBe(100);
  });
});

test('log time counts the time before a life whole in its span alone', () => {
  const time = new LogTime(1000);
  time.advanceTo(0);
  time.advanceTo(1000);
  time.advanceTo(3_601_000);
  expect([time.ms, time.spanMs]).toEqual([3000, 3000]);
  time.advanceTo(3_661_000, true);
  expect([time.ms, time.spanMs]).toEqual([5000, 63_000]);
  time.advanceTo(0, true);
  expect([time.ms, time.spanMs]).toEqual([5000, 63_000]);
});
