import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { FoldingSeries } from '../../../sim/replay/folding-series.js';
import { playTrace } from '../../../sim/replay/play-trace.js';
import { replayedSystemNamed, replayedSystems } from '../../../sim/replay/replayed-system.js';
import type { TraceArrival } from '../../../sim/replay/trace.js';
import { systemNamed } from '../../../sim/systems.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { arrival } from './rows.js';

const UNLIMITED = Infinity;
const OPTIONS = {
  name: 'steady',
  nodes: 3,
  seed: 1,
  speed: 1,
  settings: SETTINGS,
  maxRequest: [UNLIMITED, UNLIMITED] as const,
};

describe('playTrace', () => {
  test('at a speed the quota, the charts and the times are those of the file', async () => {
    const systems = [systemNamed('max-min')!];
    const quota = [600, UNLIMITED] as const;
    const rows = Array.from({ length: 12_000 }, (_, at) => arrival((at * 1000) / 1200, at % 3, 1, 100));
    const faster = rows.map((row) => ({ ...row, atMs: row.atMs / 10 }));
    const [slow] = await playTrace(Readable.from(rows), { ...OPTIONS, systems, quota });
    const [fast] = await playTrace(Readable.from(faster), { ...OPTIONS, systems, quota, speed: 10 });
    for (const run of [slow, fast]) {
      expect(run.durationMs).toBe(10_000);
      const { quota: column, perNode } = run.series[0];
      expect(column[0]).toBe(600);
      const mean = (read: (columns: (typeof perNode)[string]) => readonly number[]) => {
        const sums = Object.values(perNode).map((columns) => read(columns).reduce((sum, rate) => sum + rate, 0));
        return sums.reduce((sum, one) => sum + one, 0) / column.length;
      };
      expect(mean(({ demand }) => demand)).toBeCloseTo(1200, 6);
      expect(mean(({ admitted }) => admitted)).toBeCloseTo(run.admitted / 10, 6);
      expect(Math.abs(mean(({ limit }) => limit as number[]) - 600)).toBeLessThan(160);
      expect(run.verdict.utilisation).toBeGreaterThan(0.95);
    }
    expect(fast.sampleMs).toBe(1000);
  });

  test('what is above maxRequest is refused by ours alone, as a node does', async () => {
    const systems = ['max-min', 'static'].map((name) => systemNamed(name)!);
    const options = { ...OPTIONS, systems, quota: [UNLIMITED, UNLIMITED] as const, maxRequest: [10, 1000] as const };
    const rows = [arrival(0, 0, 10, 1000), arrival(1, 0, 11, 0), arrival(2, 1, 1, 1001)];
    const runs = await playTrace(Readable.from(rows), options);
    expect(runs.map(({ admitted, tooLarge }) => [admitted, tooLarge])).toEqual([
      [10, 2],
      [22, 0],
    ]);
  });

  test('news takes as long as the delays say: what one node took is not yet known at the next', async () => {
    const systems = [systemNamed('max-min')!];
    const settings = { ...SETTINGS, groups: [{ ...GROUP }] };
    const bursts = [...Array(30).fill(arrival(0, 0)), ...Array(30).fill(arrival(50, 1))];
    const admittedAt = async (ms: number) => {
      const delays = { appendMs: [ms / 2, ms / 2], deliveryMs: [ms / 2, ms / 2] } as const;
      const options = { ...OPTIONS, systems, settings, delays };
      const [run] = await playTrace(Readable.from(bursts), { ...options, quota: [100, UNLIMITED] });
      return run.admitted;
    };
    expect(await admittedAt(100)).toBe(60);
    expect(await admittedAt(5)).toBeLessThan(45);
  });
});

describe('a quota for each key', () => {
  /** 200 a second of a, 50 of b, at nodes in turn; c comes after ten seconds. */
  async function* keyed(): AsyncGenerator<TraceArrival> {
    for (let at = 0; at < 10_000; at++) {
      const key = at % 5 === 4 ? 'b' : 'a';
      yield { ...arrival(at * 4, at % 3, 1, 10), key };
      if (at >= 2500 && at % 500 === 0) yield { ...arrival(at * 4, 0, 1, 10), key: 'c' };
    }
  }

  test('refuses whoever is above it, and nobody else', async () => {
    const names = ['max-min', 'static', 'full-quota', 'central-bucket', 'rate-limiter-flexible'];
    const systems = names.map((name) => replayedSystemNamed(name, replayedSystems(1))!);
    const options = { ...OPTIONS, systems, quota: [120, UNLIMITED] as const, isPerKey: true };
    for (const run of await playTrace(keyed(), options)) {
      expect(run.keys.map(({ key, offered }) => [key, offered])).toEqual([
        ['a', 8000],
        ['b', 2000],
        ['c', 15],
      ]);
      const [a, b, c] = run.keys;
      expect([b.admitted, c.admitted], run.system).toEqual([2000, 15]);
      // 120 a second for 40 s, and what the buckets or the last window hold.
      const most = run.system === 'full-quota' ? 8000 : 5200;
      expect(a.admitted, run.system).toBeGreaterThan(4300);
      expect(a.admitted, run.system).toBeLessThanOrEqual(most);
      expect(run.admitted).toBe(a.admitted + 2015);
      expect(run.admittedBytes).toBe(10 * run.admitted);
      // All keys together have no quota.
      expect(run.series[0].quota[0]).toBeNull();
    }
  });

  test('the verdict is the worst of any key, and what all have used', async () => {
    const options = { ...OPTIONS, systems: [systemNamed('full-quota')!], quota: [100, UNLIMITED] as const };
    async function* only(key: string): AsyncGenerator<TraceArrival> {
      for await (const each of keyed()) if (each.key === key) yield each;
    }
    const [together] = await playTrace(keyed(), { ...options, isPerKey: true });
    const [alone] = await playTrace(only('a'), { ...options, isPerKey: true });
    expect(together.verdict.worstSecond).toBe(alone.verdict.worstSecond);
    expect(together.verdict.overAdmission).toBe(alone.verdict.overAdmission);
    // A hundred a second of a, for the 40 s that the rows take, and all of b and c.
    expect(together.verdict.utilisation).toBeCloseTo(together.admitted / (4000 + 2015), 9);
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
    const { demand, admitted, limit } = messages.perNode.a;
    expect(demand.length).toBe(1250);
    for (const rate of demand) expect(rate).toBeCloseTo(10, 9);
    for (const rate of admitted) expect(rate).toBeCloseTo(5, 9);
    // The limit at the end of each.
    expect(limit[0]).toBe(7);
  });
});
