import type { GroupSettings } from '../src/core/settings.js';
import { laneOf, MESSAGES, slotOf } from '../src/core/vocabulary.js';
import { type Fault, injectFault } from './faults.js';
import { worstWindow } from './measure.js';
import { Random } from './random.js';
import { World, type WorldSettings } from './world.js';

/** What a seed chose, and how it went. `problems` is empty when every promise was kept. */
export interface SwarmVerdict {
  readonly seed: number;
  readonly plan: readonly string[];
  readonly problems: readonly string[];
  /**
   * Admitted ÷ quota over the worst 5 s, while the cluster was whole, while a part of it was cut off, and after the
   * last fault.
   */
  readonly worst: { readonly whole: number; readonly split: number; readonly after: number };
  readonly utilisation: number;
}

const FAULTS_FROM_MS = 4000;
const FAULTS_UNTIL_MS = 26_000;
/** The last fault ends 12 s later; then staleness + 1 s until the dead are expired, and some seconds to settle. */
const QUIET_FROM_MS = 48_000;
const END_MS = 56_000;
const WINDOW_MS = 5000;
/** A split is over when the node has been heard again and the others have read it. */
const SPLIT_TAIL_MS = 4000;

/**
 * Whole: noise, bursts, the allowance of a rise, and the skew of read positions. Split: one more part that may hold the
 * whole.
 */
const BOUND = { whole: 1.2, split: 2.2, after: 1.1 };
const LEAST_UTILISATION = 0.9;

/**
 * A random cluster under random traffic and faults: first safety while they happen, then liveness after they have
 * ended. The seed picks everything.
 */
export function runSwarm(seed: number, base: WorldSettings, group: GroupSettings): SwarmVerdict {
  const random = new Random(seed);
  const settings = drawSettings(random, base, group);
  const world = new World(seed, settings);
  const nodes = Array.from({ length: Math.floor(random.between(2, 9)) }, (_, at) => `n${at}`);
  for (const node of nodes) world.queue.after(random.between(0, 2000), () => world.start(node));
  driveAll(world, nodes, random);
  world.runFor(FAULTS_FROM_MS);
  const faults = injectFaults(world, nodes, random);
  world.runFor(END_MS - world.nowMs);
  const plan = describePlan(settings, nodes, faults);
  const worst = worstOf(world, faults);
  const utilisation = utilisationOf(world);
  return { seed, plan, worst, utilisation, problems: problemsOf(world, nodes, worst, utilisation) };
}

function drawSettings(random: Random, base: WorldSettings, group: GroupSettings): WorldSettings {
  const groups = Array.from({ length: Math.floor(random.between(1, 4)) }, (_, at) => {
    const quota = Math.round(random.between(200, 1500));
    const unlimited = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
    return { ...group, name: `group-${at}`, quota: { publish: [quota, unlimited[1]] as const, dispatch: unlimited } };
  });
  return { ...base, partitions: Math.floor(random.between(1, 5)), groups };
}

/** Demand of each node and group in steps of some seconds; steady from the last fault on. */
function driveAll(world: World, nodes: readonly string[], random: Random): void {
  world.settings.groups.forEach((group, at) => {
    const equalShare = group.quota.publish[MESSAGES] / nodes.length;
    for (const node of nodes) {
      const everyMs = random.between(2000, 9000);
      const steps = Array.from({ length: 15 }, () => drawRate(random, equalShare));
      const ratePerSecond = (nowMs: number) => steps[Math.floor(Math.min(nowMs, FAULTS_UNTIL_MS) / everyMs)] as number;
      world.drive({ node, lane: laneOf(at, 0), ratePerSecond });
    }
  });
}

function drawRate(random: Random, equalShare: number): number {
  const kind = random.next();
  if (kind < 0.2) return 0;
  if (kind < 0.6) return random.between(0.05, 0.8) * equalShare;
  return random.between(0.8, 4) * equalShare;
}

function injectFaults(world: World, nodes: readonly string[], random: Random): Fault[] {
  const faults: Fault[] = [];
  while (world.nowMs < FAULTS_UNTIL_MS) {
    // One at a time, now and then the next before the one before is over: but never two parts cut off at once.
    const fault = injectFault(world, nodes, random);
    faults.push(fault);
    const overlap = !fault.splits && random.next() < 0.3;
    world.runFor(overlap ? random.between(0, 1000) : fault.endMs - fault.atMs + random.between(0, 3000));
    if (fault.splits) world.runFor(SPLIT_TAIL_MS);
  }
  return faults;
}

function worstOf(world: World, faults: readonly Fault[]): SwarmVerdict['worst'] {
  const worst = { whole: 0, split: 0, after: 0 };
  for (let at = 0; at < world.settings.groups.length; at++) {
    const quota = world.settings.groups[at]?.quota.publish[MESSAGES] as number;
    const arrivals = world.arrivals.filter(({ lane }) => lane === laneOf(at, 0));
    const splits = faults
      .filter(({ splits: isSplit }) => isSplit)
      .map(({ atMs, endMs }) => [atMs, endMs + SPLIT_TAIL_MS] as const);
    for (let fromMs = 0; fromMs + WINDOW_MS <= END_MS; fromMs += 500) {
      const rate = worstWindow(arrivals, WINDOW_MS, fromMs, fromMs + WINDOW_MS) / quota;
      const isSplit = splits.some(([start, end]) => fromMs < end && fromMs + WINDOW_MS > start);
      const phase = isSplit ? 'split' : fromMs >= QUIET_FROM_MS - WINDOW_MS ? 'after' : 'whole';
      worst[phase] = Math.max(worst[phase], rate);
    }
  }
  return worst;
}

/** Least over the groups of admitted ÷ min(quota, what arrived), in the last seconds. */
function utilisationOf(world: World): number {
  const seconds = (END_MS - QUIET_FROM_MS) / 1000;
  const parts = world.settings.groups.map((group, at) => {
    const arrived = world.arrivals.filter(({ lane, atMs }) => lane === laneOf(at, 0) && atMs >= QUIET_FROM_MS);
    const owed = Math.min(group.quota.publish[MESSAGES] * seconds, arrived.length);
    return owed === 0 ? 1 : arrived.filter(({ granted }) => granted).length / owed;
  });
  return Math.min(...parts);
}

function problemsOf(
  world: World,
  nodes: readonly string[],
  worst: SwarmVerdict['worst'],
  utilisation: number,
): string[] {
  const problems: string[] = [];
  for (const phase of ['whole', 'split', 'after'] as const) {
    if (worst[phase] > BOUND[phase])
      problems.push(`${phase}: ${worst[phase].toFixed(3)} × quota over 5 s > ${BOUND[phase]}`);
  }
  if (utilisation < LEAST_UTILISATION)
    problems.push(`after the last fault only ${(100 * utilisation).toFixed(1)} % of min(quota, demand)`);
  for (const name of nodes) {
    const serving = world.serving(name);
    if (serving.length !== 1) problems.push(`${serving.length} processes serve as ${name}`);
    for (const { coordinator } of serving) {
      const members = coordinator.membership.alive.map(({ nodeId }) => nodeId).sort();
      if (!coordinator.isReady) problems.push(`${name} is ${coordinator.phase}`);
      else if (members.join() !== [...nodes].sort().join()) problems.push(`${name} sees ${members.join(' ')}`);
    }
  }
  for (let at = 0; at < world.settings.groups.length; at++) {
    const slot = slotOf(laneOf(at, 0), MESSAGES);
    const served = nodes
      .flatMap((name) => world.serving(name))
      .filter(({ coordinator }) => coordinator.lanes.has(laneOf(at, 0)));
    const sum = served.reduce((total, { coordinator }) => total + (coordinator.shares.applied[slot] as number), 0);
    const quota = world.settings.groups[at]?.quota.publish[MESSAGES] as number;
    if (sum > quota * (1 + 1e-6)) problems.push(`Σ shares of group ${at} is ${sum}, its quota ${quota}`);
  }
  return problems;
}

function describePlan(settings: WorldSettings, nodes: readonly string[], faults: readonly Fault[]): string[] {
  const quotas = settings.groups.map((group) => group.quota.publish[MESSAGES]).join(', ');
  const cluster = `${nodes.length} nodes, ${settings.partitions} partitions, quotas ${quotas}`;
  return [
    cluster,
    ...faults.map(({ atMs, endMs, says }) => `${(atMs / 1000).toFixed(1)}–${(endMs / 1000).toFixed(1)} s ${says}`),
  ];
}
