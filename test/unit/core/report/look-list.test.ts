import { describe, expect, it } from 'vitest';
import type { LaneState } from '../../../../src/core/lanes/lane-state.js';
import { Limiter } from '../../../../src/core/limiter/limiter.js';
import { LookList } from '../../../../src/core/report/look-list.js';

const ROUND_MS = 20;
const SLOW_SPAN_MS = 5000;

/** Lanes with numbers far apart, as a node that serves a few of many groups has them. */
function served(count: number) {
  const lanes = Array.from({ length: count }, (_, at) => ({ lane: at * 38, touchedMs: -10_000, hasEntry: true }));
  const limiter = new Limiter(count * 38 + 1);
  limiter.validUntilMs.fill(Number.POSITIVE_INFINITY);
  return { lanes: lanes as unknown as readonly LaneState[], limiter };
}

function scene(count: number) {
  const { lanes, limiter } = served(count);
  const looks = new LookList(limiter, SLOW_SPAN_MS, ROUND_MS);
  let round = 0;
  return {
    lanes,
    limiter,
    looks,
    /** The indexes looked at, and those sampled; `touched` are found to have been touched. */
    round(touched: readonly number[] = []) {
      const nowMs = ++round * ROUND_MS;
      looks.begin(lanes, nowMs);
      const indexes = [...looks.indexes.subarray(0, looks.count)];
      const sampled = indexes.filter((index) => {
        const lane = lanes[index] as LaneState;
        if (touched.includes(index)) lane.touchedMs = nowMs;
        return looks.isSampled(index, lane.touchedMs, nowMs);
      });
      return { indexes, sampled };
    },
    ask: (index: number) => limiter.tryAcquire((lanes[index] as LaneState).lane, 1, 1, false, round * ROUND_MS + 10),
  };
}

describe('lanes at rest', () => {
  it.each([
    { lanes: 10, rounds: 25, most: 10 },
    { lanes: 625, rounds: 25, most: 25 },
    { lanes: 2000, rounds: 80, most: 25 },
    { lanes: 5000, rounds: 200, most: 25 },
    { lanes: 20_000, rounds: 200, most: 100 },
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
