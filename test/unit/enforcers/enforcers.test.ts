import { describe, expect, it } from 'vitest';
import { EnforcerScene, LANE, LIMIT, ROUND_MS, rateOf, Wanting } from './enforcer-scene.js';

async function turns(count: number, enforcers: readonly Wanting[], own: () => void = () => {}): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    for (const one of enforcers) await one.turn();
    own();
    enforcers[0]?.scene.pass(100);
  }
}

describe('enforcers', () => {
  it('hidden demand: who is held back gets what others leave, within two seconds of a turn', async () => {
    const scene = new EnforcerScene();
    const [a, b] = [new Wanting(scene, 'a', 900), new Wanting(scene, 'b', 50)];
    await turns(20, [a, b]);
    expect(a.rate).toBeGreaterThanOrEqual(880);
    expect(b.rate).toBeGreaterThanOrEqual(50);
    Object.assign(a, { wish: 50 });
    Object.assign(b, { wish: 5000 });
    await turns(20, [a, b]);
    expect(b.rate).toBeGreaterThanOrEqual(850);
  });

  it('all that is admitted is charged, and is not above the limit', async () => {
    const scene = new EnforcerScene();
    const both = [new Wanting(scene, 'a', 5000), new Wanting(scene, 'b', 5000)];
    await turns(100, both);
    const admitted = both.reduce((sum, one) => sum + one.admitted, 0);
    expect(admitted).toBeLessThanOrEqual(10 * LIMIT + 100);
    expect(admitted).toBeGreaterThanOrEqual(0.95 * 10 * LIMIT);
    expect(Math.abs(scene.charged - admitted)).toBeLessThanOrEqual(0.1 * LIMIT);
    expect(both[0]?.rate).toBeCloseTo(both[1]?.rate, -1);
  });

  it('a pause of the node makes no debt: what was admitted meanwhile is charged to the tokens of that time', async () => {
    const scene = new EnforcerScene();
    const a = new Wanting(scene, 'a', 5000);
    await turns(20, [a]);
    const before = a.rate;
    // Neither a round nor a report for 0.6 s, six times what the bucket holds.
    a.admitted += 0.5 * a.rate;
    scene.nowMs += 550;
    scene.pass(50);
    await turns(1, [a]);
    expect(a.rate).toBeGreaterThanOrEqual(0.95 * before);
    expect(Math.abs(scene.charged - a.admitted)).toBeLessThanOrEqual(0.1 * LIMIT);
  });

  it('own requests are one of those who share: enforcers leave them their part', async () => {
    const scene = new EnforcerScene();
    const a = new Wanting(scene, 'a', 5000);
    let granted = 0;
    const own = () => {
      for (let at = 0; at < 50; at++) granted += scene.limiter.tryAcquire(LANE, 1, 0, false, scene.nowMs) === 0 ? 1 : 0;
    };
    await turns(20, [a], own);
    const before = [granted, a.admitted] as const;
    await turns(50, [a], own);
    // 500/s wanted by own requests, the rest by the enforcer: each gets half.
    expect(granted - before[0]).toBeGreaterThanOrEqual(0.9 * 2500);
    expect(a.admitted - before[1]).toBeGreaterThanOrEqual(0.9 * 2500);
    expect(granted - before[0] + a.admitted - before[1]).toBeLessThanOrEqual(5 * LIMIT + 100);
  });

  it('silence ends a part after its time to live, and others get it', async () => {
    const scene = new EnforcerScene();
    const [a, b] = [new Wanting(scene, 'a', 5000), new Wanting(scene, 'b', 5000)];
    await turns(20, [a, b]);
    expect(b.rate).toBeLessThan(600);
    await turns(29, [b]);
    expect(scene.enforcers.alive).toBe(2);
    await turns(20, [b]);
    expect(scene.enforcers.alive).toBe(1);
    expect(b.rate).toBeGreaterThan(900);
  });

  it('what arrives late is charged late, once, whatever was charged while it was silent', async () => {
    const scene = new EnforcerScene();
    await scene.report('a', 0);
    scene.pass(10_000);
    expect([scene.enforcers.alive, scene.charged]).toEqual([0, 0]);
    await scene.report('a', 700);
    expect(scene.charged).toBe(700);
    // A request that others have passed on the way says nothing.
    scene.pass(100);
    await scene.report('a', 300);
    scene.pass(100);
    await scene.report('a', 700);
    scene.pass(5000);
    await scene.report('a', 701);
    expect(scene.charged).toBeGreaterThanOrEqual(701);
  });

  it('what was charged ahead is set off: in the end the charge is what was admitted', async () => {
    const scene = new EnforcerScene();
    const a = new Wanting(scene, 'a', 300);
    await turns(30, [a]);
    a.wish = 0;
    await turns(60, [a]);
    a.wish = 300;
    await turns(30, [a]);
    expect(Math.abs(scene.charged - a.admitted)).toBeLessThanOrEqual(40);
  });

  it('a debt is paid back by the enforcers, too', async () => {
    const scene = new EnforcerScene();
    const a = new Wanting(scene, 'a', 5000);
    await turns(20, [a]);
    a.admitted += 1000;
    const before = a.admitted;
    await turns(50, [a]);
    expect(a.admitted - before).toBeLessThanOrEqual(5 * LIMIT - 800);
    expect(scene.limiter.buckets.debt(LANE, 0, scene.nowMs)).toBeLessThan(100);
  });

  it('who pays a debt back keeps half of the limit: with nothing it would seem to want nothing', async () => {
    const scene = new EnforcerScene();
    await scene.report('a', 0, { isHeldBack: true });
    scene.pass(1000);
    // Three seconds of the limit.
    await scene.report('a', 3000, { isHeldBack: true });
    scene.pass(100);
    const { parts } = await scene.report('a', 3000, { isHeldBack: true });
    expect(scene.limiter.buckets.debt(LANE, 0, scene.nowMs)).toBeGreaterThan(LIMIT);
    expect(parts[0]?.rate[0]).toBeGreaterThan(0.45 * LIMIT);
    expect(parts[0]?.rate[0]).toBeLessThanOrEqual(0.5 * LIMIT);
  });

  it('the first counts of a life charge nothing, and a new life replaces the old one', async () => {
    const scene = new EnforcerScene();
    await scene.report('a', 1_000_000);
    scene.pass(100);
    await scene.report('a', 5, { life: 2 });
    expect(scene.charged).toBe(0);
    await expect(scene.report('a', 1_000_001, { life: 1 })).rejects.toMatchObject({ code: 'ENFORCER_REPLACED' });
    expect([scene.enforcers.alive, scene.enforcers.inLane(LANE)]).toEqual([1, 1]);
    scene.pass(4000);
    // Silent, so that any life may come: the clock of its machine may have been set.
    await scene.report('a', 0, { life: 1 });
    expect(scene.enforcers.alive).toBe(1);
  });

  it('waits until a part moves, for a third of the time to live at most, and one report at a time', async () => {
    const scene = new EnforcerScene();
    const { version } = await scene.report('a', 0);
    let ended = 0;
    const wait = () => scene.report('a', 0, { seen: version, waitMs: 50_000 }).finally(() => ended++);
    const first = wait();
    scene.pass(900);
    await Promise.resolve();
    expect(ended).toBe(0);
    const second = wait();
    await first;
    expect(ended).toBe(1);
    scene.pass(1050);
    expect((await second).version).toBe(version);
    const third = wait();
    scene.limits.applied[0] = 500;
    scene.pass(ROUND_MS);
    const told = await third;
    expect(told.version).not.toBe(version);
    expect(rateOf(told)).toBe(250);
    const fourth = scene.report('a', 0, { seen: told.version, waitMs: 50_000 });
    scene.enforcers.close();
    await fourth;
  });

  it('a lane without a confirmed limit has no part', async () => {
    const scene = new EnforcerScene();
    scene.ready = false;
    expect(rateOf(await scene.report('a', 0))).toBeNull();
  });

  it('topics that enforcers serve count as in use at the node, until they are silent or leave the lane', async () => {
    const scene = new EnforcerScene(2);
    const { topics } = scene.limiter;
    const counts = () => [topics.of(0), topics.of(1)];
    topics.note(0, 'own');
    await scene.report('a', 0, { topics: 10, lanes: [0, 1] });
    await scene.report('b', 0, { topics: 5 });
    expect(counts()).toEqual([16, 10]);
    await scene.report('a', 0, { topics: 12 });
    expect(counts()).toEqual([18, 0]);
    scene.pass(2000);
    await scene.report('b', 0, { topics: 4 });
    scene.pass(2000);
    expect(counts()).toEqual([5, 0]);
    await scene.report('b', 0, { topics: 1, life: 2 });
    expect(counts()).toEqual([2, 0]);
  });

  it('strangers cannot fill the node: silent ones make room, others are refused', async () => {
    const scene = new EnforcerScene();
    for (let at = 0; at < 1000; at++) await scene.report(`e${at}`, 0);
    await expect(scene.report('one-more', 0)).rejects.toMatchObject({ code: 'ENFORCERS_FULL' });
    scene.pass(3100);
    await scene.report('one-more', 0);
    expect(scene.enforcers.alive).toBe(1);
  });
});
