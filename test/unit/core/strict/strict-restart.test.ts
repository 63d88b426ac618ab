import { describe, expect, test, vi } from 'vitest';

import { CHECKPOINT_RECORDS, EXPIRY_MS } from '../../../../src/core/strict/constants.js';
import { StrictFold } from '../../../../src/core/strict/strict-fold.js';
import { StrictNewcomer } from '../../../../src/core/strict/strict-newcomer.js';
import type { StrictRecord } from '../../../../src/core/strict/strict-record.js';
import { emptyState } from '../../../../src/core/strict/strict-state.js';
import { Cluster } from './strict-cluster.js';

const PER_MS = 3_600_000;
const SECOND = PER_MS / 1000;
/** Units that an hourly token brings until the last request has waited. */
const FLOWS_UNTIL_USED = 400;
/** 100/s until 100 tokens are there, then one an hour: what is there stays as it is. */
function filled() {
  const cluster = new Cluster({ amount: 100 * SECOND, perMs: PER_MS, depth: 100 });
  const nodes = [cluster.start('a'), cluster.start('b')];
  cluster.run(8000);
  nodes[0].node.change({ revision: 2, amount: 1, depth: 100 }, nodes[0].clockMs);
  cluster.run(2000);
  return { cluster, nodes };
}

describe('100 tokens, of which one node uses 30; then all nodes end', () => {
  test.each([
    { how: 'leave' as const, says: 'all who leave give back what they hold', within: 1000, left: [70, 70] },
    { how: 'kill' as const, says: 'what killed nodes held is lost', within: EXPIRY_MS + 1000, left: [1, 69] },
  ])('$says, and who starts finds the rest', ({ how, within, left: [least, most] }) => {
    const { cluster, nodes } = filled();
    cluster.use(nodes[0], 30);
    expect(cluster.admitted).toBe(30);
    for (const node of nodes) node[how]();
    cluster.run(60_000);
    const next = cluster.start('c');
    cluster.run(within);
    const pool = Math.floor(((next.node.fold?.pool ?? 0) + FLOWS_UNTIL_USED) / PER_MS);
    expect(pool).toBeGreaterThanOrEqual(least);
    expect(pool).toBeLessThanOrEqual(most);
    cluster.use(next, 100);
    expect(cluster.admitted).toBe(30 + pool);
    expect(next.node.fold?.revision).toBe(2);
  });
});

test('what a killed node held fills again while nobody asks, and who starts then learns at once', () => {
  const cluster = new Cluster({ amount: 10 * SECOND, perMs: PER_MS, depth: 100 });
  const [one, other] = [cluster.start('a'), cluster.start('b')];
  cluster.run(30_000);
  cluster.use(one, 1);
  const held = one.node.wallet?.tokensAt(one.clockMs) ?? 0;
  expect(held).toBeGreaterThan(20);
  one.kill();
  cluster.run(3 * EXPIRY_MS);
  expect(other.node.fold?.isAtRest).toBe(true);
  expect(cluster.log.records).toBeLessThan(20);
  other.leave();
  cluster.run(1000);
  const next = cluster.start('c');
  cluster.run(100);
  expect(next.node.fold).not.toBeNull();
});

test('a log that is replaced has nothing: all begin with an empty bucket an expiry later', () => {
  const { cluster, nodes } = filled();
  cluster.use(nodes[0], 30);
  cluster.log.replace();
  cluster.run(EXPIRY_MS - 1000);
  cluster.use(nodes[0], 5);
  expect(cluster.admitted).toBe(30);
  cluster.run(3000);
  cluster.use(nodes[0], 5);
  expect(cluster.admitted).toBe(35);
});

test('the log keeps few records, however long nodes write', () => {
  const cluster = new Cluster({ amount: 100 * SECOND, perMs: PER_MS, depth: 10 });
  const nodes = [cluster.start('a'), cluster.start('b')];
  cluster.run(8000);
  for (let second = 0; second < 20; second++) for (const node of nodes) cluster.use(node, 20);
  expect(cluster.log.records).toBeGreaterThan(3 * CHECKPOINT_RECORDS);
  expect(cluster.log.kept).toBeLessThan(2 * CHECKPOINT_RECORDS);
});

test('a quota that changes while a bucket is founded is the one it begins with', () => {
  const quota = { amount: SECOND, perMs: PER_MS, depth: 3 };
  const first = { quota, revision: 1 };
  const newcomer = new StrictNewcomer({ node: 'a', life: 1 });
  let offset = 0;
  const append = (record: StrictRecord, nowMs: number) =>
    newcomer.read({ offset: offset++, appendMs: nowMs, record }, nowMs);
  const due = (nowMs: number) => newcomer.due(nowMs, first) as StrictRecord;
  const former = { kind: 'found', node: 'z', life: 1, since: -1, state: emptyState(quota, 1) } as const;
  append(former, 0);
  append(due(0), 1);
  const founding = due(10_000);
  append({ kind: 'quota', revision: 2, amount: 9, depth: 9 }, 10_001);
  expect(append(founding, 10_002)).toBeNull();
  const fold = append(due(11_000), 11_001);
  expect(fold?.revision).toBe(2);
  expect(fold?.quota.depth).toBe(9);
});

test('a newcomer folds each record of a long log once, however often it is asked what is due', () => {
  const quota = { amount: SECOND, perMs: PER_MS, depth: 3 };
  const newcomer = new StrictNewcomer({ node: 'z', life: 1 });
  const apply = vi.spyOn(StrictFold.prototype, 'apply');
  let nowMs = 0;
  const append = (record: StrictRecord) => {
    newcomer.read({ offset: nowMs, appendMs: nowMs, record }, nowMs);
    newcomer.due(nowMs++, { quota, revision: 1 });
  };
  append({ kind: 'found', node: 'a', life: 1, since: -1, state: emptyState(quota, 1) });
  append({ kind: 'join', node: 'z', life: 1 });
  const claim = { kind: 'claim', node: 'a', life: 1, want: 0, lagMs: 0, taken: 0, hold: 1 } as const;
  for (let seq = 1; seq <= 300; seq++) append({ ...claim, seq });
  expect(apply).toHaveBeenCalledTimes(302);
  apply.mockRestore();
});

test('a lowered quota is in force when a node without requests has lowered what it holds', () => {
  const cluster = new Cluster({ amount: SECOND, perMs: PER_MS, depth: 20 });
  const [one, other] = [cluster.start('a'), cluster.start('b')];
  cluster.run(30_000);
  cluster.use(one, 2);
  expect(one.node.wallet?.tokensAt(one.clockMs)).toBeGreaterThan(4);
  other.node.change({ revision: 2, amount: SECOND, depth: 4 }, other.clockMs);
  expect(other.node.changed(2)).toEqual({ state: 'written', waitsFor: [] });
  cluster.run(24);
  expect(other.node.changed(2)).toEqual({ state: 'read', waitsFor: ['a'] });
  cluster.run(2000);
  expect(other.node.changed(2)).toEqual({ state: 'in-force', waitsFor: [] });
});

test('slots of a killed node are back once, when it has expired', () => {
  const cluster = new Cluster({ amount: 0, perMs: 1, depth: 10, slots: true });
  const [one, other] = [cluster.start('a'), cluster.start('b')];
  cluster.run(8000);
  cluster.use(one, 10);
  const { wallet } = one.node;
  expect(wallet?.inUse).toBe(10);
  one.kill();
  cluster.use(other, 1);
  cluster.run(EXPIRY_MS - 1500);
  cluster.use(other, 1);
  expect(cluster.admitted).toBe(10);
  cluster.run(1500);
  cluster.use(other, 20);
  expect(cluster.admitted).toBe(20);
  expect(other.node.wallet?.inUse).toBe(10);
});

test('a node whose requests hold slots keeps them, however long it is not asked', () => {
  const cluster = new Cluster({ amount: 0, perMs: 1, depth: 2, slots: true });
  const [one, other] = [cluster.start('a'), cluster.start('b')];
  cluster.run(8000);
  cluster.use(one, 2);
  cluster.run(20_000);
  cluster.use(other, 1);
  expect(cluster.admitted).toBe(2);
  one.node.wallet?.release(1);
  cluster.run(500);
  cluster.use(other, 2);
  expect(cluster.admitted).toBe(3);
});
