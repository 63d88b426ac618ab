import type { Random } from '../../../sim/cluster/random.js';
import { backendIdOf } from '../../../src/core/base/ids.js';
import { type GroupSettings, RAMP_MODES } from '../../../src/core/base/settings.js';
import { laneOf, MESSAGES } from '../../../src/core/base/vocabulary.js';
import { RAMP } from '../../simulation/settings.js';
import type { MovingTargets } from './random-world.js';

const BACKENDS = ['db-1', 'db-2', 'db-3'];

/** Every group has a ramp of some mode, most with a burst of their own. */
export const RAMPS: MovingTargets = {
  groupOf(group, draw) {
    const messages = group.quota.publish[MESSAGES];
    const mode = RAMP_MODES[Math.floor(draw.next() * RAMP_MODES.length)];
    const fromPerSecond = messages * draw.between(0.02, 0.5);
    const overMs = draw.between(1000, 20_000);
    // Some ramps are forgotten while the group rests.
    const timeToLiveMs = draw.next() < 0.5 ? 4000 : 30_000;
    const ramp = { ...RAMP, mode, fromPerSecond, toPerSecond: null, overMs, timeToLiveMs };
    const burst = { ...group.burst, messages: draw.next() < 0.5 ? null : Math.ceil(messages * draw.between(0.05, 2)) };
    return { ...group, ramp, burst };
  },
  happen() {},
  compacts: true,
};

/** Costs of the work are reported, and backends fill up and recover: the targets follow. */
export const BACKENDS_AND_COSTS: MovingTargets = {
  groupOf(group, draw) {
    if (draw.next() < 0.5) return group;
    const total = group.quota.publish[MESSAGES] * draw.between(1, 8);
    const reserved = draw.next() < 0.5 ? 0 : total * draw.between(0, 0.5);
    return { ...group, cost: { ...group.cost, publish: { total, reserved } } };
  },
  happen(world, draw) {
    for (const node of world.nodes.values()) {
      if (!node.isRunning || !node.coordinator.isReady) continue;
      world.settings.groups.forEach((_, group) => {
        const lane = laneOf(group, 0);
        if (draw.next() < 0.5 || !node.coordinator.lanes.has(lane)) return;
        const backend = backendIdOf(world.settings.cluster, nameOf(draw));
        const pieces = Math.ceil(draw.between(0, 40));
        node.coordinator.costs.report(lane, backend, pieces * draw.between(0.1, 9), pieces, node.nowMs);
      });
      if (draw.next() > 0.1) continue;
      const health = { kind: 'level', level: draw.between(0, 1.2), target: 0.8, spring: 0.2 } as const;
      node.step({ kind: 'backend-reported', backend: nameOf(draw), zone: 'z', health });
    }
  },
  compacts: false,
};

/** Both at once, in every group. */
export const ALL_OF_IT: MovingTargets = {
  groupOf: (group, draw): GroupSettings => BACKENDS_AND_COSTS.groupOf(RAMPS.groupOf(group, draw), draw),
  happen: BACKENDS_AND_COSTS.happen,
  compacts: false,
};

function nameOf(draw: Random): string {
  return BACKENDS[Math.floor(draw.next() * BACKENDS.length)];
}
