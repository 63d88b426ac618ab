import { describe, expect, test } from 'vitest';
import type { Append } from '../../../../src/core/base/protocol/events-and-effects.js';
import { NOTHING_REPORTED, type ReportRow } from '../../../../src/core/base/protocol/record.js';
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
  test.each([
    ['max-min', 0],
    // It goes on from what everybody applies now.
    ['steal-halfway', 1],
  ])('%s: what others take from a share is no news of this node, unless the strategy remembers', (strategy, least) => {
    const node = OneNode.ready({ groups: [{ ...GATED, strategy }] });
    const other = (wanted: number): ReportRow => {
      const { groupId } = node.coordinator.lanes.get(0)!;
      const rates = { ...NOTHING_REPORTED, usageMessages: wanted, demandMessages: wanted, shareMessages: 500 };
      return { ...rates, groupId, direction: 0 };
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
