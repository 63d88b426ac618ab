import { describe, expect, test } from 'vitest';
import { clusterDepth } from '../../../../src/core/account/cluster-depth.js';
import { isFarAbove, isFarBelow, isInPieces, wholePieces } from '../../../../src/core/account/in-pieces.js';
import { RecentUse } from '../../../../src/core/account/recent-use.js';

test.each([
  { perSecond: 10, nodes: 10, inPieces: true },
  { perSecond: 20, nodes: 50, inPieces: true },
  { perSecond: 1, nodes: 3, inPieces: true },
  { perSecond: 10, nodes: 1, inPieces: false },
  { perSecond: 100, nodes: 10, inPieces: true },
  { perSecond: 101, nodes: 10, inPieces: false },
  { perSecond: 150, nodes: 50, inPieces: true },
  { perSecond: 151, nodes: 50, inPieces: false },
  { perSecond: 1000, nodes: 3, inPieces: false },
])('$perSecond/s on $nodes nodes is given in pieces: $inPieces', ({ perSecond, nodes, inPieces }) => {
  expect(isInPieces({ perSecond, depth: clusterDepth(perSecond, 1) }, 1, nodes)).toBe(inPieces);
});

test('a depth of four pieces for each node can be divided, if each has more than three a second', () => {
  expect(isInPieces({ perSecond: 31, depth: 40 }, 1, 10)).toBe(false);
  expect(isInPieces({ perSecond: 31, depth: 39 }, 1, 10)).toBe(true);
  expect(isInPieces({ perSecond: 30, depth: 1e6 }, 1, 10)).toBe(true);
});

test('messages of a kilobyte are pieces of a kilobyte', () => {
  expect(isInPieces({ perSecond: 10_000, depth: 10_000 }, 1000, 10)).toBe(true);
  expect(isInPieces({ perSecond: 10_000, depth: 10_000 }, 100, 10)).toBe(false);
});

test.each([
  { total: 2.5, nodes: 3, isFar: true, why: 'a quarter of the quota' },
  { total: 2.6, nodes: 3, isFar: false, why: 'more' },
  { total: 0, nodes: 3, isFar: false, why: 'nothing is published' },
  { total: 1, nodes: 10, isFar: true, why: 'a piece for each node' },
  { total: 1, nodes: 11, isFar: false, why: 'less' },
])('10/s, $total/s expected on $nodes nodes is far below the quota: $isFar ($why)', ({ total, nodes, isFar }) => {
  expect(isFarBelow({ perSecond: 10, depth: 10 }, 1, nodes, total)).toBe(isFar);
});

test.each([
  { perSecond: 1, depth: 60, total: 1.5, nodes: 4, isFar: true, why: 'fifteen pieces for each' },
  { perSecond: 1, depth: 60, total: 1.49, nodes: 4, isFar: false, why: 'near the quota' },
  { perSecond: 1, depth: 60, total: 6, nodes: 5, isFar: false, why: 'fewer pieces' },
  { perSecond: 1 / 60, depth: 60, total: 6, nodes: 3, isFar: false, why: 'six in a second pass for a demand of hours' },
])('$total/s of $perSecond/s and depth $depth on $nodes nodes is far above: $isFar ($why)', (row) => {
  const { perSecond, depth, total, nodes, isFar } = row;
  expect(isFarAbove({ perSecond, depth }, 1, nodes, { total, isAnyMet: false, leastStock: 21 })).toBe(isFar);
  expect(isFarAbove({ perSecond, depth }, 1, nodes, { total, isAnyMet: true, leastStock: 21 })).toBe(false);
  expect(isFarAbove({ perSecond, depth }, 1, nodes, { total, isAnyMet: false, leastStock: 21.1 })).toBe(false);
});

/** 10/s on ten nodes: a depth of ten. */
const SLOW = { perSecond: 10, depth: 10 };
const NOW = 100_000;

/** What node 5 may take when nodes 1, 2, … have just taken so many, and node 5 as many as `own`; null = it told nothing. */
function given(
  tokens: number,
  others: readonly number[],
  own: number | null,
  roundTripMs: number,
  { isDivided = false, isOwing = false, crowdsOut = false, nodes = 10 } = {},
): number {
  const recent = new RecentUse();
  const nodeAt = (at: number) => (at < 4 ? at + 1 : at + 2);
  // All come before anybody takes something: who comes later is counted as having had nearly as much.
  others.forEach((_, at) => {
    recent.charge(nodeAt(at), 0, NOW, SLOW, 1);
  });
  if (own !== null) recent.charge(5, 0, NOW, SLOW, 1);
  others.forEach((units, at) => {
    recent.charge(nodeAt(at), units, NOW, SLOW, 1);
  });
  if (own !== null) recent.charge(5, own, NOW, SLOW, 1);
  return wholePieces(SLOW, tokens, 1, {
    recent,
    own: 5,
    logMs: NOW,
    roundTripMs,
    isDivided,
    nodes,
    piece: 1,
    isOwing,
    crowdsOut,
  });
}

test('600 of 1,000 a day at once: one is left to the node without a record, not another 600', () => {
  const bucket = { perSecond: 1000 / 86_400, depth: 1000 };
  const recent = new RecentUse();
  recent.charge(5, 600, NOW, bucket, 1);
  const turn = { recent, own: 5, logMs: NOW + 5000, roundTripMs: 20, isDivided: false, nodes: 2, piece: 1 };
  expect(wholePieces(bucket, 400, 600, { ...turn, isOwing: false, crowdsOut: true })).toBeCloseTo(399, 9);
});

describe('10/s on ten nodes, a round trip of 20 ms: 0.2 tokens flow in meanwhile', () => {
  test.each([
    { tokens: 10, others: [], own: 0, takes: 20 / 9, why: 'full: an advance, whoever used it lately' },
    { tokens: 10, others: [], own: null, takes: 20 / 9, why: 'nobody has told anything: nine take two depths' },
    { tokens: 3, others: [], own: null, takes: 1, why: 'but a piece' },
    { tokens: 8, others: [1], own: null, takes: 1, why: 'one has told: nine others take a depth' },
    { tokens: 8, others: [1, 1, 1, 1, 1, 1], own: null, takes: 8 / 7, why: 'and its part among those that have told' },
    { tokens: 0.9, others: [], own: 0, takes: 0.9, why: 'no whole piece: no work fits' },
    { tokens: 1, others: [1, 1], own: 0, takes: 1, why: 'had the fewest: the last token' },
    { tokens: 1, others: [0.5, 1], own: 0.7, takes: 0.8, why: 'one had fewer: waits for 1.2' },
    { tokens: 1.2, others: [0.5, 1], own: 0.7, takes: 1, why: 'until 0.2 more are there' },
    { tokens: 1.2, others: Array(7).fill(0.1), own: 1, takes: 0.8, why: 'seven had fewer: waits for 1.4' },
    { tokens: 1.4, others: Array(12).fill(0.1), own: 1, takes: 1, why: 'and no longer for twelve' },
    { tokens: 6, others: [1], own: 0, takes: 11 / 3, why: 'plenty: half of what eight advances leave of 18' },
    { tokens: 6, others: [1, 1], own: 0, takes: 26 / 9, why: 'a third of what seven leave' },
    { tokens: 6, others: [1, 1, 1, 1, 1], own: 0, takes: 2, why: 'its part of it twice, where four leave more' },
    { tokens: 0, others: [1], own: 0, takes: 0, why: 'nothing is there' },
    { tokens: -3, others: [1], own: 0, takes: -3, why: 'a debt comes first' },
  ])('$tokens tokens, others had $others, it $own: $takes; $why', ({ tokens, others, own, takes }) => {
    expect(given(tokens, others, own, 20)).toBeCloseTo(takes, 9);
  });
});

test.each([4, 5, 7, 10, 30])('%i nodes take three depths, though some take the bucket for full already', (nodes) => {
  for (let known = 1; known <= nodes; known++) {
    const others = (count: number) => Array<number>(count).fill(1);
    const ofKnown = known * given(8.99, others(known - 1), 1, 20, { nodes });
    const ofOthers = (nodes - known) * given(9.01, others(known), null, 20, { nodes });
    expect.soft(ofKnown + ofOthers, `${known} known`).toBeLessThanOrEqual(Math.max(30, nodes + 10));
  }
});

test('divided in advance: a tenth of what is there, and the last whole token to the one that had the fewest', () => {
  expect(given(10, [], 0, 20, { isDivided: true })).toBe(1);
  expect(given(0.9, [], 0, 20, { isDivided: true })).toBeCloseTo(0.9, 9);
});

describe('a node that owes leaves the others 3.5 of ten tokens', () => {
  test.each([
    { tokens: 10, takes: 20 / 9, why: 'full: an advance' },
    { tokens: 9, takes: 2, why: 'nearly full: an advance of what is there' },
    { tokens: 8, takes: 4.5, why: 'down to the set point' },
    { tokens: 3.9, takes: 0.4, why: 'no whole piece above the set point' },
    { tokens: 2, takes: -1.5, why: 'nothing below it' },
  ])('$tokens tokens: $takes, $why', ({ tokens, takes }) => {
    expect(given(tokens, [], 0, 20, { isOwing: true })).toBeCloseTo(takes, 9);
  });
});

describe('a node that wants more than its share', () => {
  test.each([
    { tokens: 2.4, others: [2, 2], own: 2, nodes: 3, takes: 1, why: 'as many as the others: nothing is kept' },
    { tokens: 2.4, others: [1, 2], own: 2, nodes: 3, takes: 1, why: 'one had a piece less: that is kept for it' },
    { tokens: 1.5, others: [1, 2], own: 2, nodes: 3, takes: 0.3, why: 'so this node waits for 2.2' },
    { tokens: 1, others: [2, 2], own: 1, nodes: 3, takes: 1, why: 'and the other finds it' },
    { tokens: 4.9, others: [0, 0], own: 3, nodes: 3, takes: 1.4, why: 'far less: as much as a busy bucket returns to' },
    { tokens: 2.4, others: [2], own: 2, nodes: 3, takes: 1.2, why: 'a third node may come: a piece is kept for it' },
    { tokens: 9, others: [0, 0], own: 3, nodes: 3, takes: 3, why: 'nearly full: what is kept would be lost' },
  ])(
    '$tokens tokens, $nodes nodes, others had $others, it $own: $takes; $why',
    ({ tokens, others, own, nodes, takes }) => {
      expect(given(tokens, others, own, 20, { crowdsOut: true, nodes })).toBeCloseTo(takes, 9);
    },
  );
});
