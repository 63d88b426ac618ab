import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BYTES, DIRECTIONS, laneOf, MESSAGES, slotOf } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import type { GroupLevels, KeyedLimit } from '../../../../src/core/limiter/level-settings.js';
import { Levels } from '../../../../src/core/limiter/levels.js';
import { GRANTED, Limiter, REFUSED } from '../../../../src/core/limiter/limiter.js';
import type { TokenRequest } from '../../../../src/core/limiter/token-request.js';
import { runs } from '../../../property/seed.js';

const NONE = Infinity;
type Pair = readonly [number, number];

/** Multiples of 1,000/s, so that whole milliseconds bring whole tokens; every bucket is 100 ms deep. */
const BURST_MS = 100;
const RATES = {
  group: [
    [2000, 9000],
    [3000, NONE],
    [NONE, 8000],
    [4000, 7000],
  ],
  node: { publish: [4000, 16_000], dispatch: [5000, NONE] },
  topic: [
    { publish: [1000, NONE], dispatch: [2000, 6000] },
    { publish: [NONE, NONE], dispatch: [NONE, 3000] },
  ],
  client: [
    { publish: [1000, 5000], dispatch: [NONE, NONE] },
    { publish: [1000, NONE], dispatch: [2000, 4000] },
  ],
} as const;

const GROUPS = [0, 1].map((group): GroupLevels => {
  const keyed = (limit: Omit<KeyedLimit, 'max'>): KeyedLimit => ({ ...limit, max: 100 });
  return {
    topics: 'shared',
    perTopic: keyed(RATES.topic[group]),
    perClient: keyed(RATES.client[group]),
    floorRatio: 0.001,
    limiter: 'bucket',
    windowMs: 1000,
  };
});
const LANES = [0, 1].flatMap((group) => [laneOf(group, 0), laneOf(group, 1)]);

/** Each bucket that a request passes, by itself. */
class Twin {
  readonly refusals = [0, 0, 0, 0];
  readonly admitted = new Map(LANES.map((lane) => [lane, [0, 0]]));
  readonly attempted = new Map(LANES.map((lane) => [lane, [0, 0]]));
  readonly #buckets = new Map<string, Buckets>();

  constructor() {
    for (const lane of LANES) this.#make(`group ${lane}`, RATES.group[lane]);
    for (const [at, direction] of DIRECTIONS.entries()) this.#make(`node ${at}`, RATES.node[direction]);
  }

  tryAcquire(request: TokenRequest, nowMs: number): number {
    const answer = this.reserve(request, nowMs);
    if (answer === GRANTED) this.#count(request.lane, request, [this.admitted, this.attempted]);
    return answer;
  }

  reserve(request: TokenRequest, nowMs: number): number {
    const passed = this.#passed(request, true);
    for (const [level, bucket] of passed) {
      bucket.refill(0, nowMs);
      const refusedBy = bucket.refusedBy(0, request.messages, request.bytes);
      if (refusedBy === -1) continue;
      if (level === 0) this.#count(request.lane, request, [this.attempted]);
      else this.refusals[level] = this.refusals[level] + 1;
      return REFUSED + 2 * level + refusedBy;
    }
    for (const [, bucket] of passed) bucket.take(0, request.messages, request.bytes);
    return GRANTED;
  }

  putBack(request: TokenRequest): void {
    for (const [, bucket] of this.#passed(request)) bucket.putBack(0, request.messages, request.bytes);
  }

  settle(request: TokenRequest, cost: Pair, nowMs: number): void {
    const more = [Math.max(0, cost[0] - request.messages), Math.max(0, cost[1] - request.bytes)] as const;
    for (const [, bucket] of this.#passed(request, true)) bucket.charge(0, more[0], more[1], NONE, nowMs);
    this.#count(request.lane, { messages: cost[0], bytes: cost[1] }, [this.admitted, this.attempted]);
  }

  consume(request: TokenRequest, nowMs: number): void {
    const { messages, bytes } = request;
    for (const [, bucket] of this.#passed(request, true)) bucket.charge(0, messages, bytes, NONE, nowMs);
    this.#count(request.lane, request, [this.admitted, this.attempted]);
  }

  says(request: TokenRequest, nowMs: number): unknown {
    const { messages, bytes } = request;
    const passed = this.#passed(request).map(([, bucket]) => bucket);
    for (const bucket of passed) bucket.refill(0, nowMs);
    return {
      contains: passed.every((bucket) => bucket.refusedBy(0, messages, bytes) === -1),
      waitMs: Math.max(...passed.map((bucket) => bucket.waitMs(0, messages, bytes, nowMs))),
      throttleMs: Math.max(...passed.map((bucket) => bucket.throttleMs(0, nowMs))),
      available: [MESSAGES, BYTES].map((at) => Math.min(...passed.map((bucket) => bucket.available(0, at, nowMs)))),
    };
  }

  /** In the order in which they are asked; with their places among LEVELS. */
  #passed({ lane, topic, client }: TokenRequest, makes = false): [level: number, bucket: Buckets][] {
    const [group, direction] = [Math.floor(lane / 2), lane % 2];
    const keyed = [
      [2, `topic ${lane} ${topic}`, RATES.topic[group][DIRECTIONS[direction]]],
      [3, `client ${lane} ${client}`, RATES.client[group][DIRECTIONS[direction]]],
    ] as const;
    const found: [number, Buckets][] = [[1, this.#buckets.get(`node ${direction}`)!]];
    for (const [level, name, rates] of keyed) {
      if (makes && !this.#buckets.has(name)) this.#make(name, rates);
      const bucket = this.#buckets.get(name);
      if (bucket !== undefined) found.push([level, bucket]);
    }
    return [...found, [0, this.#buckets.get(`group ${lane}`)!]];
  }

  /** Full, as all that nobody has used. */
  #make(name: string, rates: Pair): void {
    const bucket = new Buckets(1);
    for (const at of [MESSAGES, BYTES] as const) bucket.setLimit(0, at, rates[at], depthOf(rates[at]), 0);
    bucket.fill(0, 0);
    this.#buckets.set(name, bucket);
  }

  #count(lane: number, { messages, bytes }: Pick<TokenRequest, 'messages' | 'bytes'>, counters: Counter[]): void {
    for (const counter of counters) {
      const sum = counter.get(lane)!;
      sum[MESSAGES] += messages;
      sum[BYTES] += bytes;
    }
  }
}
type Counter = Map<number, number[]>;

function depthOf(perSecond: number): number {
  return (perSecond * BURST_MS) / 1000;
}

function scene(groups: readonly GroupLevels[] = GROUPS) {
  const limiter = new Limiter(LANES.length);
  limiter.validUntilMs.fill(NONE);
  for (const lane of LANES) {
    const rates = RATES.group[lane];
    for (const at of [MESSAGES, BYTES] as const) limiter.setLimit(lane, at, rates[at], depthOf(rates[at]), 0);
    limiter.buckets.fill(lane, 0);
  }
  return { limiter, levels: new Levels(limiter, groups, { ...RATES.node, burstMs: BURST_MS }, 0) };
}

const place = fc.record({
  lane: fc.constantFrom(...LANES),
  topic: fc.constantFrom('t', 'u'),
  client: fc.constantFrom('c', 'd'),
});
const amount = fc.record({ messages: fc.oneof(fc.nat(5), fc.nat(150)), bytes: fc.oneof(fc.nat(9), fc.nat(700)) });
const request = fc.tuple(place, amount).map(([where, much]): TokenRequest => ({ ...where, ...much, retry: false }));
const act = fc.record({
  kind: fc.constantFrom('take', 'take', 'consume', 'settle', 'put back'),
  request,
  cost: amount,
  passMs: fc.oneof(fc.constant(0), fc.nat(60)),
});

describe('node, group, topic and client at once', () => {
  test('are as a bucket of each by itself: in what is said, taken and counted, in every lane', () => {
    fc.assert(
      fc.property(
        fc.array(act, { minLength: 1, maxLength: 12 }),
        fc.array(request, { maxLength: 6 }),
        (acts, asked) => {
          const { limiter, levels } = scene();
          const twin = new Twin();
          let nowMs = 0;
          for (const { kind, request: from, cost, passMs } of acts) {
            nowMs += passMs;
            if (kind === 'consume') {
              levels.consume(from, NONE, nowMs);
              twin.consume(from, nowMs);
            } else if (kind === 'take') {
              expect(levels.tryAcquire(from, nowMs)).toBe(twin.tryAcquire(from, nowMs));
            } else {
              const answer = levels.reserve(from, nowMs, null);
              expect(answer).toBe(twin.reserve(from, nowMs));
              if (answer !== GRANTED) continue;
              for (const each of [levels, twin] as const) {
                if (kind === 'put back') each.putBack(from);
                else if (each === twin) twin.settle(from, [cost.messages, cost.bytes], nowMs);
                else levels.settle(from, cost.messages, cost.bytes, NONE, nowMs);
              }
            }
            for (const each of [from, ...asked]) {
              const says = {
                contains: levels.containsTokens(each, nowMs),
                waitMs: levels.waitMs(each, nowMs),
                throttleMs: levels.throttleMs(each, nowMs),
                available: [MESSAGES, BYTES].map((at) => levels.available(each, at, nowMs)),
              };
              expect(says).toEqual(twin.says(each, nowMs));
            }
            expect([...levels.refusals]).toEqual(twin.refusals);
            for (const lane of LANES) {
              const counts = [limiter.admitted, limiter.attempted].map((figure) =>
                [MESSAGES, BYTES].map((at) => figure.at(slotOf(lane, at))),
              );
              expect(counts).toEqual([twin.admitted.get(lane), twin.attempted.get(lane)]);
            }
          }
        },
      ),
    );
  });

  test.each(['even', 'proportional'] as const)(
    'with a share divided over topics (%s): what is there is granted, and nothing else',
    (topics) => {
      const groups = GROUPS.map((group) => ({ ...group, topics }));
      let granted = 0;
      fc.assert(
        fc.property(fc.array(act, { minLength: 1, maxLength: 20 }), (acts) => {
          const { levels } = scene(groups);
          let nowMs = 0;
          for (const { request: from, passMs } of acts) {
            nowMs += passMs;
            levels.keep(nowMs);
            // Nothing, which makes its rows: what is there is said of rows that there are.
            levels.consume({ ...from, messages: 0, bytes: 0 }, NONE, nowMs);
            const isThere = levels.containsTokens(from, nowMs);
            expect(levels.waitMs(from, nowMs) === 0).toBe(isThere);
            expect(levels.tryAcquire(from, nowMs) === GRANTED).toBe(isThere);
            if (isThere) granted++;
          }
        }),
      );
      expect(granted).toBeGreaterThan(runs(300).numRuns);
    },
  );
});
