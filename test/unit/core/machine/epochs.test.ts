import { beforeEach, describe, expect, test } from 'vitest';
import { groupIdOf, incarnationCount } from '../../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type ReportRow } from '../../../../src/core/base/protocol/record.js';
import { GATED, SETTINGS } from '../../../simulation/settings.js';
import { OneNode } from './one-node.js';

let node: OneNode;

/** A node that shares 1,000/s with `a` in the log called old, half each, for longer than isolation looks back on. */
function share(policy: 'equal-share' | 'floor' | 'closed' = 'equal-share', demand = 900, partitions = 1): void {
  node = new OneNode({ partitions, groups: [{ ...GATED, isolation: { ...GATED.isolation, policy } }] });
  node.step({ kind: 'epoch-began', epoch: 'old' });
  node.step({ kind: 'caught-up' });
  node.echo();
  node.tryAcquire(0, 1);
  const { partition } = node.coordinator.lanes.get(0)!;
  for (let second = 0; second < 12; second++) {
    node.read(node.by('a', 'node'), node.report('a', [wanting(demand)], { partition }));
    work(1000);
  }
}
beforeEach(() => share());

function wanting(messages: number): ReportRow {
  const wanted = { usageMessages: messages, demandMessages: messages };
  return { ...NOTHING_REPORTED, groupId: groupIdOf(SETTINGS.cluster, GATED.name), direction: 0, ...wanted };
}

function work(durationMs: number, echo = true): void {
  node.run(durationMs, { echo, each: () => [...Array(20)].forEach(() => void node.tryAcquire(0, 1)) });
}

function another(epoch: string): void {
  node.lose();
  node.pass(1);
  node.step({ kind: 'epoch-began', epoch });
}

function applied(): number {
  return node.coordinator.shares.applied[0];
}

describe('a log that is another one', () => {
  test('the share is held until the other has spoken, and follows what it says', () => {
    expect(applied()).toBeCloseTo(500, 0);
    another('new');
    expect(node.told('epoch-changed')).toMatchObject([{ from: 'old', to: 'new', members: 2 }]);
    node.step({ kind: 'caught-up' });
    work(1000);
    // The other is not in this log: as far as it says, all is this node's.
    expect(node.coordinator.shares.computed[0]).toBeGreaterThan(990);
    expect(applied()).toBeCloseTo(500, 0);
    node.read(node.report('a', [wanting(100)]), node.by('a', 'node'));
    work(100);
    expect(node.told('epoch-settled')).toMatchObject([{ missing: 0 }]);
    expect(applied()).toBeGreaterThan(850);
  });

  test('until its own records are read back on every partition whatever it says, from then on no more than it says', () => {
    share('equal-share', 100, 2);
    expect(applied()).toBeGreaterThan(850);
    another('new');
    node.step({ kind: 'caught-up' });
    const { partition } = node.coordinator.lanes.get(0)!;
    const own = node.lose();
    expect(new Set(own.map((sent) => sent.partition))).toEqual(new Set([0, 1]));
    node.read(...own.filter((sent) => sent.partition === partition));
    node.read(node.by('a', 'node'), node.report('a', [wanting(900)], { partition }));
    expect(node.coordinator.shares.computed[0]).toBeLessThan(600);
    expect(applied()).toBeGreaterThan(850);
    node.read(...own.filter((sent) => sent.partition !== partition));
    expect(applied()).toBe(node.coordinator.shares.computed[0]);
    expect(node.coordinator.log.epochs.isHolding).toBe(true);
  });

  test('a lane that is first used then gets its floor until the other has spoken: a thousandth of the half', () => {
    node = new OneNode({ groups: [GATED, { ...GATED, name: 'late' }] });
    node.step({ kind: 'epoch-began', epoch: 'old' });
    node.step({ kind: 'caught-up' });
    node.read(...node.lose(), node.by('a', 'node'));
    another('new');
    node.step({ kind: 'caught-up' });
    node.run(500);
    node.tryAcquire(2, 1);
    expect(node.coordinator.shares.applied[4]).toBe(0.5);
    node.read(node.by('a', 'node'));
    node.run(100, { each: () => void node.tryAcquire(2, 1) });
    expect(node.coordinator.shares.applied[4]).toBeGreaterThan(400);
  });
});

describe('what is said in it', () => {
  test('everything at once, the heartbeat last', () => {
    another('new');
    expect(node.sent.map(({ record }) => record?.kind)).toEqual(['report', 'node']);
  });

  test.each([
    ['catches up', () => (node = new OneNode())],
    ['stops', () => node.step({ kind: 'stopping' })],
    ['is fenced', () => node.read(node.by('own', 'node', { life: 3 }))],
  ])('nothing by one that %s, also when it finds a newer life of its id there', (_, become) => {
    become();
    const { phase } = node.coordinator;
    another('between');
    another('new');
    node.read(node.by('own', 'node', { life: 7 }));
    if (phase !== 'catching-up') node.step({ kind: 'caught-up' });
    work(3000);
    expect(node.sent).toEqual([]);
    expect(node.coordinator.isReady).toBe(false);
  });
});

describe('newer lives of this id in it', () => {
  function lifeOf(): number {
    return incarnationCount(node.coordinator.incarnation);
  }

  test('one read before all is read is outlived then, and everything is said again', () => {
    another('new');
    node.lose();
    node.read(node.by('own', 'node', { life: 5 }));
    expect([lifeOf(), node.coordinator.phase]).toEqual([1, 'ready']);
    node.step({ kind: 'caught-up' });
    expect([lifeOf(), node.coordinator.phase]).toEqual([6, 'ready']);
    const said = node.sent.map(({ record }) => [record?.kind, incarnationCount(record?.author.incarnation as number)]);
    expect(said).toEqual([
      ['report', 6],
      ['node', 6],
    ]);
  });
});
