import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { EpochTokens } from '../../sim/baselines/numaflow/epoch-tokens.js';
import { EventQueue } from '../../sim/cluster/event-queue.js';
import { admittedRate } from '../../sim/cluster/measure.js';
import { Random } from '../../sim/cluster/random.js';
import { type Arrival, LOCAL_KAFKA } from '../../sim/cluster/world.js';
import { runScenario } from '../../sim/run/run-scenario.js';
import { loadBuiltIn } from '../../sim/scenario/load-scenario.js';
import type { Scenario } from '../../sim/scenario/scenario.js';
import { systemNamed } from '../../sim/systems.js';
import { MESSAGES } from '../../src/core/base/vocabulary.js';
import { RAMP_STEPS } from '../../src/core/target/ramp/ramp.js';
import { someOf } from '../property/seed.js';
import { GROUP, SETTINGS } from './settings.js';
import { windowedNode } from './windowed-node.js';

/**
 * What Numaflow as shipped does (../../sim/baselines/numaflow), beside what we do in the same
 * place. The rows are those of docs/guide/batches-and-refunds.md, which this file checks; it prints them.
 */
const ROWS: string[] = [];
const EPOCH = 1_700_000_000;

function row(what: string, meant: string, theirs: string, ours: string): void {
  ROWS.push(`| ${what} | ${meant} | ${theirs} | ${ours} |`);
}

afterAll(() => {
  console.log(ROWS.join('\n'));
  const page = readFileSync(new URL('../../docs/guide/batches-and-refunds.md', import.meta.url), 'utf8');
  for (const line of ROWS) expect(page).toContain(line);
});

/**
 * Twelve fetches in one second with work enough, by the reader as shipped: it hands back the batch less what it read.
 */
function readByNumaflow(share: number, batch: number): number {
  const tokens = new EpochTokens({ mode: 'relaxed', min: share, max: share, rampSec: 1 });
  let read = 0;
  for (let fetch = 0; fetch < 12; fetch++) {
    const granted = Math.min(tokens.available(1, EPOCH), batch);
    tokens.take(granted, 1);
    read += granted;
    tokens.deposit(batch - granted, 1, EPOCH);
  }
  return read;
}

/** The same reader with the same mistake, at one of our nodes: what it hands in too much is refused. */
function readByOurs(share: number, batch: number): number {
  const node = windowedNode(1000, () => 1500);
  node.limiter.setLimit(0, MESSAGES, share, share, 0);
  let read = 0;
  for (let fetch = 0; fetch < 12; fetch++) {
    const taken = node.gate.batches.tryTake('a', { messages: batch });
    if (!taken.granted) continue;
    read += taken.messages;
    const unused = batch - taken.messages;
    if (unused === 0) taken.refund({});
    else expect(() => taken.refund({ messages: unused })).toThrow(expect.objectContaining({ code: 'BATCH_TOO_SMALL' }));
  }
  return read;
}

test.each([
  [100, 500, 3000],
  [120, 50, 350],
  [5, 50, 300],
])('over-deposit: share %d, batches of %d', (share, batch, theirs) => {
  const [shipped, ours] = [readByNumaflow(share, batch), readByOurs(share, batch)];
  row(`twelve fetches of ${batch} in a second`, `${share}`, `${shipped}`, `${ours}`);
  expect([shipped, ours]).toEqual([theirs, share]);
});

/** A part of 900/s that is admitted long after nodes have left, where every node has work for all of it. */
function usedAfterLeaving(system: string, before: number, after: number): number {
  const queue = new EventQueue();
  const random = new Random(4);
  const cluster = systemNamed(system)!.create({
    queue,
    random,
    delays: LOCAL_KAFKA,
    nodes: before,
    quota: { messagesPerSecond: 900, bytesPerSecond: Infinity },
    settings: { ...SETTINGS, groups: [{ ...GROUP, limiter: 'window' }] },
  });
  const arrivals: Arrival[] = [];
  const nodes = Array.from({ length: before }, (_, at) => `n${at + 1}`);
  for (const node of nodes) {
    cluster.start(node);
    const ask = () => {
      const granted = cluster.tryAcquire(node, 1, 0, false);
      arrivals.push({ atMs: queue.nowMs, node, granted, messages: 1, bytes: 0 });
      queue.after(1, ask);
    };
    queue.after(random.between(0, 1), ask);
  }
  queue.runUntil(5000);
  for (const node of nodes.slice(after)) cluster.leave(node);
  queue.runUntil(30_000);
  return admittedRate(arrivals, 12_000, 30_000);
}

test.each([
  [3, 2, 600],
  [10, 1, 90],
])('the ratchet: %d → %d', (before, after, theirs) => {
  const [shipped, ours] = [usedAfterLeaving('numaflow', before, after), usedAfterLeaving('equal', before, after)];
  row(`${before} → ${after} nodes, all busy, 900/s`, '900', shipped.toFixed(0), ours.toFixed(0));
  expect(shipped).toBeCloseTo(theirs, -1);
  expect(Math.abs(ours - 900)).toBeLessThan(9);
});

test('the jump to the top: a scheduled ramp from 10 to 110 in 10 s', () => {
  const tokens = new EpochTokens({ mode: 'scheduled', min: 10, max: 110, rampSec: 10 });
  const shipped = [0, 1, 2].map((second) => tokens.available(1, EPOCH + second));
  const ramp = { mode: 'scheduled', fromPerSecond: 10, toPerSecond: 110, overMs: 10_000 } as const;
  const settings = { ...ramp, thresholdRatio: 0.5, coolDownMs: 5000, pausePenaltyRatio: 0.5, timeToLiveMs: 180_000 };
  // A ramp of ours begins with its first use: no time has passed since an epoch of zero.
  const ours = [0, 1, 2].map((elapsedSeconds) =>
    RAMP_STEPS.scheduled({ ceiling: 10, top: 110, slope: 10, elapsedSeconds, usedPercent: 100 }, settings),
  );
  row('first seconds of a scheduled ramp', '10, 20, 30', shipped.join(', '), ours.join(', '));
  expect([shipped, ours]).toEqual([
    [110, 110, 110],
    [10, 20, 30],
  ]);
});

test.each([
  [1000, 3, 0, 333],
  [200, 1, 500, 200],
])('granularity: %d/s for %d pods in batches of 500', (max, pods, theirs, ours) => {
  // As shipped a token buys one read of a batch: max and min are divided by it, rounded up.
  const reads = new EpochTokens({ mode: 'relaxed', min: Math.ceil(max / 500), max: Math.ceil(max / 500), rampSec: 1 });
  const shipped = reads.available(pods, EPOCH) * 500;
  const node = windowedNode(1000, () => 1500);
  node.limiter.setLimit(0, MESSAGES, max / pods, max / pods, 0);
  const taken = node.gate.batches.tryTake('a', { messages: 500 });
  const got = taken.granted ? taken.messages : 0;
  row(`${max}/s, ${pods} pod(s), batches of 500: each per second`, `${Math.floor(max / pods)}`, `${shipped}`, `${got}`);
  expect([shipped, got]).toEqual([theirs, ours]);
});

/** Numaflow has no burst: what is compared is what flows in, not what a full bucket holds at the start. */
function withEmptyBuckets(scenario: Scenario): Scenario {
  const { settings } = scenario;
  const groups = settings.groups.map((group) => ({ ...group, burst: { ...group.burst, start: 'empty' as const } }));
  return { ...scenario, settings: { ...settings, groups } };
}

const SCENARIOS = [
  { name: 'over-deposit', figure: 'worstSecond', shipped: [2.5, 4], ours: [0.95, 1.1] },
  { name: 'pool-shrinks', figure: 'utilisation', shipped: [0, 0.8], ours: [0.98, 1.01] },
  { name: 'scheduled-ramp', figure: 'worstSecond', shipped: [5, 11], ours: [0.95, 1.1] },
  { name: 'source-batches', figure: 'utilisation', shipped: [0, 0], ours: [0.98, 1.01] },
] as const;

test.each(someOf(SCENARIOS))('scenario $name: $figure', ({ name, figure, shipped, ours }) => {
  const scenario = { ...withEmptyBuckets(loadBuiltIn(name)), durationMs: 20_000 };
  for (const [system, [least, most]] of [
    ['numaflow', shipped],
    ['equal', ours],
    ['max-min', ours],
  ] as const) {
    const value = runScenario(scenario, systemNamed(system)!, 1).verdict[figure];
    expect(value, system).toBeGreaterThanOrEqual(least);
    expect(value, system).toBeLessThanOrEqual(most);
  }
});
