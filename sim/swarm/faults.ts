import type { Random } from '../cluster/random.js';
import type { World } from '../cluster/world.js';
import { FAULT_KINDS, type FaultKind } from './fault-kinds.js';

export interface Fault {
  readonly atMs: number;
  readonly endMs: number;
  readonly says: string;
}

/** Draws a world's kinds of faults, one at least. */
export function drawFaultKinds(random: Random): readonly FaultKind[] {
  const drawn = FAULT_KINDS.filter(() => random.next() < 0.5);
  return drawn.length > 0 ? drawn : [FAULT_KINDS[Math.floor(random.between(0, FAULT_KINDS.length))]];
}

/** Draws a fault, and makes it now. */
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
