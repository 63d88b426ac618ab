import { laneOf, MESSAGES, slotOf } from '../src/core/vocabulary.js';
import { drawFaultKinds, type Fault, type FaultKind, injectFault, LASTS_MS_MAX } from './faults.js';
import { playStream } from './load/play-arrivals.js';
import { Random } from './random.js';
import { SwarmMeter } from './swarm-meter.js';
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

const FAULTS_FROM_MS = 3000;
const FAULTS_UNTIL_MS = 11_000;
/** The last fault ends 7 s later; then staleness + 1 s until the dead are expired, and some seconds to settle. */
const QUIET_FROM_MS = FAULTS_UNTIL_MS + LASTS_MS_MAX + 8500;
const END_MS = QUIET_FROM_MS + 5500;
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
 * ended. The seed picks everything, also which kinds of fault there are.
 *
 * @param base settings of the nodes; its first group is the pattern of all groups
 */
export function runSwarm(seed: number, base: WorldSettings): SwarmVerdict {
  const random = new Random(seed);
  const settings = drawSettings(random, base);
  const world = new World(seed, settings);
  const nodes = Array.from({ length: Math.floor(random.between(2, 7)) }, (_, at) => `n${at}`);
  for (const node of nodes) world.queue.after(random.between(0, 1500), () => world.start(node));
  const meter = new SwarmMeter(settings.groups.length, END_MS);
  driveAll(world, nodes, meter, random);
  world.runFor(FAULTS_FROM_MS);
  const kinds = drawFaultKinds(random);
  const faults = injectFaults(world, nodes, kinds, random);
  world.runFor(END_MS - world.nowMs);
  const plan = describePlan(settings, nodes, kinds, faults);
  const worst = worstOf(settings, meter, faults);
  const utilisation = utilisationOf(settings, meter);
  return { seed, plan, worst, utilisation, problems: problemsOf(world, nodes, worst, utilisation) };
}

function drawSettings(random: Random, base: WorldSettings): WorldSettings {
  const pattern = base.groups[0] as WorldSettings['groups'][number];
  const groups = Array.from({ length: Math.floor(random.between(1, 3.5)) }, (_, at) => {
    const quota = Math.round(random.between(100, 500));
    const unlimited = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
    // Longer than most faults, or over before they are.
    const isolation = { ...pattern.isolation, holdMs: random.next() < 0.5 ? pattern.isolation.holdMs : 2000 };
    const publish = [quota, unlimited[1]] as const;
    return { ...pattern, name: `group-${at}`, isolation, quota: { publish, dispatch: unlimited } };
  });
  return { ...base, partitions: Math.floor(random.between(1, 5)), groups };
}

/** Demand of each node and group in steps of some seconds; steady from the last fault on. */
function driveAll(world: World, nodes: readonly string[], meter: SwarmMeter, random: Random): void {
  world.settings.groups.forEach((group, at) => {
    const equalShare = group.quota.publish[MESSAGES] / nodes.length;
    const lane = laneOf(at, 0);
    for (const [node, name] of nodes.entries()) {
      const everyMs = random.between(1500, 6000);
      const atMs = Array.from({ length: Math.ceil(FAULTS_UNTIL_MS / everyMs) }, (_, step) => step * everyMs);
      const rate = atMs.map(() => drawRate(random, equalShare));
      const piece = { messages: 1, leastBytes: 0, mostBytes: 0 };
      playStream(
        {
          ...{ id: `group ${at} ${name}`, node, evenly: false, size: 1, piece, retries: 0, retryAfterMs: 0 },
          reader: null,
          profile: { atMs: [...atMs, END_MS], rate: [...rate, 0] },
        },
        {
          queue: world.queue,
          seed: Math.floor(random.next() * 0x100000000),
          ask: () => {
            const isAdmitted = world.ask(name, lane, 1, 0, false);
            meter.asked(at, world.nowMs, isAdmitted);
            return isAdmitted;
          },
        },
      );
    }
  });
}

function drawRate(random: Random, equalShare: number): number {
  const kind = random.next();
  if (kind < 0.2) return 0;
  if (kind < 0.6) return random.between(0.05, 0.8) * equalShare;
  return random.between(0.8, 4) * equalShare;
}

function injectFaults(
  world: World,
  nodes: readonly string[],
  kinds: readonly FaultKind[],
  random: Random,
): readonly Fault[] {
  const faults: Fault[] = [];
  while (world.nowMs < FAULTS_UNTIL_MS) {
    // One at a time, now and then the next before the one before is over: but never two parts cut off at once.
    const fault = injectFault(world, nodes, kinds, random);
    faults.push(fault);
    const overlap = !fault.splits && random.next() < 0.3;
    world.runFor(overlap ? random.between(0, 1000) : fault.endMs - fault.atMs + random.between(0, 2000));
    if (fault.splits) world.runFor(SPLIT_TAIL_MS);
  }
  return faults;
}

function worstOf(settings: WorldSettings, meter: SwarmMeter, faults: readonly Fault[]): SwarmVerdict['worst'] {
  const worst = { whole: 0, split: 0, after: 0 };
  const splits = faults
    .filter(({ splits: isSplit }) => isSplit)
    .map(({ atMs, endMs }) => [atMs, endMs + SPLIT_TAIL_MS] as const);
  for (const [at, group] of settings.groups.entries()) {
    const quota = (group.quota.publish[MESSAGES] * WINDOW_MS) / 1000;
    for (let fromMs = 0; fromMs + WINDOW_MS <= END_MS; fromMs += SwarmMeter.binMs) {
      const rate = meter.admitted(at, fromMs, fromMs + WINDOW_MS) / quota;
      const isSplit = splits.some(([start, end]) => fromMs < end && fromMs + WINDOW_MS > start);
      const phase = isSplit ? 'split' : fromMs >= QUIET_FROM_MS - WINDOW_MS ? 'after' : 'whole';
      worst[phase] = Math.max(worst[phase], rate);
    }
  }
  return worst;
}

/** Least over the groups of admitted ÷ min(quota, what arrived), in the last seconds. */
function utilisationOf(settings: WorldSettings, meter: SwarmMeter): number {
  const parts = settings.groups.map((group, at) => {
    const quota = (group.quota.publish[MESSAGES] * (END_MS - QUIET_FROM_MS)) / 1000;
    const owed = Math.min(quota, meter.arrived(at, QUIET_FROM_MS, END_MS));
    return owed === 0 ? 1 : meter.admitted(at, QUIET_FROM_MS, END_MS) / owed;
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

function describePlan(
  settings: WorldSettings,
  nodes: readonly string[],
  kinds: readonly FaultKind[],
  faults: readonly Fault[],
): string[] {
  const quotas = settings.groups.map((group) => group.quota.publish[MESSAGES]).join(', ');
  return [
    `${nodes.length} nodes, ${settings.partitions} partitions, quotas ${quotas}`,
    `faults that exist: ${kinds.map(({ name }) => name).join(', ')}`,
    ...faults.map(({ atMs, endMs, says }) => `${(atMs / 1000).toFixed(1)}–${(endMs / 1000).toFixed(1)} s ${says}`),
  ];
}
