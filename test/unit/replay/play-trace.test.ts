import { describe, expect, test } from 'vitest';
import { FoldingSeries } from '../../../sim/replay/folding-series.js';
import { playTrace } from '../../../sim/replay/play-trace.js';
import { RunningVerdict } from '../../../sim/replay/running-verdict.js';
import type { TraceArrival } from '../../../sim/replay/trace.js';
import { systemNamed } from '../../../sim/systems.js';
import { SETTINGS } from '../../simulation/settings.js';
import { arrival } from './rows.js';

async function* steady(
  perSecond: number,
  seconds: number,
  nodeOf: (at: number) => number,
): AsyncGenerator<TraceArrival> {
  for (let at = 0; at < perSecond * seconds; at++) yield arrival((at * 1000) / perSecond, nodeOf(at), 1, 100);
}

const OPTIONS = { name: 'steady', nodes: 3, seed: 1, settings: SETTINGS };
const UNLIMITED = Number.POSITIVE_INFINITY;

describe('playTrace', () => {
  test('all is admitted below the quota, the quota above it, on every system at once', async () => {
    const systems = ['max-min', 'proportional'].map((name) => systemNamed(name)!);
    const below = await playTrace(
      steady(300, 5, (at) => at % 3),
      { ...OPTIONS, systems, quota: [600, UNLIMITED] },
    );
    expect(below.map(({ system, admitted }) => [system, admitted])).toEqual([
      ['quotamesh max-min', 1500],
      ['quotamesh proportional', 1500],
    ]);
    const above = await playTrace(
      steady(1200, 10, (at) => at % 3),
      { ...OPTIONS, systems, quota: [600, UNLIMITED] },
    );
    for (const { admitted, offered, verdict } of above) {
      expect(offered).toBe(12_000);
      expect(admitted).toBeGreaterThan(5700);
      expect(admitted).toBeLessThan(6300);
      expect(verdict.utilisation).toBeGreaterThan(0.95);
      expect(verdict.records).toBeGreaterThan(30);
    }
  });

  test('the same seed gives the same run; columns are of one length', async () => {
    const play = () => {
      const systems = [systemNamed('max-min')!];
      return playTrace(
        steady(700, 3, (at) => (at % 10 === 0 ? 1 : 0)),
        { ...OPTIONS, systems, quota: [500, 40_000] },
      );
    };
    const [run] = await play();
    expect(JSON.stringify(await play())).toBe(JSON.stringify([run]));
    expect(run!.series.map(({ dimension }) => dimension)).toEqual(['messages', 'bytes']);
    for (const { quota, perNode } of run!.series) {
      expect(quota).toHaveLength(30);
      for (const columns of Object.values(perNode)) {
        for (const column of Object.values(columns)) expect(column).toHaveLength(30);
      }
    }
  });
});

describe('what a long replay leaves behind is bounded', () => {
  test('samples fold into longer ones, and nothing is lost', () => {
    const series = new FoldingSeries(1);
    const samples = 10_000;
    for (let sample = 0; sample < samples; sample++) {
      series.count(0, 1, 10, sample % 2 === 0);
      if ((sample + 1) * 100 >= series.endMs) series.end(() => sample);
    }
    expect(series.sampleMs).toBe(800);
    const [messages] = series.series(['a'], [100, UNLIMITED]);
    const { demand, admitted, limit } = messages!.perNode.a!;
    expect(demand.length).toBe(1250);
    for (const rate of demand) expect(rate).toBeCloseTo(10, 9);
    for (const rate of admitted) expect(rate).toBeCloseTo(5, 9);
    // The limit at the end of each.
    expect(limit[0]).toBe(7);
  });
});

describe('the running verdict', () => {
  /** Plays amounts per 100 ms against a quota of 100/s. */
  function verdictOf(admitted: readonly number[], refused = 0) {
    const verdict = new RunningVerdict(100);
    admitted.forEach((amount, slice) => {
      for (let unit = 0; unit < amount; unit++) verdict.count(slice * 100 + (unit * 100) / amount, 1, true);
      if (refused > 0) verdict.count(slice * 100 + 99, refused, false);
      verdict.endSlice();
    });
    return verdict.verdict();
  }

  test('exactly the quota', () => {
    const steady = verdictOf(
      Array.from({ length: 100 }, () => 10),
      5,
    );
    expect(steady).toMatchObject({ overAdmission: 0, worstSecond: 1, secondsOver: 0 });
    expect(steady.overshootTokens).toBeLessThanOrEqual(1);
    // The windows of the first second reach back to where nothing was asked.
    expect(steady.utilisation).toBeGreaterThan(0.99);
    expect(steady.utilisation).toBeLessThan(1.06);
  });

  test('one second of twice the quota: 2.00×, 20 % over five seconds, 90 tokens over a bucket with 100 ms', () => {
    const burst = verdictOf([...Array(50).fill(10), ...Array(10).fill(20), ...Array(50).fill(10)]);
    expect(burst.worstSecond).toBeCloseTo(2, 9);
    expect(burst.overAdmission).toBeCloseTo(0.2, 9);
    expect(burst.overshootTokens).toBeGreaterThan(88);
    expect(burst.overshootTokens).toBeLessThan(101);
    // Every second that touches the burst: 1.9 s of ends.
    expect(burst.secondsOver).toBeCloseTo(1.9, 9);
  });

  test('half the quota used where twice of it is asked', () => {
    expect(verdictOf(Array(200).fill(5), 15).utilisation).toBeCloseTo(0.51, 1);
  });
});
