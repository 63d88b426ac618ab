import { describe, expect, test } from 'vitest';
import { judgeRecording } from '../../../sim/run/judge-recording.js';
import type { Attempts, Recording } from '../../../sim/run/recording.js';
import { loadBuiltIn, parseScenario } from '../../../sim/scenario/load-scenario.js';
import { shortenScenario } from '../../../sim/scenario/shorten-scenario.js';

/** Two nodes at 100/s each under a quota of 100/s, for 10 s. */
const STORY = parseScenario(
  `name: story
says: A story.
durationSeconds: 10
nodes: 2
quota: { messagesPerSecond: 100 }
load:
  - { kind: constant, ratePerSecond: 100 }
expect:
  max-min: { utilisation: { atLeast: 0.99 } }
`,
  'story.yaml',
);

/** Every second attempt of each node is admitted, from both limits 50/s: what max-min would do. */
function recordingOf(change: Partial<Recording> = {}): Recording {
  const count = 2000;
  const atMs = Float64Array.from({ length: count }, (_, at) => 10 * ((at >> 1) + 1));
  const attempts: Attempts = {
    atMs,
    node: Uint16Array.from(atMs, (_, at) => at & 1),
    messages: new Float64Array(count).fill(1),
    bytes: new Float64Array(count),
    retry: new Uint8Array(count),
    admitted: Uint8Array.from(atMs, (_, at) => ((at >> 1) % 2 === 0 ? 1 : 0)),
  };
  const limits = new Map(['n1', 'n2'].map((node) => [node, { atMs: [-400, 300], limits: [HALF, FAIR] }] as const));
  return { system: 'live embedded', happenings: [], attempts, limits, sent: { records: 7, bytes: 70 }, ...change };
}

const HALF = [25, Infinity] as const;
const FAIR = [50, Infinity] as const;

describe('a recording', () => {
  test('is judged like a simulated run', () => {
    const result = judgeRecording(STORY, recordingOf(), 1);
    expect(result).toMatchObject({ scenario: 'story', seed: 1, system: 'live embedded', nodes: ['n1', 'n2'] });
    expect(result.verdict).toMatchObject({ records: 7, bytes: 70, convergenceMs: [300] });
    expect(result.verdict.utilisation).toBeCloseTo(1, 2);
    expect(result.verdict.jain).toBeCloseTo(1, 3);
    expect(result.verdict.steadyError).toBeCloseTo(0, 2);
    expect(result.expectations).toMatchObject([{ metric: 'utilisation', isKept: true }]);
    expect(result.series[0]?.perNode.n1?.limit.slice(0, 4)).toEqual([25, 25, 25, 50]);
  });

  test('a node that ended has no limit, and none of its earlier process when it is back', () => {
    const happenings = [{ what: 'crash', atMs: 4000, nodes: ['n1'], values: { forSeconds: 2 } }];
    const n1 = { atMs: [0, 6500], limits: [FAIR, [40, Infinity] as const] };
    const limits = new Map([...recordingOf().limits, ['n1', n1]]);
    const result = judgeRecording(STORY, recordingOf({ happenings, limits }), 1);
    const limit = result.series[0]?.perNode.n1?.limit ?? [];
    expect([limit[39], limit[40], limit[60], limit[64], limit[65]]).toEqual([50, 0, 0, 0, 40]);
    expect(result.happenings.map(({ says }) => says)).toEqual(['crash n1 for 2 s', 'start n1 again']);
  });

  test('a frozen node has no limit for as long, and its own again', () => {
    const happenings = [{ what: 'stall', atMs: 4000, nodes: ['n2'], values: { forSeconds: 1 } }];
    const result = judgeRecording(STORY, recordingOf({ happenings }), 1);
    const limit = result.series[0]?.perNode.n2?.limit ?? [];
    expect([limit[39], limit[40], limit[49], limit[50]]).toEqual([50, 0, 0, 50]);
  });

  test('the order in which answers came does not matter', () => {
    const recording = recordingOf();
    const order = Array.from(recording.attempts.atMs, (_, at) => at).reverse();
    const reversed = Object.fromEntries(
      Object.entries(recording.attempts).map(([key, column]) => [
        key,
        column.map((_: number, at: number) => column[order[at]]),
      ]),
    ) as unknown as Attempts;
    expect(judgeRecording(STORY, { ...recording, attempts: reversed }, 1)).toEqual(judgeRecording(STORY, recording, 1));
  });
});

describe('a shortened scenario', () => {
  test('ends earlier, and expects nothing', () => {
    const crash = shortenScenario(loadBuiltIn('crash'), 10);
    expect(crash).toMatchObject({ durationMs: 10_000, happenings: [] });
    expect(crash.expectations.size).toBe(0);
    expect(shortenScenario(loadBuiltIn('crash'), 600)).toEqual(loadBuiltIn('crash'));
  });
});
