import type { TopicDelays } from '../../../sim/cluster/simulated-topic.js';
import { LOCAL_KAFKA, World, type WorldSettings } from '../../../sim/cluster/world.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { GROUP, SETTINGS } from '../settings.js';
import type { Scene, TokenArrival } from './arrivals.js';

export interface Played {
  /** What was admitted, in order. */
  readonly admitted: readonly TokenArrival[];
  /** Reports per second and node. */
  readonly reportsPerSecond: number;
  readonly world: World;
}

export interface PlayOptions {
  /** Milliseconds from writing a record to reading it back. */
  readonly deliveryMs?: number;
  readonly group?: Partial<GroupSettings>;
  /** What a node's configuration says otherwise. */
  readonly ofNode?: (node: number) => Partial<GroupSettings>;
  readonly settings?: Partial<WorldSettings>;
  /** How long the cluster runs idle before. */
  readonly idleMs?: number;
  /** Called before the first arrival. */
  readonly prepare?: (world: World) => void;
  readonly onAdmitted?: (world: World, arrival: TokenArrival) => void;
  /** Messages of each arrival. */
  readonly size?: number;
}

/** Plays a scene on nodes that share the tokens of one group, lane 0. */
export function play(scene: Scene, options: PlayOptions = {}): Played {
  const { deliveryMs = 5, group = {}, ofNode, idleMs = 12_000, settings = {}, prepare, onAdmitted, size = 1 } = options;
  const { nodes, perSecond, lengthMs, arrivals } = scene;
  const half: [number, number] = [deliveryMs / 2, deliveryMs / 2];
  const shared = { ...groupOf(perSecond), ...group };
  const world = new World(1, { ...SETTINGS, ...settings, groups: [shared] }, { appendMs: half, deliveryMs: half });
  for (let node = 0; node < nodes; node++) {
    world.settings = { ...world.settings, groups: [{ ...shared, ...ofNode?.(node) }] };
    world.start(nameOf(node));
  }
  world.runFor(idleMs);
  prepare?.(world);
  const beganMs = world.nowMs;
  const admitted: TokenArrival[] = [];
  let next = 0;
  const serve = () => {
    for (; next < arrivals.length; next++) {
      const arrival = arrivals[next];
      const inMs = beganMs + arrival.atMs - world.nowMs;
      if (inMs > 1e-6) {
        world.queue.after(inMs, serve);
        return;
      }
      if (!world.ask(nameOf(arrival.node), 0, size, 0, false)) continue;
      admitted.push(arrival);
      onAdmitted?.(world, arrival);
    }
  };
  const before = reportsIn(world);
  serve();
  world.runFor(lengthMs);
  return { admitted, reportsPerSecond: ((reportsIn(world) - before) * 1000) / lengthMs / nodes, world };
}

/** A cluster of nodes that share the tokens of one group, just started. */
export function worldOfTokens(
  seed: number,
  names: readonly string[],
  perSecond: number,
  delays: TopicDelays = LOCAL_KAFKA,
): World {
  const world = new World(seed, { ...SETTINGS, groups: [groupOf(perSecond)] }, delays);
  for (const name of names) world.start(name);
  return world;
}

export const LANE = 0;

/** @param depth messages; null = the default */
export function groupOf(perSecond: number, depth: number | null = null): GroupSettings {
  const burst = { ...GROUP.burst, messages: depth };
  return { ...GROUP, quota: { ...GROUP.quota, publish: [perSecond, Infinity] }, burst };
}

export function nameOf(node: number): string {
  return `n${node}`;
}

/** Looks at a rate every 10 ms; tells what it gave from one time to another. */
export function watched(world: World, rate: () => number): (fromMs: number, toMs: number) => number {
  const everyMs = 10;
  const rates: number[] = [];
  const look = () => {
    rates.push(rate());
    world.queue.after(everyMs, look);
  };
  look();
  return (fromMs, toMs) => {
    return rates.slice(fromMs / everyMs, toMs / everyMs).reduce((sum, each) => sum + (each * everyMs) / 1000, 0);
  };
}

/** What one bucket would admit that all nodes ask, at no distance. */
export function central({ perSecond, arrivals }: Scene, depth: number, size = 1): readonly TokenArrival[] {
  let tokens = depth;
  let filledMs = 0;
  return arrivals.filter(({ atMs }) => {
    tokens = Math.min(depth, tokens + ((atMs - filledMs) * perSecond) / 1000);
    filledMs = atMs;
    if (tokens < size) return false;
    tokens -= size;
    return true;
  });
}

/** The most that was admitted in any span of this length. */
export function mostIn(admitted: readonly TokenArrival[], spanMs: number): number {
  let first = 0;
  let most = 0;
  admitted.forEach(({ atMs }, last) => {
    while (admitted[first].atMs <= atMs - spanMs) first++;
    most = Math.max(most, last - first + 1);
  });
  return most;
}

/** Jain's index of what the nodes got: 1 = all the same. */
export function jain(amounts: readonly number[]): number {
  const sum = amounts.reduce((total, amount) => total + amount, 0);
  return sum ** 2 / (amounts.length * amounts.reduce((total, amount) => total + amount * amount, 0));
}

export function perNode(admitted: readonly TokenArrival[], nodes: number): number[] {
  const counts = Array.from({ length: nodes }, () => 0);
  for (const { node } of admitted) counts[node]++;
  return counts;
}

function reportsIn(world: World): number {
  return world.topic.log.filter(({ record }) => record?.kind === 'report').length;
}
