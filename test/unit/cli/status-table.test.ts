import { describe, expect, it, test } from 'vitest';
import type {
  ClusterBucketStatus,
  DirectionStatus,
  GroupStatus,
  NodeStatus,
  RateStatus,
} from '../../../src/node/api/node-status.js';
import { ALL, statusTable } from '../../../src/tools/cli/look/status-table.js';

describe('the table of `quotamesh status`', () => {
  it('shows the members, then usage, demand, share and age per node and quota', () => {
    const publish = direction({ messagesPerSecond: 1000, bytesPerSecond: 1_048_576 }, [
      share('a', { usage: 720, demand: 1900.4, share: 750 }, 120),
      share('bb', { usage: 12.34, demand: 12.34, share: 250 }, null),
    ]);
    const groups = [group('orders', publish), group('free')];
    const text = statusTable({ node: NODE, groups, groupsNotShown: 3, keys: [] });
    expect(text.split('\n')).toEqual([
      'cluster demo · as node a sees it · ready · topic kafka · reports come back after 3.2 ms · last rebalancing 85 ms',
      '',
      'NODE  STATE    SILENT  LIFE  VERSION',
      'a *   alive     0.3 s     2  0.1.0',
      'bb    expired   6.0 s     1  0.1.0',
      '',
      'GROUP   DIRECTION      NODE    USAGE   DEMAND     SHARE     OF    AGE',
      'orders  publish msg/s  a         720    1,900       750         0.1 s',
      '                       bb       12.3     12.3       250             -',
      '                       Σ         732    1,913     1,000  1,000',
      '        publish B/s    a      720 Ki   1.9 Mi    750 Ki         0.1 s',
      '                       bb    12.3 Ki  12.3 Ki    250 Ki             -',
      '                       Σ      732 Ki   1.9 Mi  1,000 Ki   1 Mi',
      'free    no quota',
      '3 more groups: --all shows them, --group NAME one.',
    ]);
  });

  it('of many nodes shows those that want most, and the others as one; of many members those that are lost first', () => {
    const nodes = Array.from({ length: 25 }, (_, at) => share(`n${at}`, { usage: at, demand: at, share: 2 }, 100));
    const members = nodes.map(({ nodeId }, at) => {
      return { ...NODE.members[0], nodeId, self: false, state: at === 24 ? 'expired' : 'alive' } as const;
    });
    const groups = [group('orders', direction(QUOTA, nodes))];
    const status = { node: { ...NODE, members }, groups, groupsNotShown: 0, keys: [] };
    const lines = statusTable(status).split('\n');
    expect(lines[3]).toMatch(/^n24 +expired/);
    expect(lines.slice(23, 24)).toEqual(['5 more nodes: --all shows them.']);
    const rows = lines.slice(26);
    expect(rows).toHaveLength(12);
    expect(rows[0]).toMatch(/^orders +publish msg\/s +n24 +24 +24 +2 +0\.1 s$/);
    expect(rows[10]).toMatch(/^ +15 others +105 +105 +30$/);
    expect(rows[11]).toMatch(/^ +Σ +300 +300 /);
    const all = statusTable(status, ALL).split('\n');
    expect(all).toHaveLength(2 + 1 + 25 + 1 + 1 + 26);
    expect(all.join()).not.toMatch(/others|more nodes/);
  });

  it('says when the node is not ready or degraded', () => {
    const node: NodeStatus = {
      ...NODE,
      ready: false,
      notReadyBecause: ['the topic is being opened'],
      degraded: ['topic lost: broker gone'],
      reportRoundTripMs: 0,
      lastRebalancingMs: 0,
      pool: { size: 3, agreed: false },
    };
    const [first, second] = linesOf([], node);
    expect(first).toBe(
      'cluster demo · as node a sees it · NOT READY: the topic is being opened · topic kafka · pool of 3, not agreed yet',
    );
    expect(second).toBe('DEGRADED: topic lost: broker gone');
  });

  it('names the groups that saturated backends hold down', () => {
    const busy = { group: 'orders', direction: 'publish', binding: 'limiting', targetMessagesPerSecond: 8.33 } as const;
    const node: NodeStatus = { ...NODE, busyLanes: 3, busyGroups: [busy] };
    const [, second] = linesOf([], node);
    expect(second).toBe('BUSY (backends are saturated): orders publish 8.3 msg/s (limiting), and 2 more');
  });

  it('a quota by cost alone limits messages, and says so; a disabled group is no group without quota', () => {
    const byCost = { ...direction(NOTHING, []), target: { messagesPerSecond: 20, bytesPerSecond: null } };
    const groups = [group('paid', byCost), { ...group('off'), enabled: false }];
    const lines = linesOf(groups);
    expect(lines.at(-2)).toMatch(/^paid +publish msg\/s +Σ +0 +0 +0 +20$/);
    expect(lines.at(-1)).toMatch(/^off +disabled$/);
  });

  it('a ramp has a row: its state, level and top', () => {
    const climb = { from: 100, to: 1000, overMs: 10_000 };
    const ramp = { mode: 'relaxed', state: 'climbing', ceiling: 280, level: 280, ...climb } as const;
    const ramped = { ...direction({ messagesPerSecond: 1000, bytesPerSecond: null }, []), ramp };
    const lines = linesOf([group('orders', ramped)]);
    expect(lines.at(-1)).toMatch(/^ +publish ramp +climbing +280 +1,000$/);
  });
});

it('shares of a quota per hour are per hour, what was measured over seconds is per second', () => {
  const perHour = { messagesPerSecond: 5 / 6, bytesPerSecond: null };
  const a = { ...share('a', { usage: 62.5, demand: 62.54, share: 0.5 }, 120) };
  const publish = { ...direction(perHour, [a]), quotaAsWritten: { messagesPerSecond: '3000/h' } };
  const lines = linesOf([group('orders', publish)]);
  expect(lines.at(-2)).toMatch(/^orders +publish msg\/h +a +62\.5\/s +62\.5\/s +1,800 +0\.1 s$/);
  expect(lines.at(-1)).toMatch(/^ +Σ +62\.5\/s +62\.5\/s +1,800 +3,000$/);
});

it('a node with keys alone has a table of keys, and none of groups', () => {
  const figures = { live: 1, loud: 0, made: 1, forgotten: 0, refused: 0, overQuota: 0, limitsRefused: 0, granted: 1 };
  const lines = linesOf([], { ...NODE, keys: [{ template: 'user:{id}', ...figures }] });
  expect(lines.filter((line) => line.startsWith('GROUP'))).toEqual([]);
  expect(lines.slice(-3)).toEqual(['', expect.stringMatching(/^KEYS HERE +LIVE/), expect.stringMatching(/^user:/)]);
});

it('small rates are shown, not rounded to nothing', () => {
  const publish = direction({ messagesPerSecond: 5 / 60, bytesPerSecond: null }, [
    share('a', { usage: 5 / 60, demand: 1e-9, share: 5 / 60 }, 120),
  ]);
  const lines = linesOf([group('orders', publish)]);
  expect(lines.at(-2)).toMatch(/^orders +publish msg\/s +a +0\.083 +0 +0\.083 +0\.1 s$/);
});

it('tokens of the cluster have a row: how they are given, what is there, and how many there can be', () => {
  const bucket = { tokens: -12.25, depth: 10, inPieces: true, throttled: false } as ClusterBucketStatus;
  const bytes = { ...bucket, tokens: 2048, depth: 4096, inPieces: false, throttled: true };
  const both = { messagesPerSecond: 10, bytesPerSecond: 1024 };
  const shared = { ...direction(both, []), clusterBucket: { messages: bucket, bytes } };
  const lines = linesOf([group('orders', shared)]);
  expect(lines.at(-2)).toMatch(/^ +publish tokens +in pieces +-12\.3 +10$/);
  expect(lines.at(-1)).toMatch(/^ +publish B tokens +throttled +2 Ki +4 Ki$/);
});

test('a strict group has what its log says: the quota, what waits of the depth, and who holds and wants how much', () => {
  const holders = [
    { nodeId: 'a', hold: 20, wantPerSecond: 30 },
    { nodeId: 'b', hold: 42, wantPerSecond: 45.5 },
  ];
  const strict = { state: 'kept', pool: 38, depth: 100, quotaPerSecond: 100, isInForce: true, holders };
  const lines = (state: object) => {
    const publish = { ...direction(QUOTA, []), strict: { ...strict, ...state } };
    return linesOf([group('paid', publish as unknown as DirectionStatus)]);
  };
  expect(lines({}).slice(-4)).toEqual([
    'paid   publish msg/s   Σ              75.5         100',
    '       publish strict  kept                    38  100',
    '                       b              45.5     42',
    '                       a                30     20',
  ]);
  expect(lines({ state: 'learning', isInForce: false, holders: [] }).slice(-2)).toEqual([
    expect.stringMatching(/^paid +publish msg\/s +Σ, quota changes +0 +100$/),
    expect.stringMatching(/^ +publish strict +learning +38 +100$/),
  ]);
});

const QUOTA: RateStatus = { messagesPerSecond: 50, bytesPerSecond: null };

function linesOf(groups: readonly GroupStatus[], node = NODE): readonly string[] {
  return statusTable({ node, groups, groupsNotShown: 0, keys: [] }).split('\n');
}

/** Has what the table shows. */
const NODE = {
  cluster: 'demo',
  nodeId: 'a',
  ready: true,
  notReadyBecause: [],
  degraded: [],
  members: [
    { nodeId: 'a', incarnation: 2, state: 'alive', self: true, silentMs: 312, version: '0.1.0' },
    { nodeId: 'bb', incarnation: 1, state: 'expired', self: false, silentMs: 6020, version: '0.1.0' },
  ],
  topic: { kind: 'kafka' },
  configuration: { hiddenByRunTime: 0, hidden: [] },
  keys: [],
  reportRoundTripMs: 3.21,
  lastRebalancingMs: 85.4,
  pool: null,
  busyLanes: 0,
} as unknown as NodeStatus;

const NOTHING: RateStatus = { messagesPerSecond: null, bytesPerSecond: null };

function group(name: string, publish = direction(NOTHING, [])): GroupStatus {
  const directions = { publish, dispatch: direction(NOTHING, []) };
  return { group: name, enabled: true, shadow: null, directions } as unknown as GroupStatus;
}

type NodeShare = DirectionStatus['nodes'][number];

function share(nodeId: string, rates: { usage: number; demand: number; share: number }, ageMs: number | null) {
  const both = (rate: number): RateStatus => ({ messagesPerSecond: rate, bytesPerSecond: rate * 1024 });
  const { usage, demand, share } = rates;
  return { nodeId, usage: both(usage), demand: both(demand), share: both(share), reportAgeMs: ageMs } as NodeShare;
}

function direction(quota: RateStatus, nodes: readonly NodeShare[]): DirectionStatus {
  const total = (key: keyof RateStatus) => nodes.reduce((sum, node) => sum + (node.share[key] ?? 0), 0);
  const shareSum = { messagesPerSecond: total('messagesPerSecond'), bytesPerSecond: total('bytesPerSecond') };
  const direction = {
    quota,
    quotaAsWritten: {},
    target: quota,
    ramp: null,
    clusterBucket: null,
    strict: null,
    shareSum,
    nodes,
  };
  return direction as unknown as DirectionStatus;
}
