import './seed.js';
import fc from 'fast-check';
import { assert, expect, test } from 'vitest';
import { groupIdOf } from '../../src/core/base/ids.js';
import type { Effects } from '../../src/core/base/protocol/events-and-effects.js';
import { NOTHING_REPORTED, type ReportRow } from '../../src/core/base/protocol/record.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { laneOf, slotOf } from '../../src/core/base/vocabulary.js';
import type { Coordinator } from '../../src/core/machine/coordinator.js';
import { GATED, SETTINGS } from '../simulation/settings.js';
import { OneNode } from '../unit/core/machine/one-node.js';

const QUOTA = { publish: [100, 1e6], dispatch: [100, Infinity] } as const;
const GROUPS: readonly GroupSettings[] = [
  { ...GATED, name: 'plain', quota: QUOTA },
  { ...GATED, name: 'topics', quota: QUOTA, topics: 'even' },
  { ...GATED, name: 'slow', quota: QUOTA, smoothingMs: 2000 },
  { ...GATED, name: 'window', quota: QUOTA, limiter: 'window', slewPerSecond: 0.2 },
  { ...GATED, name: 'divided', quota: QUOTA, strategy: 'equal', headroom: 'none' },
];

const OTHERS = ['a', 'b'];
const group = fc.nat(GROUPS.length - 1);
const direction = fc.nat(1);
const other = fc.constantFrom(...OTHERS);

type Act = (node: OneNode) => void;

/** What may happen to a node, with a few numbers that often repeat. */
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(group, direction, fc.nat(5)).map(([at, way, count]) => worksIn(at, way, count)) },
  {
    weight: 6,
    arbitrary: fc.tuple(other, group, direction, fc.constantFrom(0, 10, 40, 41, 60, 100, 400)).map(
      ([id, at, way, rate]): Act =>
        (node) =>
          node.read(node.report(id, [row(GROUPS[at].name, way, rate)])),
    ),
  },
  {
    weight: 3,
    arbitrary: other.map(
      (id): Act =>
        (node) =>
          node.read(node.by(id, 'node')),
    ),
  },
  {
    weight: 1,
    arbitrary: other.map(
      (id): Act =>
        (node) =>
          node.read(node.by(id, 'farewell')),
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(20, 100, 300, 1100).map(
      (ms): Act =>
        (node) =>
          node.run(ms),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(3500, 6000).map(
      (ms): Act =>
        (node) =>
          node.run(ms, { echo: false }),
    ),
  },
  { weight: 1, arbitrary: fc.constant(idles) },
  { weight: 4, arbitrary: fc.tuple(group, direction).map(([at, way]) => asksFor(at, way)) },
  { weight: 2, arbitrary: fc.tuple(group, direction).map(([at, way]) => stalls(at, way)) },
  {
    weight: 3,
    arbitrary: fc.tuple(direction, fc.constantFrom(45, 50, 55, 60)).map(([way, rate]) => beside(way, rate)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(group, fc.constantFrom(50, 100, 200)).map(
      ([at, messages]): Act =>
        (node) => {
          const settings = { ...GROUPS[at], quota: { ...QUOTA, publish: [messages, 1e6] as const } };
          node.step({ kind: 'group-changed', group: at, settings });
        },
    ),
  },
  {
    weight: 3,
    arbitrary: group.map(
      (at): Act =>
        (node) =>
          node.step({ kind: 'group-removed', group: at }),
    ),
  },
);

/** All that it served is given up, and the others have expired. */
function idles(node: OneNode): void {
  node.run(61_000);
}

/** As a gate may ask that has not heard yet that the lane is served. */
function asksFor(at: number, way: number): Act {
  return (node) => node.step({ kind: 'lane-served', lane: laneOf(at, way) });
}

/** A gap between rounds: it decides nothing until it has read itself. */
function stalls(at: number, way: number): Act {
  return (node) => {
    node.pass(SETTINGS.shareValidMs + 1);
    node.step({ kind: 'round-elapsed' });
    asksFor(at, way)(node);
  };
}

/** 40/s, while another node takes from the left-over. */
function beside(way: number, rate: number): Act {
  return (node) => {
    const each = () => [1, 2, 3, 4].forEach(() => void node.tryAcquire(laneOf(0, way), 1));
    node.read(node.by('a', 'node'), node.report('a', [row('plain', way, 41)]));
    node.run(2000, { each });
    node.read(node.report('a', [row('plain', way, rate)]));
  };
}

function worksIn(at: number, way: number, count: number): Act {
  return (node) => {
    for (let each = 0; each < count; each++) node.tryAcquire(laneOf(at, way), 1);
    node.run(100);
  };
}

function row(name: string, way: number, rate: number): ReportRow {
  const rates = { usageMessages: rate, usageBytes: rate, demandMessages: rate, demandBytes: rate };
  const groupId = groupIdOf(SETTINGS.cluster, name);
  return { ...NOTHING_REPORTED, groupId, direction: way, ...rates, shareMessages: rate, shareBytes: rate };
}

/** Shares and depths in force in every lane that is served. */
function heldIn({ lanes, shares }: Coordinator): Map<number, readonly number[]> {
  const of = (column: Float64Array, lane: number) => Array.from(column.subarray(slotOf(lane, 0), slotOf(lane + 1, 0)));
  return new Map(
    [...lanes.keys()].map((lane) => {
      return [lane, [...of(shares.applied, lane), ...of(shares.depth, lane)]];
    }),
  );
}

const areEqual = (one: readonly number[], next: readonly number[]) =>
  one.length === next.length && one.every((each, at) => Object.is(each, next[at]));
/** Lanes of the first that the second has not. */
const lanesOf = (one: ReadonlyMap<number, unknown>, other: typeof one) =>
  inOrder([...one.keys()].filter((lane) => !other.has(lane)));
const inOrder = (lanes: Iterable<number>) => [...lanes].sort((one, next) => one - next);

/**
 * Checks what a step tells. A lane that has come in it is told of as served; what it holds is told of as well, since it
 * held nothing. *Why assert:* for each step of each story, expect would take longer than the step.
 */
function expectTold(before: ReturnType<typeof heldIn>, after: typeof before, effects: Effects, seen: Seen): void {
  const stayed = [...after].filter(([lane]) => before.has(lane));
  const moved = inOrder(stayed.filter(([lane, now]) => !areEqual(before.get(lane) ?? [], now)).map(([lane]) => lane));
  const told = (lanes: readonly number[]) => inOrder(lanes.filter((lane) => before.has(lane) && after.has(lane)));
  assert(areEqual(told(effects.changedLanes), moved));
  assert(areEqual(told(effects.decidedLanes), moved));
  const [came, went] = [lanesOf(after, before), lanesOf(before, after)];
  assert(areEqual(inOrder(effects.servedLanes), came));
  assert(areEqual(inOrder(effects.unservedLanes), went));
  for (const lanes of [effects.changedLanes, effects.decidedLanes]) assert(new Set(lanes).size === lanes.length);
  seen.limits += moved.length;
  seen.ended += effects.unservedLanes.length;
}

/** Who moves with log time alone is what a round computed now says of it. */
function expectMoving({ lanes, shares, membership, nodeKey, targets }: Coordinator, seen: Seen): void {
  for (const lane of lanes.values()) {
    const own = membership.indexOf(nodeKey, lane.partition);
    const round = shares.converge(lane.group, lane);
    const moving = Array.from(round.moving.subarray(0, round.count));
    const { settings, direction: way, mapLane } = lane;
    assert(lane.isMoving === (moving.includes(1) || targets.ramps[lane.partition].isMoving(settings, way, mapLane)));
    assert(lane.isOwnMoving === (moving[own] === 1));
    if (lane.isMoving) seen.moving++;
    if (lane.isOwnMoving) seen.ownMoving++;
  }
}

interface Seen {
  limits: number;
  ended: number;
  moving: number;
  ownMoving: number;
}

test('after every step the effects tell of every lane that moved, came or went, and of no other', () => {
  const seen: Seen = { limits: 0, ended: 0, moving: 0, ownMoving: 0 };
  fc.assert(
    fc.property(fc.array(act, { minLength: 5, maxLength: 30, size: 'max' }), (acts) => {
      // Rounds of 100 ms, so that a minute passes in 600 steps.
      const node = OneNode.ready({ groups: GROUPS, sampleIntervalMs: 100 });
      const { coordinator } = node;
      const step = coordinator.step.bind(coordinator);
      coordinator.step = (event, nowMs) => {
        const before = heldIn(coordinator);
        const effects = step(event, nowMs);
        expectTold(before, heldIn(coordinator), effects, seen);
        if (!coordinator.isReady) expect(effects.servedLanes).toEqual([]);
        if (event.kind === 'records-read' && coordinator.isReady) expectMoving(coordinator, seen);
        return effects;
      };
      for (const happens of acts) happens(node);
    }),
    { numRuns: 20 },
  );
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10);
});
