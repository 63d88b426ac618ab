import { describe, expect, test } from 'vitest';
import { MESSAGES, slotOf } from '../../../../src/core/base/vocabulary.js';
import { GROUP } from '../../../simulation/settings.js';
import { OneNode } from '../machine/one-node.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const GROUPS = NAMES.map((name) => ({ ...GROUP, name }));
/** What the log bounds in a span, and this node in a round. */
const LOOKS_MAX = 2 * 20_000;

/** A node that serves six groups which share tokens. */
function busyNode(): OneNode {
  const node = OneNode.ready({ groups: GROUPS });
  for (const at of GROUPS.keys()) node.tryAcquire(2 * at, 1);
  node.run(500, { each: () => void node.tryAcquire(0, 1) });
  node.pass(1000);
  return node;
}

/** Looks at nodes per lane, and members put in order, by so many ids that nobody knows, some per step. */
function costOf(ids: number, perStep: number, kinds: readonly ('node' | 'farewell')[] = ['node']) {
  const node = busyNode();
  const { shares, membership } = node.coordinator;
  const [looks, steps] = [shares.looks, membership.steps];
  for (let at = 0; at < ids; at += perStep) {
    const names = Array.from({ length: perStep }, (_, each) => `x-${at + each}`);
    node.read(...names.flatMap((name) => kinds.map((kind) => node.by(name, kind))));
  }
  const cost = { looks: (shares.looks - looks) / NAMES.length, steps: membership.steps - steps };
  return { ...cost, alive: membership.aliveCount };
}

describe('the work of ids that nobody knows does not grow with their number', () => {
  test.each([
    ['come', ['node'], 5001],
    ['come and go', ['node', 'farewell'], 1],
  ] as const)('5,000 that %s in one step', (_, kinds, alive) => {
    const cost = costOf(5000, 5000, kinds);
    expect(cost.alive).toBe(alive);
    // Before the bound is reached it is looked at 5,001 nodes once more, and by the step itself.
    expect(cost.looks).toBeLessThan(LOOKS_MAX + 2 * 5001);
    expect(cost.steps).toBeLessThan(LOOKS_MAX + 2 * 5001);
  });

  test.each([1000, 4000])('%d that come one by one within a round', (ids) => {
    const cost = costOf(ids, 1);
    expect(cost.alive).toBe(ids + 1);
    expect(cost.looks).toBeLessThan(LOOKS_MAX + 1000);
    expect(cost.steps).toBeLessThan(LOOKS_MAX + 1000);
  });

  test('they have their parts a round later', () => {
    const node = busyNode();
    for (let at = 0; at < 500; at++) node.read(node.by(`x-${at}`, 'node'));
    node.run(2 * node.settings.sampleIntervalMs);
    const { shares, membership, nodeKey, lanes } = node.coordinator;
    const { share, count } = shares.converge(4, lanes.get(8)!);
    expect(count).toBe(501);
    expect(shares.applied[slotOf(8, MESSAGES)]).toBe(share[MESSAGES][membership.indexOf(nodeKey)]);
  });
});
