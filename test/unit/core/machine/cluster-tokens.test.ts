import { describe, expect, test } from 'vitest';
import type { SlotTokens } from '../../../../src/core/account/slot-tokens.js';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type ReportRecord, type ReportRow } from '../../../../src/core/base/protocol/record.js';
import { GROUP, SETTINGS } from '../../../simulation/settings.js';
import { wideId } from '../../../wide-ids.js';
import { OneNode } from './one-node.js';

/** 1,000/s, a bucket of 100. */
const TOKENS = { ...GROUP, burst: { ...GROUP.burst, messages: 100 } };
/** 10/s on ten nodes: whole pieces. */
const SLOW = {
  ...TOKENS,
  quota: { ...GROUP.quota, publish: [10, Infinity] as const },
  burst: { ...GROUP.burst, messages: 3 },
};

/** The node and `others`, with the bucket full. */
function idle(group: typeof TOKENS, others: readonly string[] = ['a', 'b']): OneNode {
  const node = new OneNode({ groups: [group] });
  node.step({ kind: 'epoch-began', epoch: 'old' });
  node.read(...others.map((other) => node.by(other, 'node')));
  node.step({ kind: 'caught-up' });
  node.echo();
  node.tryAcquire(0, 0);
  rest(node, 3000, others);
  return node;
}

function rest(node: OneNode, durationMs: number, others: readonly string[] = ['a', 'b'], each = () => {}): void {
  for (let ms = 0; ms < durationMs; ms += 500) {
    node.read(...others.map((other) => node.by(other, 'node')));
    node.run(500, { each });
  }
}

function slotOf(node: OneNode): SlotTokens {
  return node.coordinator.lanes.get(0)?.tokens?.slots[0] as SlotTokens;
}

/** Tokens of the bucket now, as all know them who have read as far. */
function tokensOf(node: OneNode): number {
  const { lanes, log } = node.coordinator;
  return slotOf(node).tokensAfter(log.membershipLogMs - (lanes.get(0)?.tokens?.settledLogMs ?? 0));
}

function row(demand: number, charge: number): ReportRow {
  const rates = { ...NOTHING_REPORTED, usageMessages: demand, demandMessages: demand };
  const groupId = groupIdOf(SETTINGS.cluster, GROUP.name);
  return { ...rates, groupId, direction: 0, charge: [charge, 0] };
}

function charge(node: OneNode, amount: number, more: { life?: number; bundle?: number; demand?: number } = {}): number {
  node.read(node.report('a', [row(more.demand ?? 0, amount)], more));
  return slotOf(node).settledTokens;
}

describe('what others charge', () => {
  test('one that falls back to what it was gives back a depth, whatever it had taken', () => {
    const node = idle(TOKENS);
    expect(charge(node, 1e9)).toBe(-1000);
    expect(charge(node, 0)).toBe(-900);
    expect(charge(node, -1e9)).toBe(-900);
  });

  test('one that falls further is counted, and told once; what is not much less than a depth only counted', () => {
    const node = idle(TOKENS);
    charge(node, 0);
    charge(node, -50);
    expect(node.coordinator.log.ignored).toMatchObject({ 'charge-too-low': 0, 'charge-in-doubt': 1 });
    expect(node.told('charge-refused')).toEqual([]);
    charge(node, -1e6);
    charge(node, -2e6);
    expect(node.coordinator.log.ignored['charge-too-low']).toBe(2);
    expect(node.told('charge-refused')).toEqual([{ kind: 'charge-refused', nodeId: 'a' }]);
    expect([...node.coordinator.log.refusals.charges]).toEqual([['a', 2]]);
  });
});

describe('a change of epoch', () => {
  test('begins with what buckets hold, and with charges of nothing', () => {
    const node = idle(SLOW);
    let got = 0;
    rest(node, 5000, ['a', 'b'], () => {
      if (node.tryAcquire(0, 1)) got++;
    });
    expect(got).toBeGreaterThan(30);
    const before = tokensOf(node);
    node.step({ kind: 'epoch-began', epoch: 'new' });
    const charges = node.sent
      .flatMap(({ record }) => (record?.kind === 'report' ? record.rows : []))
      .map(({ charge }) => charge?.[0]);
    expect(charges.length).toBeGreaterThan(0);
    expect(Math.max(...charges.map((each) => Math.abs(each ?? 0)))).toBeLessThanOrEqual(3);
    expect(tokensOf(node)).toBeGreaterThanOrEqual(before);
    expect(tokensOf(node)).toBeLessThanOrEqual(before + 5);
    node.step({ kind: 'caught-up' });
    node.echo();
    expect(tokensOf(node)).toBeGreaterThanOrEqual(-3);
  });
});

describe('an entry that ends and returns', () => {
  /** Works until there is an entry with a charge, and then not at all until the entry ends. */
  function worked(): OneNode {
    const node = idle(SLOW);
    rest(node, 5000, ['a', 'b'], () => void node.tryAcquire(0, 1));
    return node;
  }

  function rowsOf(node: OneNode): number {
    let count = 0;
    const { usageMap } = node.coordinator;
    const mapLane = usageMap.mapLaneOf(groupIdOf(SETTINGS.cluster, GROUP.name), 0);
    for (let at = usageMap.firstRow(mapLane); at !== -1; at = usageMap.rows.nextOf(at)) count++;
    return count;
  }

  test('also if the record that ended it was lost', () => {
    const node = worked();
    // Until the record that names it no more.
    const untilMs = node.nowMs + 9000;
    while (node.coordinator.lanes.get(0)?.entry.isOpen === true && node.nowMs < untilMs) {
      node.read(node.by('a', 'node'), node.by('b', 'node'));
      node.run(20, { echo: false });
      if (node.coordinator.lanes.get(0)?.entry.isOpen === true) node.echo();
    }
    for (const { partition, key, record } of node.lose()) {
      if (record?.kind === 'report') node.step({ kind: 'append-failed', partition, keys: [key] });
    }
    expect(rowsOf(node)).toBe(1);
    expect(node.tryAcquire(0, 1)).toBe(true);
    // The new entry begins when the log has told that the old one has ended.
    node.run(200);
    expect(tokensOf(node)).toBeLessThanOrEqual(2.7);
  });
});

describe('a cost quota', () => {
  const UNLIMITED = [Infinity, Infinity] as const;
  /** 1,000 units per second, 1 per message until costs are known, a bucket of 100. */
  const COSTLY = {
    ...TOKENS,
    quota: { publish: UNLIMITED, dispatch: UNLIMITED },
    cost: { ...GROUP.cost, publish: { total: 1000, reserved: 0 } },
  };

  test('what work turns out to cost is charged: a message of 20 takes 20, and one of nothing gives back', () => {
    const node = idle(COSTLY);
    const charged = () => slotOf(node).account.charge;
    // In debt, so that no slack pays.
    node.read(node.report('a', [row(0, 400)]));
    expect(node.tryAcquire(0, 1)).toBe(false);
    const before = charged();
    node.coordinator.costs.report(0, wideId(0), 20, 1, node.nowMs);
    node.run(20, { echo: false });
    expect(charged() - before).toBeCloseTo(19, 6);
    node.coordinator.costs.report(0, wideId(0), 0, 1, node.nowMs);
    node.run(20, { echo: false });
    expect(charged() - before).toBeCloseTo(18, 6);
  });
});

describe('a node that goes on with its charges in another log', () => {
  test('is charged from its first word in this one, though a report under way came before it', () => {
    const node = idle(TOKENS);
    node.step({ kind: 'epoch-began', epoch: 'new' });
    node.step({ kind: 'caught-up' });
    const written = node.report('a', [row(0, 700)]);
    node.read({ ...written, record: { ...written.record, readUntilOffset: 1000 } as ReportRecord });
    node.echo();
    rest(node, 3000);
    expect(charge(node, 20)).toBe(80);
    expect(charge(node, 30)).toBe(70);
    expect(node.coordinator.log.ignored).toMatchObject({ 'charge-too-low': 0, 'charge-in-doubt': 0 });
  });
});
