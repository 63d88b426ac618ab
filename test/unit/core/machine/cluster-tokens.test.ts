import { describe, expect, test } from 'vitest';
import type { SlotTokens } from '../../../../src/core/account/slot-tokens.js';
import { groupIdOf } from '../../../../src/core/base/ids.js';
import type { ReportRecord, ReportRow } from '../../../../src/core/base/protocol/record.js';
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
  const zeros = { topics: 0, usageBytes: 0, demandBytes: 0, shareMessages: 0, shareBytes: 0 };
  const groupId = groupIdOf(SETTINGS.cluster, GROUP.name);
  return { groupId, direction: 0, usageMessages: demand, demandMessages: demand, ...zeros, charge: [charge, 0] };
}

function charge(node: OneNode, amount: number, more: { life?: number; bundle?: number; demand?: number } = {}): number {
  node.read(node.report('a', [row(more.demand ?? 0, amount)], more));
  return slotOf(node).settledTokens;
}

describe('what others charge', () => {
  test('is taken from the bucket as a difference, and the first of a life as it is', () => {
    const node = idle(TOKENS);
    expect(tokensOf(node)).toBe(100);
    expect(charge(node, 30)).toBe(70);
    expect(charge(node, 50)).toBe(50);
    expect(charge(node, 20, { life: 2 })).toBe(30);
  });

  test('is no other one because the lane stands in another bundle', () => {
    const node = idle(TOKENS);
    charge(node, 30);
    expect(charge(node, 45, { bundle: 1 })).toBe(55);
  });

  test('begins at nothing again once the lane has no entry', () => {
    const node = idle(TOKENS);
    charge(node, 30);
    node.read(node.report('a', []));
    expect(charge(node, 5)).toBe(65);
  });

  test.each([
    { amount: Number.MAX_SAFE_INTEGER, left: -1000, why: 'absurd: a debt of one second, which is paid back in it' },
    { amount: 5000, left: -1000, why: 'five seconds' },
    { amount: -Number.MAX_SAFE_INTEGER, left: 100, why: 'absurdly negative: a full bucket and no more' },
  ])('$amount leaves $left; $why', ({ amount, left }) => {
    expect(charge(idle(TOKENS), amount)).toBe(left);
  });

  test('a debt of a deep bucket is what may be taken of a full one, and one depth', () => {
    expect(charge(idle({ ...TOKENS, burst: { ...TOKENS.burst, messages: 1000 } }), 1e9)).toBe(-4000);
  });

  test('one that falls back to what it was gives back a depth, whatever it had taken', () => {
    const node = idle(TOKENS);
    expect(charge(node, 1e9)).toBe(-1000);
    expect(charge(node, 0)).toBe(-900);
    expect(charge(node, -1e9)).toBe(-900);
  });

  test('what it took comes back whole, up to a depth', () => {
    const node = idle(TOKENS);
    expect(charge(node, 60)).toBe(40);
    expect(charge(node, 10)).toBe(90);
    expect(charge(node, 0)).toBe(100);
    expect(node.coordinator.log.ignored).toMatchObject({ 'charge-too-low': 0, 'charge-in-doubt': 0 });
  });

  test('what it was expected to take may come back, and no more', () => {
    const node = idle(TOKENS);
    charge(node, 90, { demand: 100 });
    charge(node, 90, { demand: 100 });
    expect(charge(node, 0, { demand: 100 })).toBe(100);
    const before = charge(node, 95, { demand: 100 });
    rest(node, 500);
    charge(node, 95, { demand: 100 });
    expect(charge(node, -1e6, { demand: 100 })).toBe(100);
    expect(before).toBe(5);
    expect(node.coordinator.log.ignored['charge-too-low']).toBe(1);
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

  test('an entry that begins below nothing gives nothing back: that was before its row was forgotten', () => {
    const node = idle(TOKENS);
    node.read(node.report('b', [row(0, 80)]));
    expect(charge(node, -50)).toBe(20);
    expect(charge(node, -50, { life: 2 })).toBe(20);
    expect(node.coordinator.log.ignored).toMatchObject({ 'charge-too-low': 0, 'charge-in-doubt': 0 });
    expect(charge(node, -60, { life: 2 })).toBe(20);
  });

  test('an absurd one costs a second of the target, and what was in the bucket', () => {
    const [fooled, twin] = [idle(TOKENS), idle(TOKENS)];
    charge(fooled, 1e15);
    expect(fooled.tryAcquire(0, 1)).toBe(false);
    const [less, more] = [fooled, twin].map((node) => {
      let got = 0;
      rest(node, 5000, ['a', 'b'], () => {
        for (let at = 0; at < 50; at++) if (node.tryAcquire(0, 1)) got++;
      });
      return got;
    }) as [number, number];
    expect(more - less).toBeGreaterThan(500);
    expect(more - less).toBeLessThanOrEqual(1000 + 100);
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

describe('a process that takes a newer life', () => {
  test('does not charge again what its older life has charged', () => {
    const node = idle(SLOW);
    rest(node, 5000, ['a', 'b'], () => void node.tryAcquire(0, 1));
    const before = tokensOf(node);
    node.read(node.by('own', 'farewell', { life: 5 }));
    node.echo();
    expect(tokensOf(node)).toBeGreaterThanOrEqual(before - 3);
  });
});

test('a group that is removed and comes back does not charge again what it has charged', () => {
  const node = idle(SLOW);
  rest(node, 5000, ['a', 'b'], () => void node.tryAcquire(0, 1));
  node.step({ kind: 'group-removed', group: 0 });
  rest(node, 2000);
  expect(node.tryAcquire(0, 1)).toBe(true);
  node.run(100);
  expect(tokensOf(node)).toBeGreaterThan(1);
});

test('a group that has gates for a moment, and then its bucket again, charges what it takes', () => {
  const node = idle(SLOW);
  const settings = node.settings.groups[0];
  rest(node, 5000, ['a', 'b'], () => void node.tryAcquire(0, 1));
  node.step({ kind: 'group-changed', group: 0, settings: { ...settings, smoothingMs: 500 } });
  node.step({ kind: 'group-changed', group: 0, settings });
  rest(node, 1000, ['a', 'b']);
  expect(tokensOf(node)).toBe(3);
  expect(node.tryAcquire(0, 1)).toBe(true);
  node.run(60);
  expect(tokensOf(node)).toBeLessThanOrEqual(2.7);
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

  test('takes of a full bucket what it takes', () => {
    const node = worked();
    rest(node, 9000);
    expect(rowsOf(node)).toBe(0);
    expect(tokensOf(node)).toBe(3);
    expect(node.tryAcquire(0, 1)).toBe(true);
    node.run(60);
    expect(rowsOf(node)).toBe(1);
    expect(tokensOf(node)).toBeLessThanOrEqual(2.7);
  });

  test('also if the record that ended it was lost', () => {
    const node = worked();
    // Until the record that names it no more.
    const untilMs = node.nowMs + 9000;
    while (node.coordinator.lanes.get(0)?.hasEntry === true && node.nowMs < untilMs) {
      node.read(node.by('a', 'node'), node.by('b', 'node'));
      node.run(20, { echo: false });
      if (node.coordinator.lanes.get(0)?.hasEntry === true) node.echo();
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

  function costRow(chargedMessages: number, transactions: number, cost: number): ReportRow {
    return { ...row(0, chargedMessages), costs: { transactions, backends: [{ backend: wideId(0), cost }] } };
  }

  test('fills the bucket with the messages that it buys; when the average moves, a debt stays the same cost', () => {
    const node = idle(COSTLY);
    expect(slotOf(node).bucket).toMatchObject({ perSecond: 1000, depth: 100 });
    node.read(node.report('a', [row(0, 400)]));
    expect(slotOf(node).settledTokens).toBe(-300);
    node.read(node.report('a', [costRow(400, 10, 50)]));
    expect(slotOf(node).bucket?.perSecond).toBe(200);
    expect(slotOf(node).settledTokens).toBe(-60);
    node.read(node.report('a', [costRow(400, 10, 20)]));
    expect(slotOf(node).bucket?.perSecond).toBe(500);
    expect(slotOf(node).settledTokens).toBe(-150);
  });

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

  test('is charged nothing where messages are what binds', () => {
    const node = idle({ ...COSTLY, quota: { publish: [500, Infinity], dispatch: UNLIMITED } });
    expect(node.tryAcquire(0, 1)).toBe(true);
    node.run(40, { echo: false });
    const before = slotOf(node).account.charge;
    node.coordinator.costs.report(0, wideId(0), 20, 1, node.nowMs);
    node.run(20, { echo: false });
    expect(slotOf(node).account.charge).toBeLessThanOrEqual(before);
  });

  test('messages that cost less than the least that the target takes them for give nothing back', () => {
    const node = idle(COSTLY);
    node.read(node.report('a', [costRow(0, 100, 10)]));
    expect(slotOf(node).bucket?.perSecond).toBe(1000);
    expect(node.tryAcquire(0, 1)).toBe(true);
    node.run(40, { echo: false });
    const before = slotOf(node).account.charge;
    node.coordinator.costs.report(0, wideId(0), 0.1, 1, node.nowMs);
    node.run(20, { echo: false });
    expect(slotOf(node).account.charge).toBe(before);
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
