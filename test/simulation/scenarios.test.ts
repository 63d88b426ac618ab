import { describe, expect, test } from 'vitest';
import type { ClusterUnderTest } from '../../sim/cluster/cluster-under-test.js';
import { NOT_PLAYED } from '../../sim/run/play-happenings.js';
import { runScenario } from '../../sim/run/run-scenario.js';
import { builtInNames, loadBuiltIn, parseScenario } from '../../sim/scenario/load-scenario.js';
import type { Scenario } from '../../sim/scenario/scenario.js';
import { type System, systemNamed } from '../../sim/systems.js';
import { someOf } from '../property/seed.js';

const MAX_MIN = systemNamed('max-min') as System;

const EVERYTHING = `
name: everything
says: Every kind of load and happening, within a few seconds.
durationSeconds: 12
nodes: 4
quota: { messagesPerSecond: 200, bytesPerSecond: 60k }
settleSeconds: 1
load:
  - { kind: constant, nodes: n1, ratePerSecond: 20, messages: 2, bytes: 100 }
  - { kind: poisson, ratePerSecond: 20, bytes: [50, 500], retries: 2 }
  - { kind: bursts, nodes: n1, size: 10, everySeconds: 1 }
  - { kind: batches, nodes: n2, size: 20, everySeconds: 1, untilSeconds: 3 }
  - { kind: onOff, nodes: n2, ratePerSecond: 40, onSeconds: 1, offSeconds: 1 }
  - { kind: zipf, nodes: [n1, n2, n3], ratePerSecond: 60 }
  - { kind: steps, nodes: n3, steps: [[0, 5], [3, 50]], untilSeconds: 9 }
  - { kind: ramp, nodes: n4, fromPerSecond: 1, toPerSecond: 60, overSeconds: 4, fromSeconds: 2 }
  - { kind: clients, nodes: n4, count: 3, thinkMs: 50 }
happenings:
  - { atSeconds: 0, what: clockSkew, nodes: n2, bySeconds: -60, driftRatio: 0.001 }
  - { atSeconds: 1, what: start, nodes: n4 }
  - { atSeconds: 1, what: lie, nodes: n3, factor: 3, forSeconds: 4 }
  - { atSeconds: 2, what: crash, nodes: n1, forSeconds: 1 }
  - { atSeconds: 3, what: leave, nodes: n2, forSeconds: 1 }
  - { atSeconds: 4, what: stall, nodes: n3, forSeconds: 0.5 }
  - { atSeconds: 5, what: faults, lostRatio: 20%, repeatedRatio: 20%, lateRatio: 20%, lateMs: 50, forSeconds: 1 }
  - { atSeconds: 6, what: cut, nodes: n1, forSeconds: 0.5 }
  - { atSeconds: 7, what: oneWay, way: reads, nodes: n2, forSeconds: 0.5 }
  - { atSeconds: 7.5, what: partition, nodes: [n3, n4], forSeconds: 0.5 }
  - { atSeconds: 8, what: outage, forSeconds: 0.5 }
  - { atSeconds: 8.5, what: clockJump, bySeconds: 3600 }
  - { atSeconds: 9, what: quota, messagesPerSecond: 100 }
  - { atSeconds: 10, what: rate, nodes: n1, factor: 0.5 }
`;

/** Admits everything and answers nothing else: only the load is left. */
const ADMITS_ALL: System = {
  name: 'admits all',
  says: 'for tests',
  create: (): ClusterUnderTest => ({
    name: 'admits all',
    start: nothing,
    crash: nothing,
    leave: nothing,
    stall: nothing,
    cutOff: nothing,
    setOutage: nothing,
    setFaults: nothing,
    setQuota: nothing,
    tryAcquire: () => true,
    limitOf: () => Infinity,
    sent: { records: 0, bytes: 0 },
  }),
};
const REFUSES_ALL: System = {
  ...ADMITS_ALL,
  create: (environment) => ({ ...ADMITS_ALL.create(environment), tryAcquire: () => false }),
};

function nothing(): void {}

describe('a run', () => {
  const everything = parseScenario(EVERYTHING, 'everything.yaml');

  test('what happens is told, and what a system has no such thing for as well', () => {
    const own = runScenario(everything, MAX_MIN, 7).happenings.map(({ atMs, says }) => `${atMs} ${says}`);
    expect(own).toContain('2000 crash n1 for 1 s');
    expect(own).toContain('3000 start n1 again');
    expect(own.join()).not.toContain(NOT_PLAYED);
    const foreign = runScenario(everything, ADMITS_ALL, 7).happenings.map(({ says }) => says);
    expect(foreign.filter((says) => says.startsWith(NOT_PLAYED))).toHaveLength(3);
  });

  test('first attempts are the same whatever the system answers', () => {
    const open = withoutClients(everything);
    const [admitted, refused] = [ADMITS_ALL, REFUSES_ALL].map((system) => runScenario(open, system, 3));
    for (const node of open.nodes) {
      expect(refused?.series[0]?.perNode[node]?.demand).toEqual(admitted?.series[0]?.perNode[node]?.demand);
    }
    expect(refused?.verdict.utilisation).toBe(0);
  });

  test('a rate is what the scenario says: steps, ramps and factors', () => {
    const text = `
name: rates
says: Even arrivals that can be counted.
durationSeconds: 40
nodes: 2
load:
  - { kind: constant, nodes: n1, ratePerSecond: 100, fromSeconds: 5, untilSeconds: 35 }
  - { kind: ramp, nodes: n2, fromPerSecond: 0, toPerSecond: 1000, overSeconds: 20 }
happenings:
  - { atSeconds: 20, what: rate, nodes: n1, factor: 3 }
`;
    const { series, verdict } = runScenario(parseScenario(text, 'rates.yaml'), ADMITS_ALL, 1);
    const arrived = (node: string, from: number, until: number) =>
      (series[0]?.perNode[node]?.demand ?? []).slice(from * 10, until * 10).reduce((sum, rate) => sum + rate / 10, 0);
    expect(arrived('n1', 0, 5)).toBe(0);
    expect(Math.abs(arrived('n1', 5, 20) - 1500)).toBeLessThanOrEqual(1);
    expect(Math.abs(arrived('n1', 20, 35) - 4500)).toBeLessThanOrEqual(1);
    expect(arrived('n1', 36, 40)).toBe(0);
    expect(arrived('n2', 0, 20) / 10_000).toBeCloseTo(1, 1);
    expect(arrived('n2', 20, 40) / 20_000).toBeCloseTo(1, 1);
    expect(verdict).toMatchObject({ steadyError: null, worstSecond: 0, overshootTokens: 0 });
  });

  test('a missed expectation is named with what came instead', () => {
    const text = EVERYTHING.concat('expect: { max-min: { utilisation: { atLeast: 2 }, records: { atMost: 1e9 } } }\n');
    const { expectations, verdict } = runScenario(parseScenario(text, 'x.yaml'), MAX_MIN, 7);
    expect(expectations).toEqual([
      { metric: 'utilisation', atLeast: 2, atMost: null, value: verdict.utilisation, isKept: false },
      { metric: 'records', atLeast: null, atMost: 1e9, value: verdict.records, isKept: true },
    ]);
  });
});

/** Long stories are played in full by test/long. */
const SHORT_MS = 20_000;

describe('a short form of the built-in scenarios keeps the promises that hold at any time', () => {
  test.each(someOf(builtInNames()))('%s', (name) => {
    const scenario = shortened(loadBuiltIn(name), SHORT_MS);
    const { verdict } = runScenario(scenario, MAX_MIN, 1);
    const smallest = Math.min(scenario.quota.messagesPerSecond, 1000);
    // A part that is cut off may hold its shares beside the others; three tokens of a quota of one are no ratio.
    // Where two windows meet a sliding second sees both.
    const isWindow = scenario.settings.groups[0]?.limiter === 'window';
    // A bucket holds ten at least, and is full at the start.
    const small = Math.max(4, 1.1 + 10 / smallest);
    const bound = isWindow ? 2 : /partition|one-way|isolated/.test(name) ? 1.5 : smallest <= 10 ? small : 1.35;
    expect(verdict.worstSecond).toBeLessThanOrEqual(bound);
    expect(verdict.records).toBeGreaterThan(0);
  });
});

function shortened(scenario: Scenario, durationMs: number): Scenario {
  const happenings = scenario.happenings.filter(({ atMs }) => atMs < durationMs);
  return { ...scenario, durationMs: Math.min(scenario.durationMs, durationMs), happenings };
}

function withoutClients(scenario: Scenario): Scenario {
  return { ...scenario, loads: scenario.loads.filter(({ kind }) => kind !== 'clients') };
}
