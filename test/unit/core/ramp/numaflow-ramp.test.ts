import { expect, test } from 'vitest';
import { readVectors } from '../../../vectors/read-vectors.js';
import { LeftCeilings } from './left-ceilings.js';
import { RampedWindow, rampSettings, type VectorMode, type VectorParams } from './ramped-window.js';

interface Step {
  readonly ask?: 'all' | number;
  readonly epochDelta?: number;
  readonly deposit?: number;
  readonly depositBefore?: number;
  readonly pool?: number;
  readonly epoch?: number;
  readonly use?: number;
}

interface Call {
  readonly atMs: number;
  readonly ask: 'all' | number;
  readonly timeoutMs: number | null;
  readonly expectGrant: number;
  readonly expectAtMs: number;
}

interface ResumeEvent {
  readonly op: string;
  readonly pods?: readonly string[];
  readonly pod?: string;
  readonly epoch?: number;
  readonly ask?: 'all' | number;
  readonly expect?: number;
  readonly params?: VectorParams;
  readonly sec?: number;
}

interface RampCase {
  readonly id: string;
  readonly group: string;
  readonly mode: VectorMode;
  readonly params: VectorParams;
  readonly steps?: readonly Step[];
  readonly startEpoch?: number;
  readonly createdAtEpoch?: number;
  readonly expectedGrants?: readonly number[];
  readonly shippedGrants?: readonly number[];
  readonly expectedPool?: readonly number[];
  readonly expectedTotal?: number;
  readonly shippedTotal?: number;
  readonly batch?: number;
  readonly fetchesInOneSecond?: number;
  readonly parallelAsks?: number;
  readonly askEach?: number;
  readonly calls?: readonly Call[];
  readonly ttlSec?: number;
  readonly resume?: boolean;
  readonly events?: readonly ResumeEvent[];
}

const { cases } = readVectors<{ readonly cases: readonly RampCase[] }>('numaflow-ramp.json');

const PLAYERS: Readonly<Record<string, (vector: RampCase) => void>> = {
  table: playGrants,
  single: playGrants,
  start: playGrants,
  handback: playGrants,
  sample: playSample,
  reader: playReader,
  parallel: playParallel,
  waiting: playWaiting,
  resume: playResume,
};

test.each(cases)('ramps as designed: $id', (vector) => {
  const play = PLAYERS[vector.group];
  if (play === undefined) throw new Error(`unknown group "${vector.group}"`);
  play(vector);
});

test('every case is run, and those where the shipped version differs are won', () => {
  const won = cases.filter(({ shippedTotal, expectedTotal, shippedGrants, expectedGrants }) => {
    if (shippedTotal !== undefined) return shippedTotal !== expectedTotal;
    return shippedGrants !== undefined && String(shippedGrants) !== String(expectedGrants);
  });
  console.log(
    `numaflow-ramp.json: ${cases.length} cases, ${won.length} of them answered otherwise by Numaflow as shipped`,
  );
  expect(cases).toHaveLength(89);
  expect(won).toHaveLength(6);
});

function playGrants({ mode, params, steps = [], startEpoch = 0, createdAtEpoch = 0, expectedGrants }: RampCase): void {
  const window = new RampedWindow(rampSettings(mode, params), createdAtEpoch);
  let epoch = startEpoch;
  let pods = params.pods ?? 1;
  const grants = steps.map(({ ask = 'all', epochDelta = 0, deposit = 0, depositBefore = 0, pool = pods }) => {
    pods = pool;
    window.deposit(depositBefore, pods, epoch);
    const grant = window.ask(ask, pods, epoch);
    window.deposit(deposit, pods, epoch);
    epoch += epochDelta;
    return grant;
  });
  expect(grants).toEqual(expectedGrants);
}

function playSample({ mode, params, steps = [], expectedPool }: RampCase): void {
  const window = new RampedWindow(rampSettings(mode, params));
  const pools = steps.map(({ epoch = 0, use = 0 }) => {
    window.begin(epoch);
    const pool = window.tokens;
    window.ask(use, params.pods ?? 1, epoch);
    return pool;
  });
  expect(pools).toEqual(expectedPool);
}

/** Every fetch reads nothing beyond its grant, and hands back what it was granted and did not read: nothing. */
function playReader({ mode, params, batch = 0, fetchesInOneSecond = 0, expectedTotal }: RampCase): void {
  const window = new RampedWindow(rampSettings(mode, params));
  let total = 0;
  for (let fetch = 0; fetch < fetchesInOneSecond; fetch++) {
    const granted = window.ask(batch, params.pods ?? 1, 0);
    const read = Math.min(batch, granted);
    window.deposit(granted - read, params.pods ?? 1, 0);
    total += read;
  }
  expect(total).toBe(expectedTotal);
}

function playParallel({ mode, params, parallelAsks = 0, askEach = 0, expectedTotal }: RampCase): void {
  const window = new RampedWindow(rampSettings(mode, params));
  let total = 0;
  for (let ask = 0; ask < parallelAsks; ask++) total += window.ask(askEach, params.pods ?? 1, 0);
  expect(total).toBe(expectedTotal);
}

/** At 0 tokens the request comes again at the top of the next second, as long as its timeout lasts. */
function playWaiting({ mode, params, calls = [] }: RampCase): void {
  const window = new RampedWindow(rampSettings(mode, params));
  const { pods = 1 } = params;
  for (const { atMs, ask, timeoutMs, expectGrant, expectAtMs } of calls) {
    let nowMs = atMs;
    let grant = window.ask(ask, pods, Math.floor(nowMs / 1000));
    const untilMs = atMs + (timeoutMs ?? 0);
    while (grant === 0 && nowMs < untilMs) {
      nowMs = Math.min(untilMs, (Math.floor(nowMs / 1000) + 1) * 1000);
      if (nowMs % 1000 === 0) grant = window.ask(ask, pods, nowMs / 1000);
    }
    expect({ grant, atMs: nowMs }).toEqual({ grant: expectGrant, atMs: expectAtMs });
  }
}

/** The source remembers a ceiling per pod; ours is the group's, and lives in the topic (simulation/ramps.test.ts). */
function playResume({ mode, params, ttlSec = 0, resume = false, events = [] }: RampCase): void {
  let settings = rampSettings(mode, params);
  const running = new Map<string, RampedWindow>();
  const left = new LeftCeilings(ttlSec);
  /** Epochs count from the last start. */
  let [nowSec, startSec] = [0, 0];
  const leftBy = (name: string) => (resume ? left.of(name, nowSec) : 0);
  for (const event of events) {
    const { op, pods = [], pod = '', epoch = 0, ask = 'all' } = event;
    if (op === 'start') {
      startSec = nowSec;
      for (const name of pods) running.set(name, new RampedWindow(settings, 0, leftBy(name)));
    } else if (op === 'ask') {
      nowSec = Math.max(nowSec, startSec + epoch);
      expect(running.get(pod)?.ask(ask, running.size, epoch)).toBe(event.expect);
    } else if (op === 'stop') {
      for (const name of pods) {
        left.leave(name, running.get(name)?.ceiling ?? 0, nowSec);
        running.delete(name);
      }
    } else if (op === 'wait') {
      nowSec += event.sec ?? 0;
    } else if (op === 'reconfigure') {
      settings = rampSettings(mode, event.params as VectorParams);
    } else {
      throw new Error(`unknown op "${op}"`);
    }
  }
}
