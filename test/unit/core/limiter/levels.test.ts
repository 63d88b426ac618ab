import { describe, expect, test, vi } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import type { JointRequest } from '../../../../src/core/limiter/joint-levels.js';
import { KeyedBuckets } from '../../../../src/core/limiter/keyed-buckets.js';
import type { GroupLevels } from '../../../../src/core/limiter/level-settings.js';
import { CLIENTS_FULL, Levels, TOPICS_FULL } from '../../../../src/core/limiter/levels.js';
import { GRANTED, Limiter } from '../../../../src/core/limiter/limiter.js';
import type { TokenRequest } from '../../../../src/core/limiter/token-request.js';

const NONE = Infinity;
const NO_LIMIT = { publish: [NONE, NONE], dispatch: [NONE, NONE] } as const;

const GROUP: GroupLevels = {
  topics: 'shared',
  perTopic: { ...NO_LIMIT, max: 10 },
  perClient: { ...NO_LIMIT, max: 10 },
  floorRatio: 0.001,
  limiter: 'bucket',
  windowMs: 1000,
};

/** The publish lane of one group, full at 0. */
function scene(group: Partial<GroupLevels>, perSecond = 1000, node: readonly [number, number] = [NONE, NONE]) {
  const limiter = new Limiter(2);
  limiter.validUntilMs.fill(NONE);
  limiter.setLimit(0, MESSAGES, perSecond, Math.max(1, perSecond / 10), 0);
  limiter.setLimit(0, BYTES, NONE, NONE, 0);
  limiter.buckets.fill(0, 0);
  const levels = new Levels(limiter, [{ ...GROUP, ...group }], { ...NO_LIMIT, publish: node, burstMs: 100 }, 0);
  const requestOf = (from: Partial<TokenRequest>): JointRequest => ({
    lane: 0,
    messages: 1,
    bytes: 0,
    retry: false,
    topic: '',
    client: '',
    further: [],
    counted: 0,
    namesScope: false,
    refusedLane: 0,
    ...from,
  });
  return { limiter, levels, requestOf };
}

test('a group that is added at run time has its limits for each client, and those that were there keep theirs', () => {
  const limiter = new Limiter(2);
  const perClient = { ...NO_LIMIT, publish: [10, NONE], max: 10 } as const;
  const groups: GroupLevels[] = [{ ...GROUP, perClient }];
  const levels = new Levels(limiter, groups, { ...NO_LIMIT, burstMs: 100 }, 0);
  groups.push({ ...GROUP, perClient }, GROUP);
  limiter.grow(6);
  limiter.validUntilMs.fill(NONE);
  for (const group of [1, 2]) levels.groupChanged(group, 0);
  expect([...levels.beside]).toEqual([1, 0, 1, 0, 0, 0]);
  for (const lane of [0, 2]) {
    limiter.setLimit(lane, MESSAGES, 1000, 100, 0);
    limiter.setLimit(lane, BYTES, NONE, NONE, 0);
    limiter.buckets.fill(lane, 0);
    const request = { lane, messages: 1, bytes: 0, retry: false, topic: '', client: 'c' };
    let granted = 0;
    while (granted < 50 && levels.tryAcquire(request, 0) === GRANTED) granted++;
    // The share itself would carry 100.
    expect(granted).toBeLessThan(5);
  }
});

describe('a bounded number of rows', () => {
  test.each([
    ['topic', { perTopic: { ...NO_LIMIT, publish: [1, NONE], max: 10 } as const }, TOPICS_FULL],
    ['client', { perClient: { ...NO_LIMIT, publish: [1, NONE], max: 10 } as const }, CLIENTS_FULL],
  ])('the eleventh %s in use is refused, and let in when another is as good as new', (level, group, full) => {
    const { levels, requestOf } = scene(group);
    for (let at = 0; at < 10; at++) expect(levels.tryAcquire(requestOf({ [level]: `n${at}` }), 0)).toBe(GRANTED);
    expect(levels.tryAcquire(requestOf({ [level]: 'one more' }), 10)).toBe(full);
    expect(levels.tryAcquire(requestOf({ [level]: 'one more' }), 1000)).toBe(GRANTED);
  });
});

test.each([
  ['topics with a limit', 'topic', { perTopic: { ...NO_LIMIT, publish: [1, NONE], max: 3 } as const }],
  ['clients', 'client', { perClient: { ...NO_LIMIT, publish: [1, NONE], max: 3 } as const }],
  ['topics of a share', 'topic', { topics: 'even', perTopic: { ...NO_LIMIT, max: 3 } } as const],
])('the rows of %s go when they have been idle for ten seconds, as rounds go by', (_, level, group) => {
  const rowOf = vi.spyOn(KeyedBuckets.prototype, 'rowOf');
  const { levels, requestOf } = scene(group);
  for (const name of ['a', 'b', 'c']) levels.tryAcquire(requestOf({ [level]: name }), 0);
  const [rows] = rowOf.mock.contexts as KeyedBuckets[];
  rowOf.mockRestore();
  const sizes = [];
  for (let nowMs = 0; nowMs <= 12_000; nowMs += 500) {
    levels.keep(nowMs);
    sizes.push(rows?.size);
  }
  expect(sizes).toEqual([...Array(20).fill(3), ...Array(5).fill(0)]);
});
