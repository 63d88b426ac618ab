import { describe, expect, test } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import { groupIdOf } from '../../../src/core/base/ids.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { MESSAGES, UNLIMITED } from '../../../src/core/base/vocabulary.js';
import { isDrawn, someOf } from '../../property/seed.js';
import { GROUP, SETTINGS } from '../settings.js';

const HOUR_MS = 3_600_000;
/** Units per second, and what passes at once. */
const QUOTAS = {
  '60 per hour': { perSecond: 60 / 3600, depth: 60 },
  '1,000 per day': { perSecond: 1000 / 86_400, depth: 1000 },
  '100 per second, 300 deep': { perSecond: 100, depth: 300 },
};
type Quota = (typeof QUOTAS)[keyof typeof QUOTAS];
const EACH = Object.entries(QUOTAS);
/** A start, and two deliveries. */
const STARTED_MS = 400;
/** A farewell is in the log. */
const GONE_MS = 50;

function groupOf({ perSecond, depth }: Quota): GroupSettings {
  const quota = { publish: [perSecond, Infinity] as const, dispatch: UNLIMITED };
  return { ...GROUP, quota, burst: { ...GROUP.burst, messages: depth } };
}

class Cluster {
  readonly world: World;

  constructor(quota: Quota, nodes: number) {
    const settings = { ...SETTINGS, groups: [groupOf(quota)] };
    this.world = new World(1, settings, { appendMs: [2, 3], deliveryMs: [2, 3] });
    for (let at = 0; at < nodes; at++) this.start(at, false);
    this.pass(STARTED_MS);
  }

  start(node: number, compacted = true): void {
    this.world.start(`n${node}`, { compacted });
  }

  leave(node: number): void {
    this.world.node(`n${node}`).leave();
    this.pass(GONE_MS);
  }

  /** Starts nodes anew, one after the other. */
  restart(...nodes: readonly number[]): void {
    for (const node of nodes) {
      this.leave(node);
      this.start(node);
      this.pass(STARTED_MS);
    }
  }

  crash(node: number): void {
    this.world.node(`n${node}`).crash();
  }

  pass(ms: number): void {
    this.world.runFor(ms);
  }

  /** Messages in the bucket by what the node has read; it serves the lane from now on. */
  levelAt(node: number): number {
    this.world.ask(`n${node}`, 0, 0, 0, false);
    const { usageMap, tokens } = this.world.node(`n${node}`).coordinator;
    const groupId = groupIdOf(SETTINGS.cluster, GROUP.name);
    return tokens.tokensOf(usageMap.mapLaneOf(groupId, 0), MESSAGES) as number;
  }

  /** Asks one by one; returns how many are granted. */
  take(node: number, most = Infinity): number {
    let granted = 0;
    while (granted < most && this.world.ask(`n${node}`, 0, 1, 0, false)) granted++;
    return granted;
  }
}

describe.each(someOf(EACH))('a quota of %s', (_, quota) => {
  const { perSecond, depth } = quota;
  const some = Math.floor(depth / 2);

  test('has its whole burst when a node starts for the first time', () => {
    expect(new Cluster(quota, 1).take(0)).toBe(depth);
  });

  test('is what it was when its only node starts anew', () => {
    const cluster = new Cluster(quota, 1);
    expect(cluster.take(0, some)).toBe(some);
    cluster.restart(0);
    const flowedIn = ((GONE_MS + STARTED_MS) / 1000) * perSecond;
    const left = Math.min(depth, depth - some + flowedIn);
    expect(cluster.take(0)).toBeGreaterThanOrEqual(Math.floor(left - 1));
    expect(cluster.world.nowMs).toBeLessThan(HOUR_MS);
  });

  test('is not full again when its only node starts anew, however often', () => {
    const cluster = new Cluster(quota, 1);
    let granted = cluster.take(0);
    const beganMs = cluster.world.nowMs;
    for (let round = 0; round < 5; round++) {
      cluster.restart(0);
      granted += cluster.take(0);
    }
    const flowedIn = ((cluster.world.nowMs - beganMs) / 1000) * perSecond;
    expect(granted).toBeLessThanOrEqual(depth + flowedIn + 1);
    expect(granted).toBeGreaterThanOrEqual(Math.floor(depth + 0.8 * flowedIn) - 6);
  });

  test('is what it was at a node that serves it for the first time', () => {
    const cluster = new Cluster(quota, 3);
    expect(cluster.take(0)).toBe(depth);
    cluster.pass(100);
    const others = cluster.take(1) + cluster.take(2);
    expect(others).toBeLessThanOrEqual(2 * 0.1 * perSecond + 2);
  });

  test('is what it was after a rolling deploy, whoever has served it', () => {
    const cluster = new Cluster(quota, 3);
    expect(cluster.take(0)).toBe(depth);
    const beganMs = cluster.world.nowMs;
    cluster.pass(100);
    cluster.restart(0, 1, 2);
    const flowedIn = Math.min(depth, ((cluster.world.nowMs - beganMs) / 1000) * perSecond);
    const level = cluster.levelAt(1);
    expect(level).toBeLessThanOrEqual(flowedIn + 1);
    expect(level).toBeGreaterThanOrEqual(0.75 * flowedIn - 1);
  });

  test('is what it was after all nodes were away at once', () => {
    const cluster = new Cluster(quota, 3);
    expect(cluster.take(0, some)).toBe(some);
    cluster.pass(100);
    for (const node of [0, 1, 2]) cluster.leave(node);
    for (const node of [0, 1, 2]) cluster.start(node);
    cluster.pass(STARTED_MS);
    const level = cluster.levelAt(2);
    expect(level).toBeGreaterThanOrEqual(depth - some - 1);
    if (perSecond < 1) expect(level).toBeLessThanOrEqual(depth - some + 1);
  });

  test('has lost no more than what a killed node may leave unpublished', () => {
    const cluster = new Cluster(quota, 3);
    const granted = cluster.take(0);
    cluster.pass(100);
    for (const node of [0, 1, 2]) cluster.crash(node);
    for (const node of [0, 1, 2]) cluster.start(node);
    cluster.pass(STARTED_MS);
    const flowedIn = ((100 + STARTED_MS) / 1000) * perSecond;
    expect(granted + cluster.take(2)).toBeLessThanOrEqual(depth + depth / 3 + flowedIn + 1);
  });

  test.each([
    ['left', 'leave'],
    ['were killed', 'crash'],
  ] as const)('has the tokens of a night in which all nodes were off that %s', (_how, end) => {
    const cluster = new Cluster(quota, 3);
    expect(cluster.take(0)).toBe(depth);
    cluster.pass(1000);
    for (const node of [0, 1, 2]) cluster[end](node);
    cluster.pass(8 * HOUR_MS);
    for (const node of [3, 4, 5]) cluster.start(node);
    cluster.pass(STARTED_MS);
    const left = Math.min(depth, 8 * 3600 * perSecond);
    const level = cluster.levelAt(4);
    expect(level).toBeGreaterThanOrEqual(left - 1);
    expect(level).toBeLessThanOrEqual(left + 2);
  });

  test('is what it was after the topic was made anew', () => {
    const cluster = new Cluster(quota, 3);
    expect(cluster.take(0)).toBe(depth);
    const beganMs = cluster.world.nowMs;
    cluster.pass(1000);
    cluster.world.topic.makeAnew();
    cluster.pass(10_000);
    const flowedIn = Math.min(depth, ((cluster.world.nowMs - beganMs) / 1000) * perSecond);
    expect(cluster.take(1)).toBeLessThanOrEqual(flowedIn + 1);
  });

  test('gives what it held when it is raised, at nodes that never served it', () => {
    const cluster = new Cluster(quota, 3);
    const raised = { perSecond: 100 * perSecond, depth: 100 * depth };
    cluster.world.changeGroup(0, groupOf(raised));
    cluster.pass(100);
    // Only records settle a bucket: the change may count from the heartbeat before it.
    const most = depth + 1.1 * raised.perSecond;
    expect(cluster.take(1)).toBeLessThanOrEqual(most + 1);
    cluster.restart(2);
    expect(cluster.take(2)).toBeLessThanOrEqual(1.6 * raised.perSecond + 1);
  });

  test('gives its new depth when it is lowered', () => {
    const cluster = new Cluster(quota, 3);
    cluster.world.changeGroup(0, groupOf({ perSecond: perSecond / 10, depth: Math.floor(depth / 10) }));
    cluster.pass(100);
    expect(cluster.take(1)).toBe(Math.floor(depth / 10));
  });
});

test.each([
  ['full', 1000],
  ['half full', 4000],
])('a bucket is %s after sixty days in which all nodes were off', (_, depth) => {
  const perSecond = 1000 / (30 * 24 * 3600);
  const cluster = new Cluster({ perSecond, depth }, 3);
  expect(cluster.take(0)).toBe(depth);
  cluster.pass(1000);
  for (const node of [0, 1, 2]) cluster.leave(node);
  cluster.pass(60 * 24 * HOUR_MS);
  for (const node of [3, 4, 5]) cluster.start(node);
  cluster.pass(STARTED_MS);
  expect(cluster.levelAt(4)).toBeCloseTo(Math.min(depth, 2000), 0);
});

test.runIf(isDrawn(1))('the log holds no row of a bucket that is full, and one of a bucket that is not', () => {
  const cluster = new Cluster(QUOTAS['60 per hour'], 3);
  for (let round = 0; round < 10; round++) {
    for (const node of [0, 1, 2]) {
      cluster.take(node, 2);
      cluster.pass(100);
    }
  }
  cluster.pass(60_000);
  const rows = () => cluster.world.node('n1').coordinator.usageMap.rows.count;
  expect(rows()).toBe(1);
  cluster.pass(HOUR_MS);
  expect(rows()).toBe(0);
});

test.runIf(isDrawn(0))(
  'a fleet whose nodes come and go leaves one row of a bucket, and none of one that is full',
  () => {
    const cluster = new Cluster(QUOTAS['60 per hour'], 3);
    for (let at = 3; at < 23; at++) {
      cluster.take(at - 1, 2);
      cluster.leave(at - 3);
      cluster.start(at);
      cluster.pass(10_000);
    }
    const { usageMap, membership } = cluster.world.node('n22').coordinator;
    cluster.pass(SETTINGS.forgetAfterMs + 10_000);
    expect(usageMap.rows.count).toBeLessThanOrEqual(2);
    cluster.pass(2 * HOUR_MS);
    expect(usageMap.rows.count).toBe(0);
    expect([...membership.all()].length).toBe(3);
  },
);
