import type { SimulatedNode } from '../../sim/cluster/simulated-node.js';
import { World, type WorldSettings } from '../../sim/cluster/world.js';
import { MESSAGES, slotOf } from '../../src/core/base/vocabulary.js';

/** Starts nodes, which are ready after 100 ms. */
export function readyCluster(seed: number, nodes: readonly string[], settings: WorldSettings): World {
  const world = new World(seed, settings);
  for (const node of nodes) world.start(node);
  world.runFor(100);
  return world;
}

/** Messages per second of its share; 0 = it decides nothing. */
export function appliedOf({ coordinator }: SimulatedNode, lane = 0): number {
  if (!coordinator.isReady || !coordinator.lanes.has(lane)) return 0;
  return coordinator.shares.applied[slotOf(lane, MESSAGES)];
}

/** Whom it takes for alive. */
export function membersOf({ coordinator }: SimulatedNode): string[] {
  return coordinator.membership.alive.map(({ nodeId }) => nodeId).sort();
}
