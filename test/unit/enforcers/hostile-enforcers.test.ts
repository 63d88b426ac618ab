import { describe, expect, it } from 'vitest';
import { EnforcerScene, LANE, LIMIT, ROUND_MS, rateOf, Wanting } from './enforcer-scene.js';

const DEBT_MS = 60_000;
const MOST = Number.MAX_SAFE_INTEGER;

describe('an enforcer that lies', () => {
  it('in its counts: the lane owes what debtMs allows, once, and every number stays finite', async () => {
    const scene = new EnforcerScene();
    await scene.report('honest', 0);
    await scene.report('liar', 0, { isHeldBack: true });
    scene.pass(100);
    await scene.report('liar', MOST, { isHeldBack: true, bytes: MOST });
    scene.pass(100);
    const told = await scene.report('liar', MOST, { isHeldBack: true, bytes: MOST });
    for (const { rate, depth } of told.parts) {
      for (const units of [...rate, ...depth]) expect(units).toBeGreaterThanOrEqual(0);
    }
    expect(scene.limiter.buckets.debt(LANE, 0, scene.nowMs)).toBeLessThanOrEqual((LIMIT * DEBT_MS) / 1000 + LIMIT);
    for (let second = 0; second < DEBT_MS / 1000 + 4; second++) {
      await scene.report('honest', 0);
      await scene.report('liar', MOST, { bytes: MOST });
      scene.pass(1000);
    }
    expect(scene.limiter.buckets.debt(LANE, 0, scene.nowMs)).toBe(0);
    expect(rateOf(await scene.report('honest', 0))).toBeGreaterThan(0.3 * LIMIT);
  });

  it('by counts that go back: nothing is charged twice, nothing is given back, and it is counted', async () => {
    const scene = new EnforcerScene();
    await scene.report('a', 0);
    for (const admitted of [500, 0, 500, 400, 500]) {
      scene.pass(100);
      await scene.report('a', admitted);
    }
    for (let at = 0; at < 50; at++) {
      scene.pass(100);
      await scene.report('a', 500);
    }
    // 90 is what it presumably admitted in the 100 ms after its 500.
    expect(scene.charged).toBeGreaterThanOrEqual(500);
    expect(scene.charged).toBeLessThanOrEqual(600);
    expect(scene.enforcers.lowerCounts).toBe(2);
  });

  it('by being held back for ever: it gets its equal part, and who wants less than that loses nothing', async () => {
    const scene = new EnforcerScene();
    const honest = new Wanting(scene, 'honest', 300);
    for (let turn = 0; turn < 60; turn++) {
      await scene.report('liar', 0, { isHeldBack: true });
      await honest.turn();
      scene.pass(100);
    }
    expect(honest.rate).toBeGreaterThanOrEqual(300);
    expect(rateOf(await scene.report('liar', 0, { isHeldBack: true }))).toBeLessThanOrEqual(LIMIT - 300);
  });
});

describe('two processes with one name', () => {
  it('and different lives: the newer one has the part, the older one is told so for as long as it asks', async () => {
    const scene = new EnforcerScene();
    await scene.report('a', 0, { life: 1 });
    await scene.report('a', 0, { life: 2 });
    for (let at = 0; at < 5; at++) {
      scene.pass(100);
      await expect(scene.report('a', 10, { life: 1 })).rejects.toMatchObject({ code: 'ENFORCER_REPLACED' });
      await scene.report('a', 0, { life: 2 });
    }
    expect([scene.enforcers.alive, scene.enforcers.inLane(LANE)]).toEqual([1, 1]);
  });

  it('and one life cannot be told apart: the higher count is charged, and the lower ones are counted', async () => {
    const scene = new EnforcerScene();
    await scene.report('a', 0);
    for (let second = 1; second <= 5; second++) {
      scene.pass(500);
      await scene.report('a', 100 * second);
      scene.pass(500);
      await scene.report('a', 10 * second);
    }
    scene.pass(4000);
    expect(scene.charged).toBeGreaterThanOrEqual(500);
    expect(scene.enforcers.lowerCounts).toBe(5);
  });
});

describe('what grows', () => {
  it('many enforcers of one lane that report within a moment are divided among once, not once per report', async () => {
    const scene = new EnforcerScene();
    const names = Array.from({ length: 200 }, (_, at) => `e${at}`);
    for (const name of names) await scene.report(name, 0);
    scene.pass(ROUND_MS);
    scene.nowMs += ROUND_MS;
    const before = scene.served;
    for (const name of names) await scene.report(name, 1);
    // Each report says that the lane is in use, and one of them divides.
    expect(scene.served - before).toBe(names.length + 1);
  });

  it('thousands of lanes take turns: a round looks at 500 of them, and each has its turn within a second', async () => {
    const scene = new EnforcerScene(6000);
    const lanesOf = (from: number) => Array.from({ length: 1000 }, (_, at) => from + at);
    for (let at = 0; at < 6; at++) await scene.report(`e${at}`, 0, { lanes: lanesOf(1000 * at) });
    scene.pass(100);
    for (let at = 0; at < 6; at++) {
      await scene.report(`e${at}`, 50, { lanes: lanesOf(1000 * at) });
    }
    const before = scene.served;
    for (let round = 1; round <= 1000 / ROUND_MS; round++) {
      scene.pass(ROUND_MS);
      expect(scene.served - before).toBeLessThanOrEqual(500 * round);
    }
    for (let lane = 0; lane < 6000; lane++) expect(scene.limiter.admitted.at(2 * lane)).toBeGreaterThanOrEqual(50);
  });

  it('a wait that is abandoned ends, whoever asks next', async () => {
    const scene = new EnforcerScene();
    const { version } = await scene.report('a', 0);
    for (let at = 0; at < 100; at++) {
      const hangUp = new AbortController();
      const waiting = scene.report('a', 0, { seen: version, waitMs: 50_000, signal: hangUp.signal });
      hangUp.abort();
      await waiting;
    }
    let isEnded = false;
    const last = scene.report('a', 0, { seen: version, waitMs: 900 }).then(() => {
      isEnded = true;
    });
    await Promise.resolve();
    expect(isEnded).toBe(false);
    scene.pass(1000);
    await last;
  });

  it('a silent enforcer’s counts of a key are not those of the key that has its number now', async () => {
    const scene = new EnforcerScene();
    await scene.report('a', 100);
    scene.pass(10_000);
    scene.group = 'another';
    await scene.report('a', 90_000);
    expect(scene.charged).toBe(0);
    expect(scene.enforcers.inLane(LANE)).toBe(1);
  });
});
