import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { World } from '../../../sim/cluster/world.js';
import type { SlotTokens } from '../../../src/core/account/slot-tokens.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { laneOf, UNLIMITED } from '../../../src/core/base/vocabulary.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { partOf } from '../seed.js';

/** Each kind of quota in worlds of few nodes and of many. */
const WORLDS = partOf(20);
const TOGETHER = 3;
const QUOTAS = [
  { perSecond: 60 / 3600, depth: 60 },
  { perSecond: 10, depth: 10 },
  { perSecond: 10, depth: 300 },
  { perSecond: 100, depth: 30 },
  { perSecond: 1000, depth: 100 },
];

/** What a node's slot of the only lane says, once the node serves it. */
function slotOf(world: World, node: string): SlotTokens {
  return world.node(node).coordinator.lanes.get(laneOf(0, 0))!.tokens!.slots[0];
}

test('nodes that ask at one instant take three depths together, or a piece each, and in pieces all of it is paid back', () => {
  let inPieces = 0;
  for (let seed = 1; seed <= WORLDS; seed++) {
    const draw = new Random(seed * 7919);
    const below = (most: number) => Math.floor(draw.next() * most);
    const { perSecond, depth } = QUOTAS[seed % QUOTAS.length];
    const nodes = Array.from({ length: 1 + below(seed % 4 === 0 ? 40 : 12) }, (_, at) => `n${at}`);
    const quota = { publish: [perSecond, Infinity] as const, dispatch: UNLIMITED };
    const group: GroupSettings = { ...GROUP, quota, burst: { ...GROUP.burst, messages: depth } };
    const world = new World(seed, { ...SETTINGS, groups: [group] }, { appendMs: [1, 3], deliveryMs: [1, 8] });
    for (const node of nodes) world.start(node);
    world.runFor(2000);
    const drained = (node: string, most: number) => {
      let got = 0;
      while (got < most && world.ask(node, laneOf(0, 0), 1, 0, false)) got++;
      return got;
    };
    const says = `seed ${seed}: ${perSecond}/s, ${depth} deep, ${nodes.length} nodes`;
    const first = nodes.map((node) => drained(node, 2 * depth));
    if (nodes.length <= TOGETHER) expect(first[0], says).toBeGreaterThanOrEqual(depth);
    const got = first.reduce((sum, each) => sum + each);
    const { isInPieces } = slotOf(world, 'n0');
    const late = isInPieces ? 0 : 0.15 * perSecond + 2 * nodes.length;
    expect(got, says).toBeLessThanOrEqual(Math.max(TOGETHER * depth, nodes.length) + late);
    world.runFor(200);
    if (!isInPieces) continue;
    inPieces++;
    expect(slotOf(world, 'n0').tokens, says).toBeLessThanOrEqual(depth - got + 0.3 * perSecond + 1e-9);
    // Whatever they ask for afterwards, now and then all at one instant.
    let excess = Math.max(0, got - 0.2 * perSecond);
    let most = got;
    for (let pulse = 0; pulse < 15; pulse++) {
      const pauseMs = [20, 20, 100, 1000, (1000 * depth) / perSecond][below(5)];
      world.runFor(Math.min(5000, pauseMs));
      excess = Math.max(0, excess - (perSecond * Math.min(5000, pauseMs)) / 1000);
      if (below(3) > 0) for (const node of nodes) excess += drained(node, 2 * depth);
      else excess += drained(nodes[below(nodes.length)], below(4));
      most = Math.max(most, excess);
    }
    expect(most, says).toBeLessThanOrEqual(Math.max(TOGETHER * depth, depth + nodes.length));
  }
  expect(inPieces).toBeGreaterThan(WORLDS / 3);
}, 60_000);
