import { describe, expect, it } from 'vitest';
import type { LaneState } from '../../../../src/core/account/lanes/lane-state.js';
import { Limiter } from '../../../../src/core/limiter/limiter.js';
import { LookList } from '../../../../src/core/report/look-list.js';

const ROUND_MS = 20;
const SLOW_SPAN_MS = 5000;

/** Lanes with numbers far apart, as a node that serves a few of many groups has them. */
function served(count: number) {
  const lanes = Array.from({ length: count }, (_, at) => ({
    lane: at * 38,
    seat: at,
    touchedMs: -10_000,
    entry: { isOpen: true },
  }));
  const limiter = new Limiter(count * 38 + 1);
  limiter.validUntilMs.fill(Infinity);
  return { lanes: lanes as unknown as readonly LaneState[], limiter };
}

function scene(count: number) {
  const { lanes, limiter } = served(count);
  const looks = new LookList(limiter, SLOW_SPAN_MS, ROUND_MS);
  for (const lane of lanes) looks.add(lane);
  let round = 0;
  return {
    lanes,
    limiter,
    looks,
    /** The indexes looked at, and those sampled; `touched` are found to have been touched. */
    round(touched: readonly number[] = []) {
      const nowMs = ++round * ROUND_MS;
      const found = new Set(touched);
      looks.begin(nowMs);
      const indexes = [...looks.seats.subarray(0, looks.count)];
      const sampled = indexes.filter((index) => {
        const lane = looks.at(index);
        if (found.has(index)) lane.touchedMs = nowMs;
        return looks.isSampled(index, lane.touchedMs, nowMs);
      });
      return { indexes, sampled };
    },
    nowMs: () => round * ROUND_MS,
    ask: (index: number) => limiter.tryAcquire(lanes[index].lane, 1, 1, false, round * ROUND_MS + 10),
  };
}

describe('lanes at rest', () => {
  it.each([
    { lanes: 10, rounds: 25, most: 10 },
    { lanes: 625, rounds: 25, most: 25 },
    { lanes: 5000, rounds: 200, most: 25 },
    { lanes: 8000, rounds: 200, most: 40 },
  ])('$lanes lanes have their turn once in $rounds rounds', ({ lanes, rounds, most }) => {
    const { round } = scene(lanes);
    const turns = new Map<number, number>();
    let mostInARound = 0;
    for (let count = 0; count < rounds; count++) {
      const { indexes, sampled } = round();
      expect(sampled).toEqual(indexes);
      mostInARound = Math.max(mostInARound, indexes.length);
      for (const index of indexes) turns.set(index, (turns.get(index) ?? 0) + 1);
    }
    expect([turns.size, Math.max(...turns.values())]).toEqual([lanes, 1]);
    // Numbers of lanes are not spread evenly over the turns.
    expect(mostInARound).toBeLessThanOrEqual(2 * most);
  });
});

describe('lanes that were asked', () => {
  it('are looked at in the next round, in the order of the lanes, among those whose turn it is', () => {
    const { round, ask } = scene(5000);
    round();
    for (const index of [4000, 7, 31, 32, 4999]) ask(index);
    const { indexes } = round();
    for (const index of [7, 31, 32, 4000, 4999]) expect(indexes).toContain(index);
    expect(indexes).toEqual([...indexes].sort((one, other) => one - other));
    expect(indexes.length).toBeLessThan(5 + 60);
  });

  it('are looked at for half a second after they were touched last, and then rest', () => {
    const { round, ask } = scene(5000);
    round();
    ask(2500);
    expect(round([2500]).sampled).toContain(2500);
    for (let count = 0; count < 25; count++) expect(round().sampled, `round ${count}`).toContain(2500);
    let looks = 0;
    for (let count = 0; count < 200; count++) if (round().indexes.includes(2500)) looks++;
    expect(looks).toBe(1);
  });

  it('but not touched are looked at and not sampled', () => {
    const { round, ask } = scene(5000);
    round();
    const { sampled: turns } = round();
    ask(2500);
    const { indexes, sampled } = round();
    expect(indexes).toContain(2500);
    expect(sampled).not.toContain(2500);
    expect(turns).not.toContain(2500);
  });

  it('a lane that was put off is looked at again in the next round, once', () => {
    const { round, looks } = scene(100);
    const turn = round().indexes;
    const [index] = turn as [number];
    looks.putOff(index, false);
    const again = round();
    expect(again.indexes).toContain(index);
    expect(again.sampled).toContain(index);
    for (let count = 0; count < 20; count++) expect(round().indexes).not.toContain(index);
    // And as often as it is put off, also beside its own turn.
    for (let count = 0; count < 60; count++) {
      looks.putOff(index, false);
      expect(round().sampled.filter((sampled) => sampled === index)).toEqual([index]);
    }
  });
});

describe('lanes that come and go', () => {
  it('cost a look each, however many others are served', () => {
    const { round, lanes, looks, nowMs } = scene(5000);
    for (let count = 0; count < 60; count++) round();
    const atRest = round().indexes.length;
    for (let count = 0; count < 50; count++) {
      const lane = { ...lanes[0], lane: 1 + count * 38, seat: 5000 + (count % 2), touchedMs: nowMs() };
      looks.add(lane);
      const { indexes } = round();
      expect(indexes).toContain(lane.seat);
      expect(indexes.length).toBeLessThanOrEqual(atRest + 2);
      looks.remove(lane);
    }
  });

  it('one that has the seat of another is looked at as a new one', () => {
    const { round, lanes, looks, ask, nowMs } = scene(100);
    for (let count = 0; count < 60; count++) round();
    ask(7);
    looks.remove(lanes[7]);
    expect(round().indexes).not.toContain(7);
    looks.add({ ...lanes[7], lane: 7 * 38 + 1, touchedMs: nowMs() });
    expect(round().indexes).toContain(7);
    expect(looks.at(7).lane).toBe(7 * 38 + 1);
  });
});

describe('more busy lanes than a round looks at', () => {
  /** The rounds in which each lane was looked at; every lane is asked in every round. */
  function roundsOf(count: number, rounds: number) {
    const { round, ask } = scene(count);
    const all = Array.from({ length: count }, (_, index) => index);
    const seen = new Map(all.map((index) => [index, [] as number[]]));
    let most = 0;
    for (let at = 0; at < rounds; at++) {
      for (const index of all) ask(index);
      const { indexes } = round(all);
      most = Math.max(most, indexes.length);
      for (const index of indexes) seen.get(index)?.push(at);
    }
    return { most, seen: [...seen.values()] };
  }

  it.each([
    { lanes: 100, turns: 1, most: 100 },
    { lanes: 1000, turns: 10, most: 100 },
    { lanes: 5000, turns: 20, most: 250 },
  ])('$lanes are looked at once in $turns rounds, $most in a round', (expected) => {
    const { most, seen } = roundsOf(expected.lanes, 3 * expected.turns);
    expect(Math.min(...seen.map((rounds) => rounds.length))).toBeGreaterThanOrEqual(3);
    const gaps = seen.flatMap((rounds) => rounds.slice(1).map((at, before) => at - rounds[before]));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(expected.turns);
    // Beside the turns of lanes at rest, which all of them have.
    expect(most).toBeLessThanOrEqual(expected.most + 2 * Math.max(25, Math.ceil(expected.lanes / 200)));
  });

  it('one that has taken enough for a report does not wait for its turn', () => {
    const { round, ask, lanes, limiter } = scene(5000);
    const all = Array.from({ length: 5000 }, (_, index) => index);
    for (const index of all) ask(index);
    round(all);
    // Its turn among the busy is the seventeenth.
    const at = 4000;
    const still = {
      perSecond: 0,
      comesBackPerSecond: 0,
      room: 0,
      largest: Infinity,
      largestPerSecond: 0,
      anyInMs: Infinity,
    };
    const inflow = { ...still, takeable: 10, depth: 10, untilPublished: 2.5 };
    const { lane } = lanes[at];
    limiter.buckets.setLimit(lane, 1, Infinity, 1, 0);
    limiter.follow(lane, 0, inflow, 2 * ROUND_MS);
    ask(at);
    ask(at);
    const looks = Array.from({ length: 8 }, () => round().indexes.filter((index) => index === at).length);
    // It may have its turn among those at rest.
    expect(looks.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(1);
    ask(at);
    expect(round().indexes).toContain(at);
  });

  it('one that has something to say and was put off is looked at in the next round', () => {
    const { round, ask, looks } = scene(5000);
    const all = Array.from({ length: 5000 }, (_, index) => index);
    for (const index of all) ask(index);
    const { indexes } = round(all);
    const [pressing, other] = [indexes[0], indexes[1]];
    looks.putOff(pressing, true);
    looks.putOff(other, false);
    const next = round().indexes;
    expect([next.includes(pressing), next.includes(other)]).toEqual([true, false]);
  });

  it('one that was asked once has its turn, though it is touched no more and lanes come meanwhile', () => {
    const { round, ask, lanes, looks } = scene(5000);
    for (let count = 0; count < 30; count++) round();
    for (let index = 0; index < 5000; index++) ask(index);
    const seen = new Set<number>();
    for (let count = 0; count < 20; count++) {
      const lane = { ...lanes[0], lane: 1 + count * 38, seat: 5000 + count };
      looks.add(lane);
      for (const seat of round().indexes) if (seat < 5000) seen.add(seat);
      if (count % 2 === 0) looks.remove(lane);
    }
    expect(seen.size).toBe(5000);
  });
});
