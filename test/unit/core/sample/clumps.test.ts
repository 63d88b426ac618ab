import { describe, expect, test } from 'vitest';
import { Random } from '../../../../sim/cluster/random.js';
import { MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Limiter } from '../../../../src/core/limiter/limiter.js';
import { Clumps } from '../../../../src/core/report/sample/clumps.js';
import { LaneSample } from '../../../../src/core/report/sample/lane-sample.js';

const LOOK_MS = 20;

/** A lane whose arrivals are counted and looked at every 20 ms. */
class Lane {
  readonly clumps = new Clumps();
  readonly #limiter = new Limiter(1);
  readonly #sample = new LaneSample(50, 5000, LOOK_MS);
  #nowMs = 1000;

  constructor() {
    this.#sample.begin(this.#limiter, 0, this.#nowMs);
  }

  run(durationMs: number, arrivedAt: (look: number) => number): number {
    for (let look = 0; look < durationMs / LOOK_MS; look++) {
      for (let piece = arrivedAt(look); piece > 0; piece--) this.#limiter.countArrival(0, 1, 0);
      this.#nowMs += LOOK_MS;
      this.#sample.take(this.#limiter, 0, this.#nowMs);
      this.clumps.take(this.#sample);
    }
    return this.clumps.piecesOf(MESSAGES);
  }
}

/** Poisson arrivals of a look. */
function arrivals(random: Random, perSecond: number): number {
  let count = 0;
  for (let atMs = random.exponential(1000 / perSecond); atMs < LOOK_MS; atMs += random.exponential(1000 / perSecond)) {
    count++;
  }
  return count;
}

describe('how many pieces come together', () => {
  test.each([1, 10, 100, 1000])('one by one, at random, %d/s: 1, at all times', (perSecond) => {
    const random = Random.stream(perSecond, 'one by one');
    const lane = new Lane();
    for (let second = 0; second < 60; second++) expect(lane.run(1000, () => arrivals(random, perSecond))).toBe(1);
  });

  test.each([5, 20, 200])('bursts of %d every second: so many', (size) => {
    // What fell is remembered one look longer than what came.
    const pieces = new Lane().run(10_000, (look) => (look % 50 === 0 ? size : 0));
    expect(pieces / size).toBeCloseTo(1, 1);
  });

  test('it is known when the first burst is over', () => {
    const lane = new Lane();
    expect(lane.run(LOOK_MS, () => 20)).toBe(1);
    expect(lane.run(LOOK_MS, () => 0)).toBeCloseTo(20, 0);
  });

  test('a rate that rises tenfold, falls, and rises again has no clumps', () => {
    const random = Random.stream(1, 'steps');
    const lane = new Lane();
    for (let second = 0; second < 60; second++) {
      expect(lane.run(1000, () => arrivals(random, second % 2 === 0 ? 50 : 500))).toBe(1);
    }
  });

  test('it is forgotten within a second of steady work, and in a while without any', () => {
    const lane = new Lane();
    lane.run(3000, (look) => (look % 50 === 0 ? 20 : 0));
    expect(lane.run(1000, () => 20)).toBe(1);
    const idle = new Lane();
    idle.run(3000, (look) => (look % 50 === 0 ? 20 : 0));
    expect(idle.run(600_000, () => 0)).toBe(1);
  });

  test('one burst of 600 is forgotten within 10 s of 20/s', () => {
    const lane = new Lane();
    lane.run(1000, (look) => (look === 0 ? 600 : 0));
    expect(lane.run(10_000, (look) => (look % 2 === 0 && look % 5 !== 0 ? 1 : 0))).toBe(1);
  });

  test('bursts of 20 every 15 s are remembered in between', () => {
    const lane = new Lane();
    for (let burst = 0; burst < 5; burst++) {
      expect(lane.run(15_000, (look) => (look === 0 ? 20 : 0))).toBeCloseTo(20, 0);
    }
  });
});
