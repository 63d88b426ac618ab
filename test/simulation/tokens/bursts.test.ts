import { describe, expect, test } from 'vitest';
import { someOf } from '../../property/seed.js';
import { atOnce, between, inOrder, type Scene, type TokenArrival } from './arrivals.js';
import { mostIn, nameOf, perNode, play } from './play.js';

const TEN = { burst: { messages: 10, bytes: null, policy: 'optimistic' } } as const;

/** 10/s on three nodes. */
function scene(arrivals: readonly TokenArrival[], lengthMs = 60_000): Scene {
  return { nodes: 3, perSecond: 10, lengthMs, arrivals: inOrder(arrivals) };
}

describe('an idle quota of 10/s on three nodes, burst 10', () => {
  test.each([0, 1, 2])('ten requests at node %d at once: ten are admitted', (node) => {
    expect(play(scene(atOnce(0, node, 10)), { group: TEN }).admitted).toHaveLength(10);
  });

  test('eleven at one node: ten are admitted', () => {
    expect(play(scene(atOnce(0, 1, 11)), { group: TEN }).admitted).toHaveLength(10);
  });

  test('thirty at once over the three: at most thirty, then nothing until that is paid back', () => {
    const thirty = [0, 1, 2].flatMap((node) => atOnce(0, node, 10));
    const later = Array.from({ length: 600 }, (_, index) => atOnce(100 * index + 50, index % 3, 1)).flat();
    const { admitted } = play(scene([...thirty, ...later]), { group: TEN });
    const first = between(admitted, 0, 50).length;
    expect(first).toBeGreaterThanOrEqual(10);
    expect(first).toBeLessThanOrEqual(30);
    // 10/s pay 20 tokens of debt back in two seconds.
    expect(between(admitted, 50, 1900)).toHaveLength(0);
    expect(mostIn(admitted, 60_000)).toBeLessThanOrEqual(600 + 30);
  });

  test('once the debt is paid any minute holds at most 600 and one burst', () => {
    const steady = Array.from({ length: 2400 }, (_, index) => atOnce(50 * index, index % 3, 1)).flat();
    const { admitted } = play(scene([...atOnce(0, 0, 10), ...steady], 120_000), { group: TEN });
    expect(mostIn(between(admitted, 5001, 120_000), 60_000)).toBeLessThanOrEqual(600 + 10);
    expect(admitted.length).toBeGreaterThanOrEqual(1190);
  });

  test('divided: each node has a third of it at once', () => {
    const group = { burst: { ...TEN.burst, policy: 'divided' } } as const;
    const thirty = [0, 1, 2].flatMap((node) => atOnce(0, node, 10));
    expect(play(scene(thirty), { group }).admitted.length).toBeLessThanOrEqual(12);
  });
});

test.each(
  someOf([
    { nodes: 3, perSecond: 10, depth: 600 },
    { nodes: 3, perSecond: 6, depth: 60 },
    { nodes: 10, perSecond: 20, depth: 200 },
  ]),
)('$perSecond/s on $nodes nodes with a burst of $depth: once it is spent, the quota is used', (bucket) => {
  const { nodes, perSecond, depth } = bucket;
  const group = { burst: { messages: depth, bytes: null, policy: 'optimistic', start: 'empty' } } as const;
  const arrivals = Array.from({ length: 240 * perSecond }, (_, turn) =>
    atOnce((500 * turn) / perSecond, turn % nodes, 1),
  );
  const { admitted } = play({ nodes, perSecond, lengthMs: 120_000, arrivals: arrivals.flat() }, { group });
  for (let atMs = 5000; atMs < 120_000; atMs += 5000) {
    const inFive = between(admitted, atMs, atMs + 5000).length;
    expect(inFive, `from ${atMs} ms on`).toBeGreaterThanOrEqual(0.97 * 5 * perSecond - 1);
  }
  expect(mostIn(admitted, 60_000)).toBeLessThanOrEqual(60 * perSecond + depth);
});

test('5/s, five requests every 8 s at one node after another: all are admitted', () => {
  const arrivals = Array.from({ length: 8 }, (_, turn) => atOnce(8000 * turn, turn % 3, 5)).flat();
  const played = play({ nodes: 3, perSecond: 5, lengthMs: 64_000, arrivals });
  expect(played.admitted).toHaveLength(40);
});

test('each node reports a group far from its quota once in a minute', () => {
  const arrivals = Array.from({ length: 3000 }, (_, index) => atOnce(20 * index, index % 5, 1)).flat();
  const played = play({ nodes: 5, perSecond: 1000, lengthMs: 60_000, arrivals });
  expect(played.admitted).toHaveLength(3000);
  expect(played.reportsPerSecond).toBeCloseTo(1 / 60, 5);
});

test('a node that holds reservations has taken them, and what it puts back is worth one bucket at most', () => {
  const { world } = play(scene([]), { group: TEN });
  const node = world.node(nameOf(0));
  const { limiter } = node;
  expect(world.ask(nameOf(0), 0, 1, 0, false)).toBe(true);
  let held = 0;
  for (let turn = 0; turn < 600; turn++) {
    if (limiter.reserve(0, 1, 0, node.nowMs) === 0) held++;
    world.runFor(100);
  }
  expect(held).toBeLessThanOrEqual(600 + 10);
  limiter.endReserved(0, held, 0);
  world.runFor(200);
  const burst = Array.from({ length: 200 }, () => world.ask(nameOf(0), 0, 1, 0, false)).filter(Boolean).length;
  expect(burst).toBeLessThanOrEqual(10);
});

test('the busy get what the others leave, and the quiet are not refused', () => {
  const busy = Array.from({ length: 40_000 }, (_, index) => atOnce(index / 2, 0, 1)).flat();
  const quiet = Array.from({ length: 9 }, (_, node) =>
    Array.from({ length: 1600 }, (_, index) => atOnce(12.5 * index + node, node + 1, 1)).flat(),
  ).flat();
  const arrivals = inOrder([...busy, ...quiet]);
  const counts = perNode(play({ nodes: 10, perSecond: 1000, lengthMs: 20_000, arrivals }).admitted, 10);
  for (const count of counts.slice(1)) expect(count).toBeGreaterThanOrEqual(0.99 * 1600);
  expect(counts[0]).toBeGreaterThan(0.97 * 280 * 20);
});

test('a node that told of more than it goes on wanting says so within 300 ms, though nobody else writes', () => {
  // 300/s for 200 ms is what n1 tells of itself; then it wants 50/s, and n0 would take the rest.
  const every = (gapMs: number, node: number, fromMs: number, toMs: number) => {
    return Array.from({ length: Math.round((toMs - fromMs) / gapMs) }, (_, index) =>
      atOnce(fromMs + gapMs * index, node, 1),
    );
  };
  const parts = [every(1, 0, 0, 4000), every(1000 / 300, 1, 0, 200), every(20, 1, 200, 4000)];
  const arrivals = inOrder(parts.flat(2));
  // Nobody but n0 and n1 writes to the partition of this group, and log time stands still between their records.
  const { admitted } = play({ nodes: 3, perSecond: 500, lengthMs: 4000, arrivals }, { idleMs: 0 });
  expect(between(admitted, 500, 1000).length).toBeGreaterThanOrEqual(240);
});

test.each([1, 2, 3])('%d nodes, 10/s, one node asks for twice as much after a single request: the quota', (nodes) => {
  const steady = Array.from({ length: 200 }, (_, index) => atOnce(1350 + 50 * index, 0, 1)).flat();
  const arrivals = [...atOnce(0, 0, 1), ...atOnce(1300, 0, 1), ...steady];
  const { admitted } = play({ nodes, perSecond: 10, lengthMs: 11_350, arrivals }, { group: TEN, idleMs: 0 });
  const asked = admitted.filter(({ atMs }) => atMs >= 1350);
  expect(asked.length).toBeGreaterThanOrEqual(97);
  expect(asked.length).toBeLessThanOrEqual(110);
});
