import { laneOf } from '../../src/core/base/vocabulary.js';
import type { Random } from '../cluster/random.js';
import type { World } from '../cluster/world.js';
import { playStream } from '../load/play-arrivals.js';
import { quotaOf } from './draw-world.js';
import type { SwarmMeter } from './swarm-meter.js';

interface Stage {
  readonly meter: SwarmMeter;
  readonly random: Random;
  /** Time from which rates stay. */
  readonly steadyFromMs: number;
  readonly untilMs: number;
}

const PIECE = { messages: 1, leastBytes: 0, mostBytes: 0 };

/** Drives nodes and groups with demand that changes every few seconds. */
export function driveAll(world: World, nodes: readonly string[], stage: Stage): void {
  world.settings.groups.forEach((group, at) => {
    const equalShare = quotaOf(group) / nodes.length;
    nodes.forEach((name, node) => {
      drive(world, { name, node, group: at, equalShare }, stage);
    });
  });
}

function drive(
  world: World,
  { name, node, group, equalShare }: { name: string; node: number; group: number; equalShare: number },
  { meter, random, steadyFromMs, untilMs }: Stage,
): void {
  const everyMs = random.between(1500, 6000);
  const atMs = Array.from({ length: Math.ceil(steadyFromMs / everyMs) }, (_, step) => step * everyMs);
  const rate = atMs.map(() => drawRate(random, equalShare));
  const lane = laneOf(group, 0);
  playStream(
    {
      id: `group ${group} ${name}`,
      node,
      evenly: false,
      size: 1,
      piece: PIECE,
      retries: 0,
      retryAfterMs: 0,
      reader: null,
      profile: { atMs: [...atMs, untilMs], rate: [...rate, 0] },
    },
    {
      queue: world.queue,
      seed: Math.floor(random.next() * 0x100000000),
      arrive: () => {
        const isAdmitted = world.ask(name, lane, 1, 0, false);
        meter.asked(group, world.nowMs, isAdmitted);
        return isAdmitted;
      },
    },
  );
}

/** Draws a demand: none, below an equal share, or above. */
function drawRate(random: Random, equalShare: number): number {
  const kind = random.next();
  if (kind < 0.3) return 0;
  if (kind < 0.65) return random.between(0.05, 0.8) * equalShare;
  return random.between(0.8, 3) * equalShare;
}
