import type { Random } from '../cluster/random.js';
import type { World } from '../cluster/world.js';
import { FAULT_KINDS, type FaultKind } from './fault-kinds.js';

/** One thing that goes wrong, and when it is over. */
export interface Fault {
  readonly atMs: number;
  readonly endMs: number;
  readonly says: string;
}

/** The kinds of fault that exist in one world; at least one. */
export function drawFaultKinds(random: Random): readonly FaultKind[] {
  const drawn = FAULT_KINDS.filter(() => random.next() < 0.5);
  return drawn.length > 0 ? drawn : [FAULT_KINDS[Math.floor(random.between(0, FAULT_KINDS.length))]];
}

/** Draws a fault of one of the kinds and lets it happen now. */
export function injectFault(
  world: World,
  nodes: readonly string[],
  kinds: readonly FaultKind[],
  random: Random,
): Fault {
  const node = nodes[Math.floor(random.between(0, nodes.length))];
  const kind = kinds[Math.floor(random.between(0, kinds.length))];
  const atMs = world.nowMs;
  const { says, lastsMs } = kind(world, node, random);
  return { atMs, endMs: atMs + lastsMs, says };
}
