import { hasClusterBucket } from '../../src/core/base/local-gate.js';
import { Random } from '../cluster/random.js';
import { World, type WorldSettings } from '../cluster/world.js';
import { Oracle } from '../oracle/oracle.js';
import type { Violation } from '../oracle/violation.js';
import { drawSettings, quotaOf, withBuckets, withGates, withRamps } from './draw-world.js';
import type { FaultKind } from './fault-kinds.js';
import { drawFaultKinds, injectFault } from './faults.js';
import { figuresBeyond, figuresOf, type GroupFigures } from './figures.js';
import { driveAll } from './load.js';
import { SwarmMeter } from './swarm-meter.js';

/** What a seed chose, and how it went. `problems` is empty when every promise was kept. */
export interface SwarmVerdict {
  readonly seed: number;
  readonly plan: readonly string[];
  readonly problems: readonly string[];
  /** Admitted ÷ quota over the worst 5 s: until the cluster had recovered from the last fault, and after that. */
  readonly worst: { readonly faults: number; readonly after: number };
  /** Least of admitted ÷ min(quota, arrived) after that, of the groups whose strategy aims at it. */
  readonly utilisation: number;
}

const FAULTS_FROM_MS = 3000;
const FAULTS_FOR_MS = 11_000;
/** In one of so many worlds the topic goes away after a calm that is as long as an isolated node looks back. */
const CALM_EVERY = 8;
const CALM_MS = 17_000;
const JUDGED_MS = 5500;
const CHECK_EVERY_MS = 250;
/** No world lasts longer than this: faults, the longest absence, its recovery, and the judged time. */
const END_MS_MAX = 70_000;

/**
 * A random cluster under random traffic and faults, judged by the oracle as it goes: first safety while faults happen,
 * then convergence after they have ended. The seed picks everything, also which kinds of fault there are.
 *
 * @param base settings of the nodes; its first group is the pattern of all groups
 * @param buckets whether the seed says which worlds have buckets of the cluster, too
 */
export function runSwarm(
  seed: number,
  base: WorldSettings,
  buckets: 'by-seed' | 'as-given' = 'as-given',
): SwarmVerdict {
  const random = new Random(seed);
  const drawn = withRamps(seed, drawSettings(random, buckets === 'by-seed' ? withGates(base) : base));
  const settings = buckets === 'by-seed' ? withBuckets(seed, drawn) : drawn;
  const nodes = Array.from({ length: Math.floor(random.between(2, 7)) }, (_, at) => `n${at}`);
  const kinds = drawFaultKinds(random);
  const plan = describePlan(settings, nodes, kinds);
  const world = new World(seed, settings);
  world.signingKey = 'the key of the cluster';
  const verdict = { seed, plan, problems: [] as string[], worst: { faults: 0, after: 0 }, utilisation: 1 };
  try {
    const calmMs = seed % CALM_EVERY === 0 ? CALM_MS : 0;
    return { ...verdict, ...play(world, { nodes, kinds, random, plan, calmMs }) };
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return { ...verdict, problems: [`${(world.nowMs / 1000).toFixed(3)} s the simulation threw: ${says}`] };
  }
}

interface Cast {
  readonly nodes: readonly string[];
  readonly kinds: readonly FaultKind[];
  readonly random: Random;
  /** Faults are added as they happen. */
  readonly plan: string[];
  /** How long nothing happens before the topic goes away; 0 = the world has no such calm. */
  readonly calmMs: number;
}

function play(
  world: World,
  { nodes, kinds, random, plan, calmMs }: Cast,
): Pick<SwarmVerdict, 'problems' | 'worst' | 'utilisation'> {
  const { settings } = world;
  const oracle = new Oracle(world);
  world.observer = oracle;
  for (const node of nodes) world.queue.after(random.between(0, 1500), () => world.start(node));
  const meter = new SwarmMeter(settings.groups.length, END_MS_MAX);
  driveAll(world, nodes, { meter, random, steadyFromMs: FAULTS_FROM_MS + calmMs + FAULTS_FOR_MS, untilMs: END_MS_MAX });
  const check = () => {
    oracle.check();
    world.queue.after(CHECK_EVERY_MS, check);
  };
  check();
  world.runFor(FAULTS_FROM_MS + calmMs);
  if (calmMs > 0) takeTopicAway(world, plan);
  const wholeMs = injectFaults(world, { nodes, kinds, random, plan });
  const quietMs = SwarmMeter.upwards(wholeMs + recoveryMs(settings));
  world.runFor(quietMs - world.nowMs);
  oracle.expectRecovered(nodes);
  world.runFor(JUDGED_MS);
  const { nowMs } = world;
  const { groups } = settings;
  const during = figuresOf(groups, meter, { fromMs: 0, untilMs: quietMs });
  const after = figuresOf(groups, meter, { fromMs: quietMs, untilMs: nowMs });
  const worst = { faults: worstOf(during), after: worstOf(after) };
  const utilisation = Math.min(...after.map(({ used }) => used));
  const beyond = figuresBeyond(settings, after, nodes.length).map((says) => `after the faults ${says}`);
  const problems = [...oracle.violations.first.map(described), ...beyond];
  return { problems, worst, utilisation };
}

function worstOf(figures: readonly GroupFigures[]): number {
  return Math.max(...figures.map(({ worst }) => worst));
}

/**
 * Within this after the last fault every node that is fed with records has converged again: whoever is gone has been
 * silent for one staleness, whoever was isolated has heard itself, and demands have been reported anew.
 */
export function recoveryMs({ stalenessMs, isolationAfterMs }: WorldSettings): number {
  return stalenessMs + isolationAfterMs / 2 + 2000;
}

/** Until every group of every node has noticed, and a little longer. */
function takeTopicAway(world: World, plan: string[]): void {
  const { isolationAfterMs, partitionHeartbeatMs } = world.settings;
  const { nowMs, topic } = world;
  topic.isAway = true;
  world.runFor(isolationAfterMs + partitionHeartbeatMs + 2000);
  topic.isAway = false;
  plan.push(`${(nowMs / 1000).toFixed(3)}–${(world.nowMs / 1000).toFixed(3)} s the topic is away`);
}

/** Returns when the last of them is over. */
function injectFaults(world: World, { nodes, kinds, random, plan }: Omit<Cast, 'calmMs'>): number {
  let wholeMs = 0;
  const untilMs = world.nowMs + FAULTS_FOR_MS;
  while (world.nowMs < untilMs) {
    const { atMs, endMs, says } = injectFault(world, nodes, kinds, random);
    plan.push(`${(atMs / 1000).toFixed(3)}–${(endMs / 1000).toFixed(3)} s ${says}`);
    wholeMs = Math.max(wholeMs, endMs);
    // Half of the time the next one comes before this one is over.
    const nextMs = random.next() < 0.5 ? random.between(0, 1000) : endMs - atMs + random.between(0, 2000);
    world.runFor(Math.max(20, Math.min(nextMs, untilMs - world.nowMs)));
  }
  return Math.max(world.nowMs, wholeMs);
}

function described({ atMs, promise, says }: Violation): string {
  return `${(atMs / 1000).toFixed(3)} s ${promise}: ${says}`;
}

function describePlan(settings: WorldSettings, nodes: readonly string[], kinds: readonly FaultKind[]): string[] {
  const { groups, partitions, groupsPerRecord, stalenessMs, forgetAfterMs } = settings;
  const quotas = groups
    .map((group) => `${hasClusterBucket(group) ? 'a bucket' : 'gates'} by ${group.strategy} ${quotaOf(group)}/s`)
    .join(', ');
  const ramp = groups[0]?.ramp ?? null;
  return [
    `${nodes.length} nodes, ${partitions} partitions, ${groups.length} groups, ${groupsPerRecord} per record: ${quotas}`,
    ...(ramp === null ? [] : [`all with a ramp: ${ramp.mode}, forgotten after ${ramp.timeToLiveMs} ms`]),
    `silent nodes expire after ${stalenessMs} ms and are forgotten after ${forgetAfterMs} ms`,
    `faults that exist: ${kinds.map(({ name }) => name).join(', ')}`,
  ];
}
