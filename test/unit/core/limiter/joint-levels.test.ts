import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BYTES, laneOf, MESSAGES, slotOf } from '../../../../src/core/base/vocabulary.js';
import { JointLevels, type JointRequest } from '../../../../src/core/limiter/joint-levels.js';
import type { GroupLevels } from '../../../../src/core/limiter/level-settings.js';
import { Levels } from '../../../../src/core/limiter/levels.js';
import { GRANTED, Limiter, REFUSED } from '../../../../src/core/limiter/limiter.js';
import { runs } from '../../../property/seed.js';

const NONE = Infinity;
const NO_LIMIT = { publish: [NONE, NONE], dispatch: [NONE, NONE] } as const;
const LANES = [0, 1, 2].map((group) => laneOf(group, 0));
/** Messages and bytes that a group's bucket holds. */
const DEPTH = [100, 1000] as const;

/** Three groups with full buckets at 0, a limit for each client in the last one, and one of the node. */
function scene({ node = NONE, clients = 10 } = {}) {
  const limiter = new Limiter(6);
  limiter.validUntilMs.fill(NONE);
  for (const lane of LANES) {
    limiter.setLimit(lane, MESSAGES, 100, DEPTH[MESSAGES], 0);
    limiter.setLimit(lane, BYTES, 1000, DEPTH[BYTES], 0);
    limiter.buckets.fill(lane, 0);
  }
  const group: GroupLevels = {
    topics: 'shared',
    perTopic: { ...NO_LIMIT, max: 10 },
    perClient: { ...NO_LIMIT, max: 10 },
    floorRatio: 0.001,
    limiter: 'bucket',
    windowMs: 1000,
  };
  const last = { ...group, perClient: { ...NO_LIMIT, publish: [600, NONE], max: clients } } as const;
  const levels = new Levels(limiter, [group, group, last], { ...NO_LIMIT, publish: [node, NONE], burstMs: 1000 }, 0);
  const joint = new JointLevels(levels, () => 1e6);
  const tokens = () => LANES.map((lane) => [MESSAGES, BYTES].map((at) => limiter.tokens.at(slotOf(lane, at))));
  return { limiter, levels, joint, tokens };
}

function requestOf(lanes: readonly number[], messages: number, bytes = 0, client = 'c'): JointRequest {
  const [lane = 0, ...further] = lanes;
  const from = { messages, bytes, client, topic: '', retry: false };
  return { ...from, lane, further, counted: 0, namesScope: false, refusedLane: lane };
}

const amount = fc.record({
  messages: fc.oneof(fc.nat(5), fc.nat(70)),
  bytes: fc.oneof(fc.constant(0), fc.nat(600)),
  client: fc.constantFrom('c', 'd'),
});
const lanes = fc.shuffledSubarray(LANES, { minLength: 1 });

describe('several groups are as one whose every level is the tightest of theirs', () => {
  test('in what they say, and in what they take: from all of them or from none', () => {
    const spent = fc.record({ lane: fc.constantFrom(...LANES), spend: amount });
    fc.assert(
      fc.property(fc.array(spent, { maxLength: 8 }), lanes, amount, fc.nat(500), (before, asked, one, nowMs) => {
        const { levels, joint, limiter, tokens } = scene();
        for (const { lane, spend } of before)
          levels.consume(requestOf([lane], spend.messages, spend.bytes, spend.client), 1e6, 0);
        const together = requestOf(asked, one.messages, one.bytes, one.client);
        const apart = asked.map((lane) => requestOf([lane], one.messages, one.bytes, one.client));
        expect(joint.waitMs(together, nowMs)).toBe(Math.max(...apart.map((each) => levels.waitMs(each, nowMs))));
        expect(joint.throttleMs(together, nowMs)).toBe(
          Math.max(...apart.map((each) => levels.throttleMs(each, nowMs))),
        );
        for (const dimension of [MESSAGES, BYTES]) {
          const least = Math.min(...apart.map((each) => levels.available(each, dimension, nowMs)));
          expect(joint.available(together, dimension, nowMs)).toBe(least);
        }
        const lacking = asked.filter((_, at) => !levels.containsTokens(apart[at], nowMs));
        expect(joint.containsTokens(together, nowMs)).toBe(lacking.length === 0);

        for (const lane of LANES) limiter.buckets.refill(lane, nowMs);
        const held = tokens();
        const answer = joint.tryAcquire(together, nowMs);
        // A client that nobody has seen has a full row, which a larger amount finds too small.
        const isGranted = answer === GRANTED;
        if (lacking.length > 0) expect(isGranted).toBe(false);
        const took = (lane: number) => (isGranted && asked.includes(lane) ? [one.messages, one.bytes] : [0, 0]);
        const expected = LANES.map((lane, at) => held[at].map((had, dimension) => had - took(lane)[dimension]));
        expect(tokens()).toEqual(expected);
        if (isGranted || asked.length === 1) return;
        expect(together.refusedLane).toBe(lacking[0] ?? LANES[2]);
        // Demand only of those that lack tokens: a larger share of the others would not admit it.
        const refusing = asked.map((lane, at) => [lane, levels.containsTokens(apart[at], nowMs), at] as const);
        for (const [, contains, at] of refusing) expect((together.counted >> at) & 1).toBe(contains ? 0 : 1);
      }),
    );
  });

  test('the limit of the node is charged once, whatever number of groups', () => {
    const { joint } = scene({ node: 50 });
    expect(joint.tryAcquire(requestOf(LANES, 30), 0)).toBe(GRANTED);
    expect(joint.available(requestOf(LANES, 1), MESSAGES, 0)).toBe(20);
    expect(joint.tryAcquire(requestOf(LANES, 20), 0)).toBe(GRANTED);
    expect(joint.tryAcquire(requestOf(LANES, 1), 0)).toBeGreaterThanOrEqual(REFUSED);
  });
});

describe('a reservation', () => {
  test.each([
    ['costs as much as was reserved', 10, 100],
    ['costs less: what was too much comes back', 4, 40],
    ['costs more: what was too little is charged', 25, 250],
    ['costs nothing', 0, 0],
  ])('that %s, in every group', (_, messages, bytes) => {
    const { joint, tokens, limiter } = scene();
    const reserved = requestOf(LANES, 10, 100);
    expect(joint.reserve(reserved, 0)).toBe(GRANTED);
    expect(tokens()).toEqual(LANES.map(() => [90, 900]));
    joint.settle(reserved, messages, bytes, 0);
    expect(tokens()).toEqual(LANES.map(() => [100 - messages, 1000 - bytes]));
    expect(LANES.map((lane) => limiter.admitted.at(slotOf(lane, MESSAGES)))).toEqual(LANES.map(() => messages));
    // What is settled twice gives nothing back twice.
    joint.settle(reserved, 10, 100, 0);
    expect(tokens()).toEqual(LANES.map(() => [100 - messages, 1000 - bytes]));
  });
});

test('what is granted counts as admitted in every group that it is of, and what is refused in none', () => {
  let refused = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(lanes, amount), { minLength: 1, maxLength: 8 }), (requests) => {
      const { limiter, joint } = scene();
      const admittedOf = (lane: number) => {
        const counts: number[] = [];
        limiter.countsInto(lane, counts, 0);
        return [counts[4], counts[5]];
      };
      const expected = new Map(LANES.map((lane) => [lane, [0, 0] as [number, number]]));
      for (const [of, { messages, bytes, client }] of requests) {
        if (joint.tryAcquire(requestOf(of, messages, bytes, client), 0) !== GRANTED) {
          refused++;
          continue;
        }
        for (const lane of of) {
          const sum = expected.get(lane) as [number, number];
          sum[MESSAGES] += messages;
          sum[BYTES] += bytes;
        }
      }
      for (const lane of LANES) expect(admittedOf(lane)).toEqual(expected.get(lane));
    }),
    runs(200),
  );
  expect(refused).toBeGreaterThan(runs(50).numRuns);
});
