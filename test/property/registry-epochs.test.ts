import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UNREAD_MAX } from '../../src/core/beside/constants.js';
import { BASE_MAX } from '../../src/core/beside/registry/registry-epochs.js';
import { randomOf } from './random-of.js';
import { RegistryCluster, type SimulatedRegistry } from './registry-cluster.js';
import { runs } from './seed.js';

const NODES = ['a', 'b', 'c'];
const GROUPS = ['orders', 'billing', '/attachment/tenant/acme'];

type Loss = (cluster: RegistryCluster, random: () => number) => void;

const LOSSES: Readonly<Record<string, Loss>> = {
  'made anew': (cluster) => cluster.truncate(cluster.first),
  truncated: (cluster, random) => cluster.truncate(cluster.at(random())),
  'truncated and regrown by somebody who starts then': (cluster, random) => {
    cluster.truncate(cluster.at(random()), false);
    const other = new RegistryCluster(random);
    other.continueOn(cluster);
    const newcomer = other.start('early');
    other.settle();
    newcomer.propose('regrown', null, { by: 'early' }, other.nowMs);
    other.settle();
    cluster.continueOn(other);
    cluster.tellEpoch();
  },
};

describe.each(Object.entries(LOSSES))('a registry whose log is %s under running nodes', (fate, lose) => {
  // What somebody changes before the others have noticed takes places, and with them keys of the trail, a second time.
  const keepsTrail = !fate.includes('regrown');

  test('nothing answered with yes is lost, revisions rise on, a newcomer has the same groups and the same trail', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 20, max: 400 }), (seed, moves) => {
        const random = randomOf(seed);
        const cluster = new RegistryCluster(random);
        // A proposal that arrives late makes a change in the new log, as it may.
        cluster.losesAppends = false;
        for (const nodeId of NODES) cluster.start(nodeId);
        cluster.settle();
        for (let round = 0; round < 3; round++) {
          change(cluster, random, moves);
          cluster.settle();
          const before = cluster.nodes.get('a') as SimulatedRegistry;
          const [view, trail, highest] = [before.view, before.trail, highestOf(before)];
          lose(cluster, random);
          for (let at = 0; at < moves / 10; at++) cluster.move();
          cluster.settle();
          for (const node of cluster.nodes.values()) {
            expect(without(node.view, 'regrown')).toBe(without(view, 'regrown'));
            if (keepsTrail) expect(node.trail).toEqual(trail);
            expect(node.registry.epochs.lacking.size).toBe(0);
          }
          cluster.compact(Infinity);
          const newcomer = cluster.start(`newcomer ${round}`);
          cluster.settle();
          expect(newcomer.view).toBe(before.view);
          if (keepsTrail) expect(newcomer.trail).toEqual(before.trail);
          newcomer.decisions.splice(0);
          newcomer.propose('orders', null, { round }, cluster.nowMs);
          cluster.settle();
          const revision = newcomer.decisions.find(({ accepted }) => accepted)?.state.revision;
          if (revision !== undefined) expect(revision).toBeGreaterThan(highest);
          for (const node of cluster.nodes.values()) expect(node.view).toBe(newcomer.view);
        }
      }),
      runs(20),
    );
  });

  test('a yes is kept by the node that gave it, although no other has read it', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = randomOf(seed);
        const cluster = new RegistryCluster(random);
        for (const nodeId of NODES) cluster.start(nodeId);
        cluster.settle();
        const answers = new Map<string, number>();
        for (let round = 0; round < 4; round++) {
          for (let at = 0; at < 60; at++) {
            const node = cluster.nodes.get(NODES[Math.floor(random() * 3)]) as SimulatedRegistry;
            if (random() < 0.3) node.propose('orders', node.registry.stateOf('orders').revision, { at }, cluster.nowMs);
            cluster.move();
            note(cluster, answers);
          }
          // Wherever everybody is.
          lose(cluster, random);
        }
        cluster.settle();
        note(cluster, answers);
        const views = new Set(Array.from(cluster.nodes.values(), ({ view }) => view));
        expect(views.size).toBe(1);
        const now = cluster.nodes.get('a')?.registry.stateOf('orders').revision ?? 0;
        expect(now).toBeGreaterThanOrEqual(answers.get('orders') ?? 0);
      }),
      // The first one: a node answered when the append of the state had failed, and another one took the change back.
      { ...runs(60), examples: [[1373604570]] },
    );
  });
});

test('revisions of the log before are never given again, and old ones never fit', () => {
  const cluster = new RegistryCluster(() => 0.5);
  const node = cluster.start('node');
  cluster.settle();
  for (let n = 0; n < 3; n++) node.propose('gold', null, { n }, cluster.nowMs);
  cluster.settle();
  const old = node.registry.stateOf('gold');
  cluster.truncate(cluster.first);
  cluster.settle();
  expect(node.registry.stateOf('gold')).toEqual(old);
  node.decisions.splice(0);
  node.propose('gold', old.revision, { n: 'by the old revision' }, cluster.nowMs);
  cluster.settle();
  const [decision] = node.decisions;
  expect(decision?.accepted).toBe(true);
  expect(decision?.state.revision).toBeGreaterThan(old.revision + UNREAD_MAX);
  expect(Number.isSafeInteger(2 * BASE_MAX - 1)).toBe(true);
});

function change(cluster: RegistryCluster, random: () => number, moves: number): void {
  const nodes = [...cluster.nodes.values()];
  for (let at = 0; at < moves; at++) {
    const node = nodes[Math.floor(random() * nodes.length)];
    const group = GROUPS[Math.floor(random() * GROUPS.length)];
    const definition = random() < 0.2 ? null : group.startsWith('/') ? { group: 'orders' } : { n: at };
    const expected = random() < 0.5 ? null : node.registry.stateOf(group).revision;
    if (random() < 0.3) node.propose(group, expected, definition, cluster.nowMs, definition === null && random() < 0.5);
    cluster.move();
  }
}

function note(cluster: RegistryCluster, answers: Map<string, number>): void {
  for (const node of cluster.nodes.values()) {
    for (const { accepted, group, state } of node.decisions.splice(0)) {
      if (accepted) answers.set(group, Math.max(answers.get(group) ?? 0, state.revision));
    }
  }
}

function highestOf({ registry }: SimulatedRegistry): number {
  return Math.max(...GROUPS.map((group) => registry.stateOf(group).revision));
}

function without(view: string, group: string): string {
  return JSON.stringify((JSON.parse(view) as [string, unknown][]).filter(([name]) => name !== group));
}
