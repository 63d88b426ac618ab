import { describe, expect, test } from 'vitest';
import { Meter } from '../../../src/tools/demo/measure/meter.js';
import { judge } from '../../../src/tools/demo/measure/verdict.js';

const QUOTA = [100, 1_000_000] as const;

/** Admits `perSecond` messages evenly for so many seconds, of 200 that arrive, at node 0. */
function run(perSecond: number, seconds: number): Meter {
  const meter = new Meter(QUOTA, 2);
  for (let tick = 0; tick < seconds * 1000; tick++) {
    if (tick % 5 === 0) meter.arrived(0, 100, tick);
    const due = Math.floor(((tick + 1) * perSecond) / 1000) - Math.floor((tick * perSecond) / 1000);
    for (let count = 0; count < due; count++) meter.admitted(0, 100, tick);
  }
  meter.advance(seconds * 1000);
  return meter;
}

describe('Meter', () => {
  test('exactly the quota: all promises kept', () => {
    const measurement = run(100, 8).measurement(8000);
    expect(measurement.utilisation).toBeCloseTo(1, 1);
    expect(measurement.overAdmission).toBeCloseTo(0, 2);
    expect(measurement.worstSecond).toBeCloseTo(1, 1);
    expect(measurement.secondsAboveQuota).toBe(1);
    expect(judge(measurement).map(({ kept }) => kept)).toEqual([true, true, true]);
  });

  test('95 % of it: the first promise is not kept', () => {
    expect(judge(run(95, 8).measurement(8000)).map(({ kept }) => kept)).toEqual([false, true, true]);
  });

  test('3 % more than it: the second promise is not kept', () => {
    expect(judge(run(103, 8).measurement(8000)).map(({ kept }) => kept)).toEqual([true, false, true]);
  });

  test('a burst on top of it: the third promise is not kept', () => {
    const meter = run(100, 20);
    for (let count = 0; count < 12; count++) meter.admitted(0, 100, 20_000);
    const measurement = meter.measurement(20_000);
    expect(measurement.worstSecond).toBeGreaterThan(1.1);
    expect(judge(measurement)[2]?.kept).toBe(false);
  });

  test('nothing measured keeps no promise', () => {
    expect(judge(new Meter(QUOTA, 2).measurement(0))[0]?.kept).toBe(false);
  });

  test('work that moves to another node is that node’s to do', () => {
    const meter = new Meter(QUOTA, 2);
    meter.arrived(0, 100, 0);
    meter.moved(0, 1, 100);
    meter.admitted(1, 100, 1);
    expect(meter.nodes).toEqual([
      { arrived: [0, 0], admitted: [0, 0], gaveUp: [0, 0] },
      { arrived: [1, 100], admitted: [1, 100], gaveUp: [0, 0] },
    ]);
  });

  test('counts the seconds in which bytes are the tighter quota', () => {
    const meter = new Meter(QUOTA, 1);
    for (let at = 0; at < 100; at++) {
      meter.arrived(0, 40_000, at * 10);
      if (at % 4 === 0) meter.admitted(0, 40_000, at * 10);
    }
    expect(meter.measurement(1000).secondsBytesTighter).toBe(1);
  });
});
