import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import { World } from '../../../sim/cluster/world.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { laneOf, MESSAGES } from '../../../src/core/base/vocabulary.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';

const NODES = ['n0', 'n1', 'n2', 'n3'];
/** Rounding differs in some of many buckets. */
const GROUPS = 20;
const STEP_MS = 20;
const FROZEN_MS = SETTINGS.stalenessMs + 1000;

/** Returns how far a node has read, and the tokens that it holds by that. */
function seenBy({ coordinator }: ReturnType<World['node']>): { offset: number; tokens: readonly (number | null)[] } {
  const { lanes, tokens } = coordinator;
  const held = Array.from({ length: GROUPS }, (_, group) => {
    return tokens.tokensOf(lanes.get(laneOf(group, 0))!.mapLane, MESSAGES);
  });
  return { offset: coordinator.log.nextOffset(0), tokens: held };
}

test('a node that the log gave up and took back has counted the tokens as the others have, bit for bit', () => {
  const draw = new Random(7919);
  const groups = Array.from({ length: GROUPS }, (_, at): GroupSettings => {
    return { ...GROUP, name: `group-${at}`, quota: { ...GROUP.quota, publish: [100, Infinity] } };
  });
  const world = new World(1, { ...SETTINGS, groups }, { appendMs: [0.5, 2], deliveryMs: [0.5, 5] });
  const ask = (name: string, group: number) => world.ask(name, laneOf(group, 0), 1, 0, false);
  for (const name of NODES) world.start(name);
  world.runFor(1500);
  for (const name of NODES) for (let group = 0; group < GROUPS; group++) ask(name, group);
  world.runFor(3000);
  world.node('n0').stall(FROZEN_MS);
  let [givenUp, compared] = [0, 0];
  for (const untilMs = world.nowMs + FROZEN_MS + 500; world.nowMs < untilMs; world.runFor(STEP_MS)) {
    // Half of the quota: only where all demands are met is a change of members not settled.
    for (const name of NODES.slice(1)) {
      for (let group = 0; group < GROUPS; group++) {
        const clump = draw.next() < 0.1 ? Math.floor(draw.between(0, 7)) : 0;
        for (let at = 0; at < clump; at++) ask(name, group);
      }
    }
    const [own, ...others] = NODES.map((name) => seenBy(world.node(name)));
    if (world.node('n1').coordinator.membership.on(0).count < NODES.length) givenUp++;
    for (const { offset, tokens } of others) {
      if (offset !== own.offset || givenUp === 0) continue;
      compared++;
      expect(own.tokens).toEqual(tokens);
    }
  }
  expect(givenUp).toBeGreaterThan(10);
  expect(compared).toBeGreaterThan(20);
});
