import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { playTrace } from '../../../sim/replay/play-trace.js';
import { replayedSystemNamed, replayedSystems } from '../../../sim/replay/replayed-system.js';
import { GATED, SETTINGS } from '../../simulation/settings.js';
import { arrival, rowsOf } from './rows.js';

const SYSTEMS = ['max-min', 'central-bucket'].map((name) => replayedSystemNamed(name, replayedSystems(4))!);

/** Forty rows within 40 ms at a quota of 10/s: all of them fit into five seconds, next to none into the first moment. */
async function play(retryAfterMs: number, retries: number) {
  const rows = Array.from({ length: 40 }, (_, at) => ({ ...arrival(at, at % 3), retryAfterMs }));
  const quota = [10, Infinity] as const;
  const settings = { ...SETTINGS, groups: [GATED] };
  const options = { name: 'calls.csv', systems: SYSTEMS, nodes: 3, seed: 1, speed: 1, settings };
  return playTrace(Readable.from(rows), { ...options, quota, retries, maxRequest: quota });
}

test('work that asks again is admitted when there are tokens, and is offered once', async () => {
  const lost = await play(0, 100);
  const again = await play(300, 100);
  again.forEach(({ offered, admitted, verdict, system }, at) => {
    expect(lost[at].admitted, system).toBeLessThan(10);
    expect(offered, system).toBe(40);
    expect(admitted, system).toBe(40);
    // Waits of 150 to 450 ms leave tokens for a while.
    expect(verdict.utilisation, system).toBeGreaterThan(0.75);
    expect(verdict.utilisation, system).toBeLessThan(1.3);
  });
});

test('it gives up after as many times as are allowed', async () => {
  const [once, often] = [await play(300, 1), await play(300, 4)];
  once.forEach(({ admitted, system }, at) => {
    expect(admitted, system).toBeLessThan(often[at].admitted);
    expect(often[at].admitted, system).toBeLessThan(40);
  });
});

test('a row says by itself after how long it asks again; an empty field says never', async () => {
  const text = 'time,wait\n0,500ms\n1,\n2,2s\n';
  const rows = await rowsOf(text, { retryAfter: 'wait', speed: 2 });
  expect(rows.map(({ retryAfterMs }) => retryAfterMs)).toEqual([250, 0, 1000]);
  expect((await rowsOf(text, { retryAfter: '1s' })).map(({ retryAfterMs }) => retryAfterMs)).toEqual([
    1000, 1000, 1000,
  ]);
  await expect(rowsOf('time,wait\n0,soon\n', { retryAfter: 'wait' })).rejects.toThrow(
    'calls.csv:2: wait is "soon"; allowed: a duration (e.g. 500ms or 2s), or nothing',
  );
  await expect(rowsOf(text, { retryAfter: 'wiat' })).rejects.toThrow('Did you mean');
});
