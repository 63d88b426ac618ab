import { expect, test } from 'vitest';
import { groupIdOf, incarnationOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import type { Append } from '../../../../src/core/base/protocol/events-and-effects.js';
import { type GroupStateRecord, groupStateRecordKey } from '../../../../src/core/base/protocol/record.js';
import type { RampModeName } from '../../../../src/core/base/settings.js';
import { GATED, RAMP } from '../../../simulation/settings.js';
import { wideId } from '../../../wide-ids.js';
import { OneNode } from '../machine/one-node.js';

/** 100 → 1,000 in 100 s; forgotten after a minute. */
const CLIMB = { ...RAMP, overMs: 100_000, timeToLiveMs: 60_000 };
/** The longest turn of a node among three, and the time after which a node says the same again. */
const TURNS_MS = 750;
const AGAIN_MS = 5000;
/** Messages/s per second. */
const SLOPE = 9;

test.each(['relaxed', 'scheduled'] as const)(
  '%s: a ceiling that a stranger has overwritten is said again, as high, as old, and for what is left of its life',
  (mode) => {
    const node = climbed(mode);
    const newcomer = new OneNode(node.settings);
    const lineAt = (beganMs: number) => ceilingOf(node) - ((node.nowMs - beganMs) * SLOPE) / 1000;
    const [beganMs, before] = [node.nowMs, ceilingOf(node)];
    node.run(20_000);
    node.read(overwritten(node));
    const [said] = saidWithin(node, TURNS_MS);
    if (said === undefined) throw new Error('nothing was said');
    expect(said.timeToLiveMs).toBeGreaterThan(CLIMB.timeToLiveMs - 20_000 - 5000);
    expect(said.timeToLiveMs).toBeLessThan(CLIMB.timeToLiveMs - 20_000);
    // A newcomer finds that record alone.
    newcomer.logClockMs = node.logClockMs - TURNS_MS;
    newcomer.read({ ...overwritten(node), record: said });
    newcomer.pass(TURNS_MS);
    for (const each of [node, newcomer]) each.read(node.by('any', 'node'));
    expect(Math.abs(ceilingOf(newcomer) - ceilingOf(node))).toBeLessThanOrEqual(SLOPE / 10);
    expect(Math.abs((mode === 'scheduled' ? lineAt(beganMs) : ceilingOf(node)) - before)).toBeLessThanOrEqual(
      SLOPE / 10,
    );
    node.run(CLIMB.timeToLiveMs - 20_000 + 5000);
    expect(ceilingOf(node)).toBe(CLIMB.fromPerSecond);
  },
);

test.each<[string, (node: OneNode) => Append]>([
  ['of a past life', (node) => by(node, 'other', { life: 1, readUntilOffset: 1e6 })],
  ['whose writer had not read the ceiling', (node) => by(node, 'third', { life: 1, readUntilOffset: 0 })],
  ['of another direction', (node) => by(node, 'third', { life: 1, readUntilOffset: 1e6, direction: 1 })],
])('a record %s hides the ceiling from newcomers: it is said again', (_, hiding) => {
  const node = climbed('relaxed');
  node.read(node.by('other', 'node', { life: 2 }));
  const before = ceilingOf(node);
  node.read(hiding(node));
  expect(ceilingOf(node)).toBe(before);
  expect(saidWithin(node, TURNS_MS)).toMatchObject([{ ceiling: before }]);
});

test('a second record of the same step hides nothing, nor does one of a lane that has no ceiling', () => {
  const node = climbed('relaxed');
  node.read(by(node, 'other', { life: 1, readUntilOffset: 0, ceiling: ceilingOf(node) }));
  node.read({ ...overwritten(node), key: groupStateRecordKey(ownGroup(node), 1) });
  node.read({ ...overwritten(node), key: groupStateRecordKey(wideId(12345), 0) });
  for (const key of ['group/', 'group/zz', 'group/!/0', 'group/1/0/0', 'group/01/0', `group/${'z'.repeat(20)}/0`]) {
    node.read({ ...overwritten(node), key });
  }
  expect(saidWithin(node, TURNS_MS)).toEqual([]);
});

test('one node says it: the others wait for its record', () => {
  const nodes = [climbed('relaxed'), climbed('relaxed')] as const;
  // Both know two more members, and so take turns by the offset; only the order of their keys differs from node to node.
  const counts = nodes.map((node) => {
    node.read(node.by('a', 'node'), node.by('b', 'node'));
    node.read(overwritten(node));
    node.step({ kind: 'round-elapsed' });
    const first = node.sent.filter(({ record }) => record?.kind === 'group-state').length;
    // Another one is faster.
    node.read(by(node, 'a', { life: 1, readUntilOffset: 1e6, ceiling: ceilingOf(node) }));
    return first + saidWithin(node, 2000).length;
  });
  for (const count of counts) expect(count).toBeLessThanOrEqual(1);
});

test('who overwrites a ceiling again and again is answered once in five seconds', () => {
  const node = climbed('relaxed');
  let said = 0;
  for (let at = 0; at < 40; at++) {
    node.read(overwritten(node));
    said += saidWithin(node, 500).length;
  }
  expect(said).toBeGreaterThanOrEqual(3);
  expect(said).toBeLessThanOrEqual(1 + 20_000 / AGAIN_MS);
});

test('a ceiling that has ended, and one of another log, is not said', () => {
  const node = climbed('relaxed');
  node.step({ kind: 'epoch-began', epoch: 'old' });
  node.read(overwritten(node));
  node.step({ kind: 'epoch-began', epoch: 'new' });
  node.lose();
  expect(saidWithin(node, TURNS_MS)).toEqual([]);
  const later = climbed('relaxed');
  later.run(CLIMB.timeToLiveMs + 10_000);
  later.read(overwritten(later));
  expect(saidWithin(later, TURNS_MS)).toEqual([]);
});

/** A lone node that has used its group for five seconds, and then no more. */
function climbed(mode: RampModeName): OneNode {
  const node = OneNode.ready({ groups: [{ ...GATED, ramp: { ...CLIMB, mode } }] });
  node.run(5000, { each: () => [...Array(100)].forEach(() => void node.tryAcquire(0, 1)) });
  node.run(2000);
  return node;
}

/** Messages/s. */
function ceilingOf({ coordinator }: OneNode): number {
  const { targets, settings } = coordinator;
  const [group] = settings.groups;
  if (group === undefined) throw new Error('the node has one group');
  const { mapLane, partition } = coordinator.laneOf(groupIdOf(settings.cluster, group.name), 0);
  return targets.ramps[partition].ceilingOf(group, 0, mapLane);
}

/** The ceilings that the node writes within this time, each read back at once. */
function saidWithin(node: OneNode, durationMs: number): GroupStateRecord[] {
  const said: GroupStateRecord[] = [];
  const each = () => {
    for (const { record } of node.sent) if (record?.kind === 'group-state') said.push(record);
    node.echo();
  };
  node.run(durationMs, { echo: false, each });
  each();
  return said;
}

function ownGroup({ settings }: OneNode) {
  return groupIdOf(settings.cluster, GATED.name);
}

/** What a node reads where a record of a stranger stands under the key of its ceiling. */
function overwritten(node: OneNode): Append {
  return { partition: 0, key: groupStateRecordKey(ownGroup(node), 0), record: null };
}

function by(node: OneNode, nodeId: string, { life, ...said }: { life: number } & Partial<GroupStateRecord>): Append {
  const author = {
    nodeKey: nodeKeyOf(node.settings.cluster, nodeId),
    incarnation: incarnationOf(life, 7),
    sequence: 1,
  };
  const lane = { groupId: ownGroup(node), direction: 0 };
  const defaults = { ceiling: 333, lateMs: 0, readUntilMs: 0, readUntilOffset: 0, timeToLiveMs: CLIMB.timeToLiveMs };
  return { ...overwritten(node), record: { kind: 'group-state', author, ...lane, ...defaults, ...said } };
}
