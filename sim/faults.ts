import type { Random } from './random.js';
import type { World } from './world.js';

/** One thing that goes wrong, and when it is over. */
export interface Fault {
  readonly atMs: number;
  readonly endMs: number;
  readonly says: string;
  /**
   * Whether a node may go on, unheard, with what it held: only then may two parts of the cluster spend the same quota.
   */
  readonly splits: boolean;
}

const HOUR_MS = 3_600_000;

export const LASTS_MS_MAX = 7000;

/** Its name is the name of the function. */
export type FaultKind = (world: World, node: string, random: Random, lastsMs: number) => Omit<Fault, 'atMs' | 'endMs'>;

/** What may happen to a cluster. Everything ends by itself; `lastsMs` later the world is whole again. */
const KINDS: readonly FaultKind[] = [
  function crash(world, node, random, lastsMs) {
    world.node(node).crash();
    const compacted = random.next() < 0.5;
    world.queue.after(lastsMs, () => world.start(node, { compacted }));
    return { says: `kill -9 ${node}, started again${compacted ? ' on the compacted log' : ''}`, splits: false };
  },
  function leave(world, node, _random, lastsMs) {
    world.node(node).leave();
    world.queue.after(lastsMs, () => world.start(node, { compacted: true }));
    return { says: `${node} leaves and comes back`, splits: false };
  },
  function stall(world, node, random, lastsMs) {
    world.node(node).stall(lastsMs, random.between(0, 200));
    return { says: `${node} is frozen`, splits: false };
  },
  function cutOff(world, node, random, lastsMs) {
    const fated = random.next();
    const ways = { reads: fated < 0.7, appends: fated > 0.3 };
    const cut = world.node(node);
    cut.cutOff(true, ways);
    world.queue.after(lastsMs, () => cut.cutOff(false));
    return {
      says: `${node} cannot ${[ways.reads ? 'read' : '', ways.appends ? 'append' : ''].join(' ')}`,
      splits: true,
    };
  },
  function outage(world, _node, _random, lastsMs) {
    world.topic.isAway = true;
    world.queue.after(lastsMs, () => {
      world.topic.isAway = false;
    });
    return { says: 'the topic is away', splits: false };
  },
  function badAppends(world, _node, random, lastsMs) {
    Object.assign(world.topic.faults, { lost: random.between(0, 0.2), unacknowledged: random.between(0, 0.2) });
    world.queue.after(lastsMs, () => Object.assign(world.topic.faults, { lost: 0, unacknowledged: 0 }));
    return { says: 'appends and acknowledgements get lost', splits: false };
  },
  function repeats(world, node, random) {
    world.node(node).repeatDelivery(Math.floor(random.between(1, 50)));
    return { says: `${node} is given old records again`, splits: false };
  },
  function clockJump(world, _node, random) {
    world.topic.clockOffsetMs += random.next() < 0.5 ? HOUR_MS : -HOUR_MS;
    return { says: 'the clock of the log jumps by an hour', splits: false };
  },
  function impostor(world, node) {
    world.start(node, { compacted: true });
    return { says: `a second process starts as ${node}`, splits: false };
  },
];

/** The kinds of fault that exist in one world; at least one. */
export function drawFaultKinds(random: Random): readonly FaultKind[] {
  const drawn = KINDS.filter(() => random.next() < 0.5);
  return drawn.length > 0 ? drawn : [KINDS[Math.floor(random.between(0, KINDS.length))] as FaultKind];
}

/** Draws a fault of one of the kinds and lets it happen now. */
export function injectFault(
  world: World,
  nodes: readonly string[],
  kinds: readonly FaultKind[],
  random: Random,
): Fault {
  const node = nodes[Math.floor(random.between(0, nodes.length))] as string;
  const kind = kinds[Math.floor(random.between(0, kinds.length))] as FaultKind;
  const lastsMs = random.between(200, LASTS_MS_MAX);
  const atMs = world.nowMs;
  return { atMs, endMs: atMs + lastsMs, ...kind(world, node, random, lastsMs) };
}
