import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import type { GroupLevels } from '../../../../src/core/limiter/level-settings.js';
import { Levels } from '../../../../src/core/limiter/levels.js';
import { GRANTED, Limiter } from '../../../../src/core/limiter/limiter.js';

const NONE = Infinity;
const NO_LIMIT = { publish: [NONE, NONE], dispatch: [NONE, NONE] } as const;

describe('a change of configuration mints nothing', () => {
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
});

function groupOf(levels: Partial<GroupLevels>): GroupLevels {
  const rest = { topics: 'shared', floorRatio: 0.001, limiter: 'bucket', windowMs: 1000 } as const;
  const own = { perTopic: { ...NO_LIMIT, max: 10 }, perClient: { ...NO_LIMIT, max: 10 } };
  return { ...rest, ...own, ...levels };
}
