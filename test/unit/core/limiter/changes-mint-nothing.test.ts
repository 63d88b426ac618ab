import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import { JointLevels } from '../../../../src/core/limiter/joint-levels.js';
import type { GroupLevels } from '../../../../src/core/limiter/level-settings.js';
import { Levels } from '../../../../src/core/limiter/levels.js';
import { GRANTED, Limiter } from '../../../../src/core/limiter/limiter.js';

const NONE = Infinity;
const RATE = 300;
const NO_LIMIT = { publish: [NONE, NONE], dispatch: [NONE, NONE] } as const;

/** Takes all that there is, and changes the limiter so that the next end of any window meets a limiter that has it. */
function takenBySwitching(lengths: readonly number[], seconds: number): number {
  const buckets = new Buckets(1);
  buckets.setLimit(0, BYTES, NONE, NONE, 0);
  let taken = 0;
  for (let nowMs = 0; nowMs < seconds * 1000; nowMs += 10) {
    // The window that has just begun is emptied first, then the next one is met.
    const atEnd = (ms: number) => lengths.find((length) => length > 0 && ms % length === 0);
    const windowMs = atEnd(nowMs) ?? atEnd(nowMs + 10) ?? (lengths.includes(0) ? 0 : lengths[0]);
    buckets.setWindow(0, windowMs, nowMs);
    buckets.setLimit(0, MESSAGES, RATE, windowMs === 0 ? RATE / 10 : (RATE * windowMs) / 1000, nowMs);
    for (const atMs of [nowMs, nowMs + 9.999]) {
      const there = Math.floor(buckets.available(0, MESSAGES, atMs));
      if (there > 0 && buckets.tryTake(0, there, 0, atMs) === -1) taken += there;
    }
  }
  return taken;
}

describe('a change of configuration mints nothing', () => {
  test.each([
    [[1000, 1500], 1500],
    [[0, 1000], 1000],
    [[100, 0], 100],
    [[100, 1000, 1500], 1500],
  ])(
    'limiters and windows of %s ms, each at the right time: the rate, and two windows beside it',
    (lengths, longest) => {
      expect(takenBySwitching(lengths, 30)).toBeLessThanOrEqual(30 * RATE + (2 * RATE * longest) / 1000);
    },
  );

  test('what was spent of a window is owed by the bucket that follows, and the other way round', () => {
    const buckets = new Buckets(1);
    buckets.setLimit(0, BYTES, NONE, NONE, 0);
    buckets.setWindow(0, 1000, 0);
    buckets.setLimit(0, MESSAGES, 100, 100, 0);
    expect(buckets.tryTake(0, 100, 0, 200)).toBe(-1);
    buckets.setWindow(0, 0, 200);
    expect(buckets.debt(0, MESSAGES, 200)).toBe(80);
    buckets.setWindow(0, 1000, 300);
    expect(buckets.debt(0, MESSAGES, 300)).toBe(0);
    expect([buckets.available(0, MESSAGES, 999), buckets.available(0, MESSAGES, 1000)]).toEqual([0, 100]);
  });

  /** One client of 10/s and a burst of one, whose table gets another bound every 10 ms. */
  test.each(['perClient', 'perTopic'] as const)(
    'another bound on the number of rows of %s leaves them as they are',
    (level) => {
      const [limiter, group] = [new Limiter(2), groupOf({ [level]: { ...NO_LIMIT, publish: [10, NONE], max: 10 } })];
      limiter.validUntilMs.fill(NONE);
      const groups = [group];
      for (const dimension of [MESSAGES, BYTES]) limiter.setLimit(0, dimension, NONE, NONE, 0);
      const levels = new Levels(limiter, groups, { ...NO_LIMIT, burstMs: 100 }, 0);
      const request = { lane: 0, messages: 1, bytes: 0, retry: false, topic: 't', client: 'c' };
      let admitted = 0;
      for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
        const max = nowMs % 20 === 0 ? 10 : 11;
        groups[0] = { ...group, [level]: { ...group[level], max } };
        levels.groupChanged(0, nowMs);
        if (levels.tryAcquire(request, nowMs) === GRANTED) admitted++;
        expect(levels.maxOf(0, level === 'perClient' ? 'client' : 'topic')).toBe(max);
      }
      expect(admitted).toBeGreaterThanOrEqual(99);
      expect(admitted).toBeLessThanOrEqual(102.5);
    },
  );

  /** The lane of a group that came at run time has no row of its own from the start (mutant levels.ts:64). */
  test('a limit of clients that a group gets at run time decides from then on, in the direction that it names', () => {
    const limiter = new Limiter(2);
    limiter.validUntilMs.fill(NONE);
    const groups = [groupOf({ perTopic: { ...NO_LIMIT, dispatch: [10, NONE], max: 10 } })];
    for (const slot of [0, 1, 2, 3]) limiter.setLimit(slot >> 1, slot & 1, NONE, NONE, 0);
    const levels = new Levels(limiter, groups, { ...NO_LIMIT, burstMs: 100 }, 0);
    limiter.grow(4);
    for (const slot of [4, 5, 6, 7]) limiter.setLimit(slot >> 1, slot & 1, NONE, NONE, 0);
    limiter.validUntilMs.fill(NONE);
    groups.push(groupOf({ perClient: { ...NO_LIMIT, dispatch: [10, NONE], max: 10 } }));
    levels.groupChanged(1, 0);
    expect([...levels.beside]).toEqual([0, 1, 0, 1]);
    const request = (lane: number) => ({ lane, messages: 1, bytes: 0, retry: false, topic: '', client: 'c' });
    const granted = (lane: number) => {
      return Array.from({ length: 100 }, () => levels.tryAcquire(request(lane), 0)).filter((one) => one === GRANTED)
        .length;
    };
    expect([granted(2), granted(3)]).toEqual([100, 2]);
    groups[0] = groupOf({ perClient: { ...NO_LIMIT, publish: [10, NONE], max: 10 } });
    levels.groupChanged(0, 0);
    expect([...levels.beside]).toEqual([1, 0, 0, 1]);
    expect([granted(0), granted(1)]).toEqual([2, 100]);
  });

  test('a cut quota: what was held under the old one comes back as far as the new bucket holds', () => {
    const limiter = new Limiter(2);
    limiter.validUntilMs.fill(NONE);
    limiter.setLimit(0, BYTES, NONE, NONE, 0);
    limiter.setLimit(0, MESSAGES, 100_000, 10_000, 0);
    const levels = new Levels(limiter, [groupOf({})], { ...NO_LIMIT, burstMs: 100 }, 0);
    const joint = new JointLevels(levels, () => 60_000);
    const requests = Array.from({ length: 100 }, (_, at) => {
      const request = { lane: 0, messages: 1000, bytes: 0, retry: false, topic: '', client: '', ...ALONE };
      expect(joint.reserve(request, at * 10 + 10)).toBe(GRANTED);
      return request;
    });
    limiter.setLimit(0, MESSAGES, 100, 10, 1000);
    let admitted = 0;
    for (const request of requests) {
      joint.settle(request, 0, 0, 1060);
      while (limiter.tryAcquire(0, 1, 0, false, 1060) === GRANTED) admitted++;
    }
    expect(admitted).toBeLessThanOrEqual(100 * 0.06 + 10);
    expect(admitted).toBeGreaterThan(0);
  });
});

const ALONE = { further: [], counted: 0, namesScope: false, refusedLane: 0 };

function groupOf(levels: Partial<GroupLevels>): GroupLevels {
  const rest = { topics: 'shared', floorRatio: 0.001, limiter: 'bucket', windowMs: 1000 } as const;
  const own = { perTopic: { ...NO_LIMIT, max: 10 }, perClient: { ...NO_LIMIT, max: 10 } };
  return { ...rest, ...own, ...levels };
}
