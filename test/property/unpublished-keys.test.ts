import { expect, test } from 'vitest';
import { clusterDepth } from '../../src/core/account/cluster-depth.js';
import { UnpublishedKeys } from '../../src/core/account/keys/unpublished-keys.js';
import { randomOf } from './random-of.js';

const NONE = Infinity;

/**
 * The bound of what k silent nodes may spend of a key (core/account/keys/unpublished-keys.ts), in every span of time
 * between two grants, with all of them as greedy as they can be at random times, and nodes that come and go.
 */
test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'what silent nodes spend of a key is bounded, seed %i',
  (seed) => {
    const random = randomOf(seed + 1);
    const nodes = 1 + Math.floor(random() * 30);
    const silent = 1 + Math.floor(random() * nodes);
    const perSecond = [0.1, 1, 10, 100, 1000][Math.floor(random() * 5)];
    const depth = clusterDepth(perSecond, 1);
    const burst = { messages: null, bytes: null, policy: 'optimistic' as const };
    const quota = { publish: [perSecond, NONE], dispatch: [NONE, NONE] } as const;
    const each = Array.from({ length: silent }, () => {
      const unpublished = new UnpublishedKeys([{ settings: { quota, burst }, mayStayUnpublished: true }], 10, 1);
      unpublished.setNodes(nodes, 0);
      return { unpublished, row: unpublished.add('k', 0, 0, 0) };
    });
    const grants: { atMs: number; units: number }[] = [];
    let nowMs = 0;
    for (let step = 0; step < 400; step++) {
      nowMs += random() < 0.5 ? 0 : random() * (4000 / perSecond);
      const { unpublished, row } = each[Math.floor(random() * silent)];
      const units = 1 + Math.floor(random() * Math.max(1, depth / 4));
      if (unpublished.take(row, 0, units, 0, nowMs)) grants.push({ atMs: nowMs, units });
    }
    const atOnce = (silent / nodes) * depth;
    let mostBeyond = -Infinity;
    for (let from = 0; from < grants.length; from++) {
      let sum = 0;
      for (let to = from; to < grants.length; to++) {
        sum += grants[to].units;
        const seconds = (grants[to].atMs - grants[from].atMs) / 1000;
        mostBeyond = Math.max(mostBeyond, sum - atOnce - (silent / nodes) * perSecond * seconds);
      }
    }
    expect(mostBeyond).toBeLessThanOrEqual(1e-6);
  },
);

/** Rolling deploys, crashes and clusters that grow: nodes that begin have nothing to spend. */
test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'while nodes come and go all of them together spend one depth and the quota, seed %i',
  (seed) => {
    const random = randomOf(seed + 1);
    const perSecond = [0.1, 1, 10, 100, 1000][Math.floor(random() * 5)];
    const depth = clusterDepth(perSecond, 1);
    const burst = { messages: null, bytes: null, policy: 'optimistic' as const };
    const quota = { publish: [perSecond, NONE], dispatch: [NONE, NONE] } as const;
    const started = (nodes: number, nowMs: number) => {
      const unpublished = new UnpublishedKeys([{ settings: { quota, burst }, mayStayUnpublished: true }], 10, 1);
      unpublished.setNodes(nodes, nowMs);
      if (nowMs > 0) unpublished.begin(nowMs);
      return { unpublished, row: -1 };
    };
    const first = 1 + Math.floor(random() * 10);
    const alive = Array.from({ length: first }, () => started(first, 0));
    const grants: { atMs: number; units: number }[] = [];
    let [nowMs, refused] = [0, 0];
    for (let step = 0; step < 600; step++) {
      nowMs += random() < 0.5 ? 0 : random() * (8000 / perSecond);
      if (random() < 0.05) {
        const count = 1 + Math.floor(random() * 12);
        while (alive.length > count) alive.pop();
        for (const { unpublished } of alive) unpublished.setNodes(count, nowMs);
        while (alive.length < count) alive.push(started(count, nowMs));
      }
      const node = alive[Math.floor(random() * alive.length)];
      const { unpublished } = node;
      // The first use makes the row; a key that is full is forgotten now and then, and made anew.
      if (random() < 0.2 && unpublished.sweep(nowMs, 0, unpublished.size + 8, () => false).forgotten.length > 0)
        node.row = -1;
      if (node.row === -1) node.row = unpublished.add('k', 0, 0, nowMs);
      const units = 1 + Math.floor(random() * Math.max(1, depth / 4));
      if (unpublished.take(node.row, 0, units, 0, nowMs)) grants.push({ atMs: nowMs, units });
      else refused++;
    }
    let mostDepths = 0;
    for (let from = 0; from < grants.length; from++) {
      let sum = 0;
      for (let to = from; to < grants.length; to++) {
        sum += grants[to].units;
        const seconds = (grants[to].atMs - grants[from].atMs) / 1000;
        mostDepths = Math.max(mostDepths, (sum - perSecond * seconds) / depth);
      }
    }
    expect(mostDepths).toBeLessThanOrEqual(1 + 1e-9);
    // Else the law would hold of nothing.
    expect(grants.length).toBeGreaterThan(30);
    expect(refused).toBeGreaterThan(30);
  },
);

test('what nodes that leave have spent is not given once more to those that stay', () => {
  const quota = { publish: [10, NONE], dispatch: [NONE, NONE] } as const;
  const burst = { messages: 100, bytes: null, policy: 'optimistic' as const };
  const nodes = Array.from({ length: 10 }, () => {
    const unpublished = new UnpublishedKeys([{ settings: { quota, burst }, mayStayUnpublished: true }], 10, 1);
    unpublished.setNodes(10, 0);
    return unpublished;
  });
  const takeAll = (unpublished: UnpublishedKeys, name: string, nowMs: number) => {
    const known = unpublished.find(name);
    const row = known === -1 ? unpublished.add(name, 0, 0, nowMs) : known;
    let taken = 0;
    while (unpublished.take(row, 0, 1, 0, nowMs)) taken++;
    return taken;
  };
  for (const unpublished of nodes.slice(1)) expect(takeAll(unpublished, 'k', 1000)).toBe(10);
  const [last] = nodes as [UnpublishedKeys];
  expect(takeAll(last, 'used', 1000)).toBe(10);
  last.setNodes(1, 1000);
  // One that this node has not seen yet, and one of which it has spent its part.
  expect([takeAll(last, 'k', 1000), takeAll(last, 'used', 1000)]).toEqual([10, 0]);
  expect([takeAll(last, 'k', 6000), takeAll(last, 'used', 6000)]).toEqual([50, 50]);
  expect(takeAll(last, 'other', 10_000)).toBe(100);
  last.setNodes(10, 20_000);
  expect(takeAll(last, 'k', 20_000)).toBe(10);
});

test('the bound is reached: three nodes take one depth at one instant, but for what is no whole message', () => {
  const quota = { publish: [10, NONE], dispatch: [NONE, NONE] } as const;
  const burst = { messages: null, bytes: null, policy: 'optimistic' as const };
  let taken = 0;
  for (let node = 0; node < 3; node++) {
    const unpublished = new UnpublishedKeys([{ settings: { quota, burst }, mayStayUnpublished: true }], 10, 1);
    unpublished.setNodes(3, 0);
    const row = unpublished.add('k', 0, 0, 0);
    while (unpublished.take(row, 0, 1, 0, 0)) taken++;
  }
  expect(taken).toBe(9);
});

test('of a key in the log nothing flows into a part that is spent, which is to be published', () => {
  const quota = { publish: [1, NONE], dispatch: [NONE, NONE] } as const;
  const burst = { messages: 60, bytes: null, policy: 'optimistic' as const };
  const unpublished = new UnpublishedKeys([{ settings: { quota, burst }, mayStayUnpublished: true }], 10, 1);
  unpublished.setNodes(3, 0);
  const rows = [7, 8].map((bits) => unpublished.add(`k${bits}`, 0, bits, 0));
  for (const row of rows) expect(unpublished.take(row, 0, 20, 0, 0)).toBe(true);
  const left = (nowMs: number) => rows.map((row) => Math.round(unpublished.left(row, 0, 0, nowMs)));
  const sweep = (nowMs: number, isInLog: boolean) => {
    return unpublished.sweep(nowMs, 10_000, 10, (bits) => isInLog && bits === 7).spent;
  };
  for (let nowMs = 0; nowMs <= 30_000; nowMs += 20) expect([...new Set(sweep(nowMs, true))]).toEqual(['k7']);
  expect(left(30_000)).toEqual([0, 10]);
  expect(rows.map((row) => Math.round(unpublished.spent(row, 0, 30_000)))).toEqual([20, 10]);
  for (let nowMs = 30_000; nowMs <= 60_000; nowMs += 20) expect(sweep(nowMs, false)).toEqual([]);
  expect(left(60_000)).toEqual([10, 20]);
});
