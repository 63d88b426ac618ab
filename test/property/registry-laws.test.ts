import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GroupState } from '../../src/core/beside/registry/group-history.js';
import { attachmentName, type GroupDefinition } from '../../src/core/beside/registry/registry-record.js';
import { expectedView, expectTrail } from './audit-law.js';
import { randomOf } from './random-of.js';
import { RegistryCluster, type SimulatedRegistry } from './registry-cluster.js';
import { runs } from './seed.js';

const NODES = ['a', 'b', 'c'];
const GROUPS = ['orders', 'billing'];
/** Changed in batches alone. */
const BATCHED = ['gold', 'silver'];
/** What they may be attached to; `acme/orders` comes before its tenant as a name, and after it as `sameAs`. */
const SCOPES: readonly (readonly [path: string, definitions: readonly GroupDefinition[]])[] = [
  ['acme', [{ group: 'billing' }, { group: 'orders' }, { exempt: true }]],
  ['acme/orders', [{ group: 'billing' }, { sameAs: 'acme' }, { sameAs: 'acme/orders/new' }]],
  ['acme/orders/new', [{ sameAs: 'acme/orders' }, { sameAs: 'acme' }, { group: 'billing' }]],
];
/** Records of which none should be left over, but states of the groups that there are. */
const LASTING: ReadonlySet<string | undefined> = new Set(['state', 'proposal', 'batch', 'verdict']);
/** Changes that the trail keeps: some, or all that there are. */
const KEPT_CHANGES = fc.constantFrom(3, 20, 1_000_000);

describe('the laws of the registry, in virtual time', () => {
  test('whatever dies, comes late or is compacted away: one state for all, no lost update, no lost answer', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 50, max: 1500 }), KEPT_CHANGES, (seed, moves, kept) => {
        const random = randomOf(seed);
        const cluster = new RegistryCluster(random, kept);
        const answers = play(cluster, random, moves);
        cluster.settle();
        const views = [...cluster.nodes.values()].map(({ view }) => view);
        cluster.compact(Infinity);
        const newcomer = cluster.start('newcomer');
        cluster.settle();
        expect(new Set([...views, newcomer.view])).toEqual(new Set([expectedView(cluster)]));
        expectNothingLost(answers, newcomer);
        expectTrail(cluster);
        // Nothing is left over but one state per group, of deleted ones too (and what nobody counts: a barrier per node, the trail).
        cluster.compact(Infinity);
        const left = cluster.log.filter(({ record }) => LASTING.has(record?.kind));
        expect(left.length, JSON.stringify(left)).toBeLessThanOrEqual(GROUPS.length + BATCHED.length + SCOPES.length);
      }),
      runs(200),
    );
  });

  test('after every beginning of the log, however compacted: what was deleted with its attachments is gone as a whole, or there', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 50, max: 600 }), (seed, moves) => {
        const random = randomOf(seed);
        const cluster = new RegistryCluster(random);
        for (let part = 0; part < 6; part++) {
          play(cluster, random, moves / 6);
          const fork = cluster.fork();
          fork.compact(random() < 0.5 ? Infinity : fork.at(random()));
          const reader = fork.start('reader');
          fork.exchange();
          // A barrier whose append has failed is raised again.
          for (let tries = 0; !reader.registry.isReady && tries < 20; tries++) {
            fork.tick(reader);
            fork.exchange();
          }
          expect(reader.view).toBe(expectedView(fork));
        }
      }),
      runs(200),
    );
  });

  test('the states behind such a deletion come in an order that leaves no half of it', () => {
    const cluster = new RegistryCluster(() => 0.5);
    const node = cluster.start('node');
    cluster.settle();
    node.propose('gold', 0, {}, cluster.nowMs);
    node.propose('/attachment/tenant/acme', 0, { group: 'gold' }, cluster.nowMs);
    node.propose('/attachment/namespace/acme/orders', 0, { sameAs: 'acme' }, cluster.nowMs);
    cluster.settle();
    const revision = (node.registry.epochs.lastingOffsetOf(node.registry.offset) as number) + 1;
    const before = cluster.history.length;
    node.decisions.splice(0);
    node.propose('gold', null, null, cluster.nowMs, true);
    cluster.settle();
    const states = cluster.history.slice(before).flatMap(({ record }) => (record?.kind === 'state' ? [record] : []));
    expect(states.map(({ group, revision, definition }) => [group, revision, definition])).toEqual(
      ['/attachment/namespace/acme/orders', '/attachment/tenant/acme', 'gold'].map((name) => [name, revision, null]),
    );
    const [decision] = node.decisions;
    expect(decision).toMatchObject({ accepted: true, state: { revision }, change: { group: 'gold' } });
    expect(decision?.detached.map(({ group, withGroup }) => [group, withGroup])).toEqual([
      ['/attachment/tenant/acme', 'gold'],
      ['/attachment/namespace/acme/orders', 'gold'],
    ]);
  });

  test('states and audit records whose signature goes are written again, and what they say stays', () => {
    const cluster = new RegistryCluster(randomOf(3));
    cluster.losesAppends = false;
    for (const nodeId of NODES) cluster.start(nodeId);
    cluster.settle();
    const [first] = [...cluster.nodes.values()] as [SimulatedRegistry];
    for (const group of GROUPS) first.propose(group, null, { n: 1 }, cluster.nowMs);
    cluster.settle();
    cluster.compact(Infinity);
    const signedBefore = cluster.log.map((record) => ({ ...record, isToRenew: true as const }));
    cluster.log.splice(0, cluster.log.length, ...signedBefore);
    const before = cluster.start('newcomer');
    cluster.settle();
    cluster.compact(Infinity);
    const states = cluster.log.filter(({ record }) => record?.kind === 'state');
    expect(states.map(({ record, isToRenew }) => [record?.kind === 'state' && record.group, isToRenew]).sort()).toEqual(
      [...GROUPS].sort().map((group) => [group, undefined]),
    );
    const audits = cluster.log.filter(({ record }) => record?.kind === 'audit');
    expect(audits).toHaveLength(GROUPS.length);
    expect(audits.filter(({ isToRenew }) => isToRenew)).toEqual([]);
    expect(before.view).toBe(first.view);
    expect(Object.keys(JSON.parse(before.view))).toHaveLength(GROUPS.length);
  });

  test('1,000 conflicting updates with the revision they were made from: each counts once, everywhere', () => {
    const random = randomOf(7);
    const cluster = new RegistryCluster(random);
    for (const nodeId of NODES) cluster.start(nodeId);
    cluster.settle();
    const nodes = [...cluster.nodes.values()];
    let done = 0;
    for (let tries = 0; done < 1000; tries += 30) {
      expect(tries).toBeLessThan(60_000);
      // Ten at once at every node, all made from what it has read.
      for (const node of nodes) for (let at = 0; at < 10; at++) increment(node, 'counter', cluster.nowMs);
      cluster.exchange();
      if (tries % 3000 === 0) cluster.compact(Infinity);
      for (const node of nodes) {
        cluster.nowMs += 1000;
        node.step({ kind: 'tick' }, cluster.nowMs);
        for (const { accepted } of node.decisions.splice(0)) if (accepted) done++;
      }
    }
    cluster.settle();
    // Some are answered only now.
    for (const node of nodes) done += node.decisions.filter(({ accepted }) => accepted).length;
    const counts = new Set(nodes.map((node) => countOf(node.registry.stateOf('counter'))));
    expect(counts.size).toBe(1);
    // Appends fail at random here: what was not answered may have been done all the same.
    expect([...counts][0]).toBeGreaterThanOrEqual(done);
    expect([...counts][0]).toBeLessThan(1.2 * done);
  });

  test('of two proposals that expect the same, the log takes the first, and its revision is its lasting offset + 1', () => {
    const cluster = new RegistryCluster(() => 0.5);
    const [first, second] = [cluster.start('first'), cluster.start('second')];
    cluster.settle();
    const at = first.registry.epochs.lastingOffsetOf(first.registry.offset) as number;
    first.propose('orders', 0, { n: 1 }, cluster.nowMs);
    second.propose('orders', 0, { n: 2 }, cluster.nowMs);
    cluster.settle();
    const winner = { revision: at + 1, definition: { n: 1 } };
    expect(first.decisions).toMatchObject([{ accepted: true, state: winner }]);
    expect(second.decisions).toMatchObject([{ accepted: false, state: winner }]);
    expect(second.registry.stateOf('orders')).toEqual(winner);
  });
});

interface Answer {
  readonly group: string;
  readonly state: GroupState;
}

/** Nodes come, change groups, die; returns what was answered with yes. */
function play(cluster: RegistryCluster, random: () => number, moves: number): Answer[] {
  const answers: Answer[] = [];
  for (const nodeId of NODES) cluster.start(nodeId);
  for (let move = 0; move < moves; move++) {
    const nodeId = NODES[Math.floor(random() * NODES.length)];
    const node = cluster.nodes.get(nodeId);
    const kind = random();
    if (node === undefined) {
      if (kind < 0.05) cluster.start(nodeId);
    } else {
      if (kind < 0.01) cluster.kill(nodeId);
      else if (kind < 0.2 && node.registry.isReady) change(node, random, cluster.nowMs);
      else if (kind < 0.21) cluster.tick(node);
      for (const { accepted, group, state } of node.decisions.splice(0)) if (accepted) answers.push({ group, state });
      for (const { accepted, changes } of node.batchDecisions.splice(0)) {
        for (const { group, revision, after } of accepted ? changes : []) {
          answers.push({ group, state: { revision, definition: after } });
        }
      }
    }
    cluster.move();
  }
  for (const nodeId of NODES) if (!cluster.nodes.has(nodeId)) cluster.start(nodeId);
  return answers;
}

function change(node: SimulatedRegistry, random: () => number, nowMs: number): void {
  const group = GROUPS[Math.floor(random() * GROUPS.length)];
  if (random() < 0.25) changeMany(node, random, nowMs);
  else if (random() < 0.4) attach(node, random, nowMs);
  else if (group === 'orders') increment(node, group, nowMs);
  else
    node.propose(
      group,
      random() < 0.5 ? null : node.registry.stateOf(group).revision,
      ...deletionOr({}, random, nowMs),
    );
}

/** A deletion detaches as often as not. */
function deletionOr(definition: GroupDefinition, random: () => number, nowMs: number) {
  const wanted = random() < 0.4 ? null : definition;
  return [wanted, nowMs, wanted === null && random() < 0.7] as const;
}

function attach(node: SimulatedRegistry, random: () => number, nowMs: number): void {
  const [path, definitions] = SCOPES[Math.floor(random() * SCOPES.length)];
  const definition = definitions[Math.floor(random() * definitions.length)];
  node.propose(attachmentName(path), null, random() < 0.2 ? null : definition, nowMs);
}

/** Some groups at once; `orders` is counted up as ever. Definitions are long or short, so that there are several parts. */
function changeMany(node: SimulatedRegistry, random: () => number, nowMs: number): void {
  const note = random() < 0.3 ? 'x'.repeat(6000) : '';
  const entries = [...GROUPS, ...BATCHED].flatMap((group) => {
    const { revision, definition } = node.registry.stateOf(group);
    const seen = definition === null ? 0 : revision;
    if (group === 'orders') {
      const counted = { n: countOf(node.registry.stateOf(group)) + 1, note };
      return random() < 0.5 ? [{ group, expected: revision, definition: counted }] : [];
    }
    return random() < 0.7 ? [{ group, expected: random() < 0.5 ? null : seen, definition: { note } }] : [];
  });
  if (entries.length > 0) node.proposeBatch(entries, nowMs);
}

function increment(node: SimulatedRegistry, group: string, nowMs: number): void {
  const state = node.registry.stateOf(group);
  node.propose(group, state.revision, { n: countOf(state) + 1 }, nowMs);
}

function countOf({ definition }: GroupState): number {
  return (definition?.n as number | undefined) ?? 0;
}

/** `orders` is only ever counted up from what was read: every answer is another number, and none is above the end. */
function expectNothingLost(answers: readonly Answer[], { registry }: SimulatedRegistry): void {
  const counts = answers.filter(({ group }) => group === 'orders').map(({ state }) => countOf(state));
  expect(new Set(counts).size).toBe(counts.length);
  for (const count of counts) expect(count).toBeLessThanOrEqual(countOf(registry.stateOf('orders')));
  for (const { group, state } of answers) {
    const now = registry.stateOf(group);
    // Deleted groups are forgotten in the end; whatever came after has a higher revision.
    if (now.revision !== 0) expect(now.revision).toBeGreaterThanOrEqual(state.revision);
  }
}
