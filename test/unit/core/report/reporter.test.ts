import { describe, expect, test } from 'vitest';
import type { Append } from '../../../../src/core/base/protocol/events-and-effects.js';
import type { ReportRow } from '../../../../src/core/base/protocol/record.js';
import { GATED } from '../../../simulation/settings.js';
import { OneNode } from '../machine/one-node.js';

/** Every so many rounds of 20 ms one piece arrives at a lane; the rows reported meanwhile are returned. */
function work(node: OneNode, durationMs: number, perRound: number, lane = 0): ReportRow[] {
  let owed = 0;
  const seen: Append[] = [];
  node.run(durationMs, {
    echo: false,
    each: () => {
      for (owed += perRound; owed >= 1 - 1e-9; owed--) node.tryAcquire(lane, 1);
      seen.push(...node.sent);
      node.echo();
    },
  });
  seen.push(...node.sent);
  node.echo();
  return seen.flatMap(({ record }) => (record?.kind === 'report' ? record.rows : []));
}

describe('reporting', () => {
  test('nothing before there is work, and a lane that is only looked at is not reported', () => {
    const node = OneNode.ready();
    node.step({ kind: 'lane-served', lane: 0 });
    expect(work(node, 3000, 0)).toEqual([]);
  });

  test('a steady rate is reported a few times until it is known, and then not for minutes', () => {
    const node = OneNode.ready();
    const first = work(node, 60_000, 10);
    expect(first.length).toBeGreaterThanOrEqual(1);
    expect(first.length).toBeLessThanOrEqual(9);
    expect(first.at(-1)?.demandMessages).toBeCloseTo(500, -1);
    expect(work(node, 120_000, 10)).toEqual([]);
  });

  test('a step is reported within 100 ms, small groups too once they are refused', () => {
    const node = OneNode.ready();
    work(node, 5000, 4);
    const rows = work(node, 100, 40);
    expect(rows.at(-1)?.demandMessages).toBeGreaterThan(1000);
  });

  test.each([
    ['max-min', 0],
    // It goes on from what everybody applies now.
    ['steal-halfway', 1],
  ])('%s: what others take from a share is no news of this node, unless the strategy remembers', (strategy, least) => {
    const node = OneNode.ready({ groups: [{ ...GATED, strategy }] });
    const other = (wanted: number): ReportRow => {
      const { groupId } = node.coordinator.lanes.get(0)!;
      const rates = { usageMessages: wanted, usageBytes: 0, demandMessages: wanted, demandBytes: 0 };
      return { groupId, direction: 0, topics: 0, ...rates, shareMessages: 500, shareBytes: 0 };
    };
    node.tryAcquire(0, 1);
    const beat = (wanted: number) => node.read(node.by('a', 'node'), node.report('a', [other(wanted)]));
    for (let second = 0; second < 60; second++) {
      beat(100);
      work(node, 1000, 2);
    }
    const before = node.coordinator.shares.applied[0];
    let reports = 0;
    for (let second = 0; second < 20; second++) {
      beat(700);
      reports += work(node, 1000, 2).length;
    }
    expect(before - node.coordinator.shares.applied[0]).toBeGreaterThan(50);
    if (least === 0) expect(reports).toBe(0);
    else expect(reports).toBeGreaterThanOrEqual(least);
  });

  test('reports of a bundle keep their distance', () => {
    const node = OneNode.ready();
    const times: number[] = [];
    node.run(20_000, {
      echo: false,
      each: () => {
        for (let piece = 0; piece < (Math.floor(node.nowMs / 100) % 2) * 60; piece++) node.tryAcquire(0, 1);
        if (node.sent.some(({ record }) => record?.kind === 'report')) times.push(node.nowMs);
        node.echo();
      },
    });
    expect(times.length).toBeGreaterThan(20);
    for (let at = 1; at < times.length; at++) {
      expect(times[at] - times[at - 1]).toBeGreaterThanOrEqual(50);
    }
  });

  test('unchanged groups are reported again after forcedReportMs', () => {
    const node = OneNode.ready({ forcedReportMs: 30_000 });
    work(node, 60_000, 10);
    const forced = work(node, 31_000, 10);
    expect(forced).toHaveLength(1);
    expect(forced[0]?.demandMessages).toBeCloseTo(500, -1);
  });
});

describe('the end of an entry', () => {
  test.each([
    { perSecond: 500, withinMs: 300 },
    { perSecond: 80, withinMs: 2000 },
    { perSecond: 3, withinMs: 11_000 },
    { perSecond: 0.5, withinMs: 11_000 },
  ])('$perSecond/s and then nothing: the row is gone within $withinMs ms', ({ perSecond, withinMs }) => {
    const node = OneNode.ready();
    work(node, 20_000, perSecond / 50);
    const { usageMap, membership, nodeKey } = node.coordinator;
    expect(usageMap.rows.count).toBe(1);
    work(node, withinMs, 0);
    expect(usageMap.rows.count).toBe(0);
    expect(usageMap.keysOf(membership.get(nodeKey)!)).toHaveLength(1);
  });

  test('an idle lane is not served any more, and is served again at its next use', () => {
    const node = OneNode.ready();
    work(node, 2000, 10);
    work(node, 62_000, 0);
    expect(node.coordinator.lanes.size).toBe(0);
    expect(node.limiter.validUntilMs.at(0)).toBe(-Infinity);
    expect(node.tryAcquire(0, 1)).toBe(true);
    expect(node.coordinator.lanes.size).toBe(1);
  });

  test('a debt is still owed when the lane is served again', () => {
    const node = OneNode.ready();
    work(node, 1000, 1);
    node.run(200);
    expect(node.tryAcquire(0, 1_000_000)).toBe(true);
    expect(node.tryAcquire(0, 1)).toBe(false);
    work(node, 90_000, 0);
    expect(node.coordinator.lanes.size).toBe(0);
    expect(node.tryAcquire(0, 1)).toBe(false);
  });
});

describe('bundles', () => {
  const groups = Array.from({ length: 8 }, (_, at) => ({ ...GATED, name: `group-${at}` }));

  test('one change writes the whole bundle, and no other', () => {
    const node = OneNode.ready({ groups, groupsPerRecord: 4 });
    for (let lane = 0; lane < 16; lane += 2) work(node, 1500, 4, lane);
    node.run(500, { echo: true });
    const rows = work(node, 100, 40, 0);
    expect(new Set(rows.map(({ groupId }) => groupId)).size).toBeLessThanOrEqual(4);
    const keys = node.coordinator.usageMap.keysOf(node.coordinator.membership.get(node.coordinator.nodeKey)!);
    expect(keys).toHaveLength(2);
  });

  test('publish and dispatch of a group are two rows of one bundle', () => {
    const limited = { ...GATED, quota: { publish: [1000, Infinity], dispatch: [1000, Infinity] } as const };
    const node = OneNode.ready({ groups: [limited] });
    work(node, 1500, 4, 0);
    const rows = work(node, 1500, 4, 1);
    expect(new Set(rows.map(({ direction }) => direction))).toEqual(new Set([0, 1]));
    expect(node.coordinator.usageMap.entryCount).toBe(1);
  });
});
