import { describe, expect, test } from 'vitest';
import { checkLive, type LiveBounds } from '../../../sim/live/check-live.js';
import { growthFromDecisions, limitsFromDecisions } from '../../../sim/live/decision-file.js';
import { countedSince } from '../../../sim/live/live-run.js';
import { firstNodes } from '../../../sim/live/live-story.js';
import { attemptsOf, liveConfig, punctualityOf, trafficPlan } from '../../../sim/live/live-traffic.js';
import { loadBuiltIn, parseScenario } from '../../../sim/scenario/load-scenario.js';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import type { Call } from '../../../src/tools/load/call.js';

const BOUNDS: LiveBounds = { topic: 'embedded', brokerKnown: false, requestsPerSecondMax: 2500 };
const KAFKA: LiveBounds = { ...BOUNDS, topic: 'kafka' };

const GOOD = `name: small
says: A story.
durationSeconds: 10
nodes: 2
quota: { messagesPerSecond: 1000 }
load:
  - { kind: poisson, ratePerSecond: 100 }
`;

describe('what a live run cannot play is refused, with its line and what is allowed', () => {
  test('nothing of the scenarios that npm run accuracy:live plays', () => {
    const played = ['even', 'hot-node-moves', 'dip-and-return', 'crash', 'late-joiner', 'topic-outage', 'stall-5s'];
    for (const name of played) {
      expect(loadBuiltIn(name, checkLive({ ...KAFKA, brokerKnown: true })).name).toBe(name);
    }
  });
});

describe('the configuration of the nodes', () => {
  test('is valid, and says what the scenario says', () => {
    const text = `${GOOD}group: { debtMs: 250, isolation: { holdMs: 2s }, weights: { n1: 3 } }\ntiming: { heartbeatMs: 500 }\n`;
    const scenario = parseScenario(text, 'x.yaml');
    const raw: unknown = JSON.parse(liveConfig(scenario, { kind: 'embedded', path: '/nowhere' }, '/nowhere/d'));
    const { config, mistakes } = examineConfig(raw, { source: 'x', folder: '/nowhere', locate: () => null });
    expect(mistakes).toEqual([]);
    if (config === null) throw new Error('no configuration');
    expect(config.timing).toMatchObject({ heartbeatMs: 500, stalenessMs: 5000 });
    expect(config.log.decisionsFile).toBe('/nowhere/d');
    expect(config.groups[0]).toMatchObject({
      name: 'scenario',
      debtMs: 250,
      weights: { n1: 3 },
      strategy: 'max-min',
      isolation: { policy: 'equal-share', holdMs: 2000 },
      quota: { publish: [1000, Infinity] },
    });
  });
});

describe('what is left of a live run', () => {
  test('the decision log: per node, in order, without half a line', () => {
    const line = (t: number, node: string, limitMessages: number | null, direction = 'publish') =>
      JSON.stringify({ t, node, direction, limitMessages, limitBytes: null });
    const lines = [line(1200, 'n1', 20), line(1100, 'n1', 10), line(1300, 'n2', null), line(1400, 'n1', 5, 'dispatch')];
    const limits = limitsFromDecisions(`${lines.join('\n')}\n${line(1500, 'n1', 9).slice(0, 20)}`, 1000);
    expect(Object.fromEntries(limits)).toEqual({
      n1: {
        atMs: [100, 200],
        limits: [
          [10, Infinity],
          [20, Infinity],
        ],
      },
      n2: { atMs: [300], limits: [[Infinity, Infinity]] },
    });
  });

  test('a node that starts is there from when the others made room, not from when it was seen to be ready', () => {
    const line = (t: number, node: string, members: number) =>
      JSON.stringify({ t, node, direction: 'publish', limitMessages: 9, limitBytes: null, members });
    const lines = [line(1000, 'n2', 2), line(5001, 'n2', 1), line(9040, 'n2', 2), line(9043, 'n1', 2)];
    const growthMs = growthFromDecisions(lines.join('\n'), 1000);
    expect(growthMs).toEqual([8040]);
    const seen = [
      { what: 'leave', nodes: ['n1'], atMs: 4000, values: { forSeconds: 4.1 } },
      { what: 'start', nodes: ['n3'], atMs: 8041.5, values: {} },
      // A node that crashed was counted all the time: nobody saw it come.
      { what: 'crash', nodes: ['n4'], atMs: 4500, values: { forSeconds: 2 } },
      { what: 'stall', nodes: ['n2'], atMs: 7000, values: { forSeconds: 1.1 } },
    ];
    expect(countedSince(seen, growthMs)).toEqual([
      { ...seen[0], values: { forSeconds: 4.04 } },
      seen[2],
      seen[3],
      { ...seen[1], atMs: 8040 },
    ]);
    expect(countedSince(seen.slice(0, 1), [7000, 8200])).toEqual(seen.slice(0, 1));
  });

  test('calls become attempts: at the answer where a node decided, at the request where it did not', () => {
    const scenario = loadBuiltIn('even');
    const urls = scenario.nodes.map((node) => `http://${node}`);
    const plan = trafficPlan(scenario, 1, urls, 1000);
    const call = { tag: 2, dueMs: 1000, sentMs: 1001, endedMs: 1005, bytes: 4, retry: false } as const;
    const calls: Call[] = [
      { ...call, outcome: 'granted' },
      { ...call, tag: 0, outcome: 'refused', retry: true },
      { ...call, outcome: 'late' },
    ];
    expect(attemptsOf(calls, plan)).toEqual({
      atMs: Float64Array.of(5, 5, 1),
      node: Uint16Array.of(2, 0, 2),
      messages: Float64Array.of(1, 1, 1),
      bytes: Float64Array.of(4, 4, 4),
      retry: Uint8Array.of(0, 1, 0),
      admitted: Uint8Array.of(1, 0, 0),
    });
    expect(punctualityOf(calls)).toEqual({ medianLateMs: 1, worstLateMs: 1, missedRatio: 1 / 3 });
  });

  test('nodes that start later are not there at first', () => {
    expect(firstNodes(loadBuiltIn('late-joiner'))).toEqual(['n1', 'n2', 'n3', 'n4']);
    expect(firstNodes(loadBuiltIn('crash'))).toHaveLength(5);
  });
});
