import { describe, expect, test } from 'vitest';
import type { DirectionStatus, GroupStatus, RateStatus } from '../../../src/node/api/node-status.js';
import { topRows } from '../../../src/tools/cli/look/top-rows.js';

type Rates = readonly [messages: number | null, bytes: number | null];

function rates([messagesPerSecond, bytesPerSecond]: Rates): RateStatus {
  return { messagesPerSecond, bytesPerSecond };
}

function direction(target: Rates, nodes: Readonly<Record<string, readonly [usage: Rates, demand: Rates]>>) {
  const shares = Object.entries(nodes).map(([nodeId, [usage, demand]]) => {
    return { nodeId, usage: rates(usage), demand: rates(demand) };
  });
  return { target: rates(target), nodes: shares } as unknown as DirectionStatus;
}

const IDLE = direction([null, null], {});

function group(name: string, publish: DirectionStatus, dispatch = IDLE): GroupStatus {
  return { group: name, directions: { publish, dispatch } } as unknown as GroupStatus;
}

const GROUPS = [
  group(
    'calm',
    direction([100, null], {
      a: [
        [10, 0],
        [10, 0],
      ],
      b: [
        [70, 0],
        [70.1, 0],
      ],
    }),
  ),
  group(
    'held',
    direction([50, null], {
      a: [
        [20, 0],
        [30, 0],
      ],
      b: [
        [30, 0],
        [90, 0],
      ],
    }),
  ),
  group(
    'bytes',
    direction([null, 1000], {
      a: [
        [1, 900],
        [2, 1800],
      ],
    }),
  ),
  group(
    'free',
    direction([null, null], {
      a: [
        [5, 0],
        [9, 0],
      ],
    }),
  ),
  group(
    'idle',
    direction([100, null], {
      a: [
        [0, 0],
        [0, 0],
      ],
    }),
  ),
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
});
