import { describe, expect, test } from 'vitest';
import type { GroupStatus, RateStatus } from '../../../src/node/api/node-status.js';
import { linesOf } from '../../../src/tools/cli/look/show-top.js';
import { topRows } from '../../../src/tools/cli/look/top-rows.js';

function rates(messagesPerSecond: number | null, bytesPerSecond: number | null): RateStatus {
  return { messagesPerSecond, bytesPerSecond };
}

function node(nodeId: string, messages: { usage: number; demand: number }, bytes = { usage: 0, demand: 0 }) {
  return { nodeId, usage: rates(messages.usage, bytes.usage), demand: rates(messages.demand, bytes.demand) };
}

function group(name: string, target: RateStatus, ...nodes: readonly ReturnType<typeof node>[]): GroupStatus {
  const directions = { publish: { target, nodes }, dispatch: { target: rates(null, null), nodes: [] } };
  return { group: name, directions } as unknown as GroupStatus;
}

const GROUPS = [
  group('calm', rates(100, null), node('a', { usage: 10, demand: 10 }), node('b', { usage: 70, demand: 70.1 })),
  group('held', rates(50, null), node('a', { usage: 20, demand: 30 }), node('b', { usage: 30, demand: 90 })),
  group('bytes', rates(null, 1000), node('a', { usage: 1, demand: 2 }, { usage: 900, demand: 1800 })),
  group('free', rates(null, null), node('a', { usage: 5, demand: 9 })),
  group('idle', rates(100, null), node('a', { usage: 0, demand: 0 })),
];

describe('top', () => {
  test('shows who is throttled, by how much, and where; rounding is no throttling', () => {
    const rows = topRows(GROUPS, 'throttled').map(({ group, dimension, usage, throttled, worstNode }) => {
      return [group, dimension, usage, throttled, worstNode];
    });
    expect(rows).toEqual([
      ['bytes', 'bytes', 900, 900, 'a'],
      ['held', 'messages', 50, 70, 'b'],
      ['calm', 'messages', 80, 0, null],
      ['free', 'messages', 5, 0, null],
    ]);
  });

  test.each([
    ['usage', ['bytes', 'calm', 'held', 'free']],
    ['demand', ['bytes', 'held', 'calm', 'free']],
    ['group', ['bytes', 'calm', 'free', 'held']],
  ] as const)('sorted by %s', (sort, names) => {
    expect(topRows(GROUPS, sort).map(({ group: name }) => name)).toEqual(names);
  });

  test('shows strict groups by what their log says is wanted', () => {
    const [calm] = GROUPS as [GroupStatus];
    const holders = [
      { nodeId: 'a', wantPerSecond: 30, hold: 1 },
      { nodeId: 'b', wantPerSecond: 90, hold: 1 },
    ];
    const strict = { holders, quotaPerSecond: 100, pool: 5, depth: 50, waiting: 0 };
    const { dispatch } = calm.directions;
    const of = (name: string, given: object) =>
      ({ group: name, directions: { publish: { strict: given }, dispatch } }) as unknown as GroupStatus;
    const rows = topRows([calm, of('paid', strict), of('rests', { ...strict, holders: [] })], 'usage');
    expect(rows.map(({ group: name }) => name)).toEqual(['paid', 'calm']);
    expect(rows[0]).toMatchObject({ usage: null, demand: 120, target: 100, throttled: 20, worstNode: 'b' });
    expect(linesOf(rows)).toMatch(/paid .* usage=- demand=120 of=100 throttled=20 tokens=5\/50 set-point=- .* worst=b/);
  });
});
