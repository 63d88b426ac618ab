import { describe, expect, test, vi } from 'vitest';
import { BYTES, MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { JointLevels, type JointRequest } from '../../../../src/core/limiter/joint-levels.js';
import { KeyedBuckets } from '../../../../src/core/limiter/keyed-buckets.js';
import type { GroupLevels } from '../../../../src/core/limiter/level-settings.js';
import {
  CLIENTS_FULL,
  isOwnLimit,
  LEVELS,
  Levels,
  refusedBy,
  TOPICS_FULL,
} from '../../../../src/core/limiter/levels.js';
import { GRANTED, Limiter, REFUSED } from '../../../../src/core/limiter/limiter.js';
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

/** `client/messages`. */
function refusalOf(answer: number): string {
  return `${LEVELS[Math.floor((answer - REFUSED) / 2)]}/${(answer - REFUSED) % 2 === 0 ? 'messages' : 'bytes'}`;
}

describe('all or nothing over all levels', () => {
  const perClient = { ...NO_LIMIT, publish: [10, 1000], max: 10 } as const;
  const perTopic = { ...NO_LIMIT, publish: [50, NONE], max: 10 } as const;

  test.each([
    ['node/bytes', { messages: 1, bytes: 1000, topic: 't', client: 'c' }],
    ['topic/messages', { messages: 3, topic: 't', client: 'c' }],
    ['client/messages', { messages: 2, topic: 'u', client: 'c' }],
    ['client/bytes', { messages: 0, bytes: 97, topic: 'u', client: 'd' }],
    ['group/messages', { messages: 93, topic: 'v', client: 'e' }],
  ])('%s refuses, and nothing is charged anywhere', (refused, from) => {
    const isGroup = refused.startsWith('group');
    const { limiter, levels, requestOf } = scene(isGroup ? {} : { perClient, perTopic }, 1000, [NONE, 2000]);
    levels.consume(requestOf({ messages: 12, bytes: 10, topic: 't', client: 'x' }), 1e6, 0);
    levels.consume(requestOf({ messages: 2, bytes: 0, topic: 'u', client: 'c' }), 1e6, 0);
    levels.consume(requestOf({ messages: 0, bytes: 5, topic: 'u', client: 'd' }), 1e6, 0);
    const tokens = [...limiter.tokens];
    const there = levels.available(requestOf(from), MESSAGES, 0);
    expect(levels.containsTokens(requestOf(from), 0)).toBe(false);
    expect(refusalOf(levels.tryAcquire(requestOf(from), 0))).toBe(refused);
    expect([...limiter.tokens]).toEqual(tokens);
    expect(levels.available(requestOf(from), MESSAGES, 0)).toBe(there);
    const waitMs = levels.waitMs(requestOf(from), 0);
    expect(waitMs).toBeGreaterThan(0);
    expect(levels.tryAcquire(requestOf(from), waitMs * 0.99)).not.toBe(GRANTED);
    expect(levels.tryAcquire(requestOf(from), waitMs)).toBe(GRANTED);
  });

  test('what a fixed limit refuses is not demand of the group', () => {
    const { limiter, levels, requestOf } = scene({ perClient });
    for (let time = 0; time < 50; time++) levels.tryAcquire(requestOf({ client: 'c' }), 0);
    expect(limiter.attempted.at(MESSAGES)).toBe(limiter.admitted.at(MESSAGES));
    expect(levels.refusals[3]).toBe(50 - limiter.admitted.at(MESSAGES));
  });

  test('a reservation gives back what was too much, and charges what was too little, everywhere', () => {
    const { limiter, levels, requestOf } = scene({ perClient: { ...perClient, publish: [100, NONE] } });
    const reserved = requestOf({ messages: 5, client: 'c' });
    const joint = new JointLevels(levels, () => 1e6);
    expect(joint.reserve(reserved, 0)).toBe(GRANTED);
    expect(limiter.admitted.at(MESSAGES)).toBe(0);
    joint.settle(reserved, 2, 0, 0);
    expect([limiter.admitted.at(MESSAGES), limiter.tokens.at(MESSAGES)]).toEqual([2, 98]);
    joint.reserve(reserved, 0);
    joint.settle(reserved, 50, 0, 0);
    expect([limiter.admitted.at(MESSAGES), limiter.tokens.at(MESSAGES)]).toEqual([52, 48]);
    expect(levels.tryAcquire(requestOf({ client: 'c' }), 0)).not.toBe(GRANTED);
    expect(levels.tryAcquire(requestOf({ client: 'd' }), 0)).toBe(GRANTED);
  });
});

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

describe('topics of a share', () => {
  /** A hot topic asks for everything, ten quiet ones for 10/s each, of 1,000/s; returns what each was admitted. */
  function run(topics: GroupLevels['topics']) {
    const { levels, requestOf } = scene({ topics, perTopic: { ...NO_LIMIT, max: 100 } });
    const admitted = new Map<string, number>();
    const attempted = new Map<string, number>();
    const one = (topic: string, nowMs: number) => {
      if (nowMs > 5000) attempted.set(topic, (attempted.get(topic) ?? 0) + 1);
      const granted = levels.tryAcquire(requestOf({ topic }), nowMs) === GRANTED;
      if (granted && nowMs > 5000) admitted.set(topic, (admitted.get(topic) ?? 0) + 1);
    };
    for (let nowMs = 0; nowMs < 25_000; nowMs++) {
      for (let time = 0; time < 5; time++) one('hot', nowMs);
      for (let quiet = 0; quiet < 10; quiet++) if ((nowMs + quiet * 13) % 100 === 0) one(`quiet ${quiet}`, nowMs);
      if (nowMs % 20 === 0) levels.keep(nowMs);
    }
    const quiet = [...attempted].filter(([topic]) => topic !== 'hot');
    const served = quiet.map(([topic, count]) => (admitted.get(topic) ?? 0) / count);
    const total = [...admitted.values()].reduce((sum, count) => sum + count, 0);
    return { least: Math.min(...served), utilisation: total / 20_000 };
  }

  test('shared: the hot one starves its neighbours', () => {
    expect(run('shared').least).toBeLessThan(0.5);
  });

  test('even: it does not, and 97 % of the share are used', () => {
    const { least, utilisation } = run('even');
    expect(least).toBeGreaterThan(0.98);
    expect(utilisation).toBeGreaterThan(0.97);
    expect(utilisation).toBeLessThanOrEqual(1.005);
  });

  test('proportional: by what they use', () => {
    const { utilisation } = run('proportional');
    expect(utilisation).toBeGreaterThan(0.97);
    expect(utilisation).toBeLessThanOrEqual(1.005);
  });
});

test('the own limits are those of topics and clients, in both dimensions; group and node are met by all', () => {
  const answers = LEVELS.flatMap((_, level) => [REFUSED + 2 * level, REFUSED + 2 * level + 1]);
  expect(answers.map((answer) => [refusedBy(answer).level, refusedBy(answer).dimension, isOwnLimit(answer)])).toEqual([
    ['group', MESSAGES, false],
    ['group', BYTES, false],
    ['node', MESSAGES, false],
    ['node', BYTES, false],
    ['topic', MESSAGES, true],
    ['topic', BYTES, true],
    ['client', MESSAGES, true],
    ['client', BYTES, true],
  ]);
});
