import { beforeEach, describe, expect, it } from 'vitest';
import type { Counts } from '../../../src/node/enforcers/membership.js';
import { EnforcerScene, LANE, LIMIT } from './enforcer-scene.js';

/** Half of the bytes: Envoy counts requests alone. */
const of = (requests: number): Counts => [requests, 0];

describe('an enforcer that is assigned its part', () => {
  let scene: EnforcerScene;
  beforeEach(() => {
    scene = new EnforcerScene();
  });

  const report = (enforcer: string, admitted: number, offered = admitted) => {
    const lanes = [{ lane: LANE, admitted: of(admitted), offered: of(offered), isHeldBack: offered > admitted }];
    scene.enforcers.reportSome({ enforcer, life: 1, ttlMs: 20_000, lanes });
  };
  const rate = (enforcer: string) => Math.round(scene.enforcers.partOf(enforcer, LANE).rate[0]!);
  const assign = (enforcer: string) => scene.enforcers.assign(enforcer, LANE, true);
  /** Returns the units charged within so long. */
  const charged = (ms: number) => {
    const before = scene.charged;
    scene.pass(ms);
    return scene.charged - before;
  };

  it('has all that nobody else wants, at once', () => {
    report('one', 1);
    expect(rate('one')).toBe(LIMIT);
  });

  it('has its demand, which it tells, and no more than the other leaves', () => {
    report('one', 1);
    report('two', 1);
    expect([rate('one'), rate('two')]).toEqual([LIMIT / 2, LIMIT / 2]);
    scene.pass(5000);
    report('one', 500);
    report('two', 2500, 10_000);
    // 100/s came, and two deviations of chance: 2·√499/5.
    expect([rate('one'), rate('two')]).toEqual([109, LIMIT - 109]);
  });

  it('is presumed to admit its rate until its second report, then what came last', () => {
    report('one', 1);
    assign('one');
    expect(charged(2000)).toBeCloseTo(2 * LIMIT, -2);
    scene.pass(3000);
    report('one', 500);
    assign('one');
    expect(charged(2000)).toBeCloseTo(2 * 100, -1);
  });

  it('is not let off by a guess that was too high: what comes next is charged again', () => {
    report('one', 1);
    assign('one');
    scene.pass(5000);
    report('one', 1);
    assign('one');
    expect(charged(5000)).toBeLessThanOrEqual(1);
    report('one', 5001);
    // A fifth of a second of its rate, late, and the rate of now.
    expect(charged(1000)).toBeCloseTo(0.2 * LIMIT + 1000, -2);
  });

  it('pays all of what comes late while own requests use the lane', () => {
    report('one', 1);
    assign('one');
    scene.pass(5000);
    report('one', 1);
    assign('one');
    for (let second = 0; second < 5; second++) {
      scene.limiter.tryAcquire(LANE, 20, 0, false, scene.nowMs);
      scene.pass(1000);
    }
    report('one', 2001);
    const own = 20;
    scene.limiter.tryAcquire(LANE, own, 0, false, scene.nowMs);
    expect(charged(1500)).toBeGreaterThanOrEqual(1900);
  });

  it('is charged what its bucket begins with, and again only for what it grows by', () => {
    report('one', 1);
    const before = scene.charged;
    // The scene has no bucket of a cluster: nothing is there to be taken, and one request must pass.
    expect(assign('one').depth[0]).toBe(1);
    expect(scene.charged - before).toBe(1);
    scene.enforcers.assign('one', LANE, false);
    expect(scene.charged - before).toBe(1);
  });

  it('keeps its other lanes when a report names some', () => {
    const many = new EnforcerScene(2);
    const some = (lane: number, admitted: number) => {
      const lanes = [{ lane, admitted: of(admitted), offered: of(admitted), isHeldBack: false }];
      many.enforcers.reportSome({ enforcer: 'one', life: 1, ttlMs: 20_000, lanes });
    };
    some(0, 1);
    some(1, 1);
    expect([many.enforcers.inLane(0), many.enforcers.inLane(1)]).toEqual([1, 1]);
    many.enforcers.leave('one', 0);
    expect([many.enforcers.inLane(0), many.enforcers.inLane(1)]).toEqual([0, 1]);
    many.enforcers.end('one');
    expect([many.enforcers.inLane(1), many.enforcers.alive]).toEqual([0, 0]);
  });

  it('has no part after its time to live, and one again with its next report', () => {
    report('one', 1);
    scene.pass(20_100);
    expect(scene.enforcers.alive).toBe(0);
    report('one', 1);
    expect(rate('one')).toBe(LIMIT);
  });
});
