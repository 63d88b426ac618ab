import { describe, expect, test } from 'vitest';
import { admittedRate, worstSpan } from '../../sim/cluster/measure.js';
import { membersOf, readyCluster } from './ready-cluster.js';
import { GROUP, SETTINGS } from './settings.js';

const QUOTA = 1000;

describe.each([
  { says: 'both ways', ways: { reads: true, appends: true } },
  { says: 'from writing', ways: { reads: false, appends: true } },
  { says: 'from reading', ways: { reads: true, appends: false } },
])('one node cut off $says', ({ ways }) => {
  test('adds its held share until the hold time ends, its fallback at most after that, and nothing once it is back', () => {
    const world = readyCluster(52, ['a', 'b', 'c'], SETTINGS);
    for (const node of ['a', 'b', 'c']) world.drive({ node, ratePerSecond: () => (node === 'a' ? 2000 : 200) });
    world.runFor(5000 - world.nowMs);
    const held = world.node('a').coordinator.shares.applied[0];
    world.node('a').cutOff(true, ways);
    world.runFor(25_000);
    world.node('a').cutOff(false, ways);
    world.runFor(10_000);
    const before = worstSpan(world.arrivals, 1000, 5000, 16_000) / QUOTA;
    const fallback = admittedRate(world.arrivals, 17_000, 30_000, 'a') / QUOTA;
    const after = worstSpan(world.arrivals, 1000, 33_000, 40_000) / QUOTA;
    console.log(
      `held ${held.toFixed(0)}/s: worst second while held ${before.toFixed(2)}, fallback ${fallback.toFixed(3)}, after ${after.toFixed(2)}`,
    );
    expect(before).toBeLessThanOrEqual(1.1 + held / QUOTA);
    expect(fallback).toBeLessThanOrEqual(1 / 3 + 0.01);
    expect(after).toBeLessThanOrEqual(1.1);
  });
});

test('a log whose clock jumps by hours, again and again, expires nobody and moves no share', () => {
  const world = readyCluster(53, ['a', 'b', 'c'], { ...SETTINGS, partitions: 2 });
  for (const node of ['a', 'b', 'c']) world.drive({ node, ratePerSecond: () => 700 });
  for (let jump = 0; jump < 10; jump++) {
    world.runFor(4000);
    world.topic.clockOffsetMs += jump % 2 === 0 ? 7_200_000 : -10_800_000;
  }
  world.runFor(6000);
  for (const node of ['a', 'b', 'c']) {
    const kinds = world.node(node).notices.map(({ notice }) => notice.kind);
    expect(kinds.filter((kind) => kind === 'member-expired' || kind === 'isolated')).toEqual([]);
  }
  expect(Math.abs(admittedRate(world.arrivals, 3000, 45_000) / QUOTA - 1)).toBeLessThanOrEqual(0.01);
});

test('two processes that start as one node id at the same moment: exactly one survives', () => {
  for (const nonces of [
    [1, 2],
    [2, 1],
  ] as const) {
    const world = readyCluster(54, ['b'], SETTINGS);
    const processes = nonces.map((nonce) => world.start('a', { nonce }));
    world.runFor(3000);
    const survivors = processes.filter(({ coordinator }) => coordinator.isReady);
    expect(survivors).toHaveLength(1);
    expect(processes.map(({ coordinator }) => coordinator.phase).sort()).toEqual(['fenced', 'ready']);
    expect(survivors[0]?.coordinator.settings.nonce).toBe(2);
    expect(world.node('b').coordinator.membership.alive).toHaveLength(2);
  }
});

test('records of a buried life that are delivered again fence nobody', () => {
  const world = readyCluster(54, ['a'], { ...SETTINGS, stalenessMs: 2500, forgetAfterMs: 5000 });
  world.start('b', { nonce: 9 });
  world.runFor(1000);
  world.node('b').leave();
  world.runFor(9000);
  const again = world.start('b', { nonce: 2 });
  world.runFor(1000);
  expect(again.coordinator.incarnation).toBe(0x10000 + 2);
  again.repeatDelivery(1000);
  world.runFor(1000);
  expect(again.coordinator.phase).toBe('ready');
});

test('a farewell that comes late into a log made anew fences nobody: who goes takes nothing over', () => {
  const world = readyCluster(56, ['a', 'b'], SETTINGS);
  world.node('b').crash();
  world.runFor(1000);
  const leaving = world.start('b');
  world.runFor(1000);
  expect(leaving.coordinator.incarnation).toBeGreaterThan(2 * 0x10000);
  world.topic.slowness.appendMs = 500;
  leaving.leave();
  world.topic.makeAnew();
  const next = world.start('b');
  // Both are late by then: the records of the next process, and the farewell behind a produce under way.
  world.runFor(300);
  world.topic.slowness.appendMs = 0;
  world.runFor(3000);
  expect(next.coordinator.phase).toBe('ready');
  for (const node of ['a', 'b']) expect(membersOf(world.node(node))).toEqual(['a', 'b']);
});

test('a topic that is away leaves groups with the policy "open" unlimited, and limited again when it is back', () => {
  const world = readyCluster(55, ['a', 'b'], {
    ...SETTINGS,
    groups: [{ ...GROUP, isolation: { policy: 'open', holdMs: 4000 } }],
  });
  for (const node of ['a', 'b']) world.drive({ node, ratePerSecond: () => 900 });
  world.runFor(3000);
  world.topic.isAway = true;
  world.runFor(15_000);
  expect(admittedRate(world.arrivals, 12_000, 18_000)).toBeGreaterThan(1700);
  world.topic.isAway = false;
  world.runFor(6000);
  expect(worstSpan(world.arrivals, 1000, 21_000, 24_000) / QUOTA).toBeLessThanOrEqual(1.1);
});
