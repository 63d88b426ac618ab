import { hasClusterBucket } from '../../src/core/base/local-gate.js';
import { Random } from '../cluster/random.js';
import { World, type WorldSettings } from '../cluster/world.js';
import { Oracle } from '../oracle/oracle.js';
import { drawSettings, quotaOf, withBuckets, withGates, withRamps } from './draw-world.js';
import { drawFaultKinds, type FaultKind } from './fault-kinds.js';
import { figuresBeyond, figuresOf, type GroupFigures } from './figures.js';
import { driveAll } from './load.js';
import { SwarmMeter } from './swarm-meter.js';

/** Choices of a seed, and its run; no `problems` = all promises kept. */
export interface SwarmVerdict {
  readonly seed: number;
  readonly plan: readonly string[];
  readonly problems: readonly string[];
  /** Admitted ÷ quota over the worst 5 s, before and after recovery. */
  readonly worst: { readonly faults: number; readonly after: number };
  /** Least of admitted ÷ min(quota, arrived) after recovery. For strategies that aim at it. */
  readonly utilisation: number;
}

const FAULTS_FROM_MS = 3000;
const FAULTS_FOR_MS = 11_000;
/** Worlds of which in one the topic leaves after a calm: as long as looking back. */
const CALM_EVERY = 8;
const CALM_MS = 17_000;
const JUDGED_MS = 5500;
const CHECK_EVERY_MS = 250;
/** Milliseconds of any world: faults, absence, recovery, judged time. */
const END_MS_MAX = 70_000;

/**
 * Plays a random cluster under traffic and faults, judged by the oracle: safety first, convergence after. The seed
 * picks everything.
 *
 * @param base settings of the nodes; its first group is the pattern of all groups
 * @param buckets by-seed = the seed gives some worlds buckets of the cluster, too
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
  readonly plan: string[];
  /** Milliseconds of calm before the topic leaves; 0 = none. */
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
  const during = figuresOf(settings.groups, meter, { fromMs: 0, untilMs: quietMs });
  const after = figuresOf(settings.groups, meter, { fromMs: quietMs, untilMs: world.nowMs });
  const worst = { faults: worstOf(during), after: worstOf(after) };
  const utilisation = Math.min(...after.map(({ used }) => used));
  const beyond = figuresBeyond(settings, after, nodes.length).map((says) => `after the faults ${says}`);
  const broken = oracle.violations.first.map(({ atMs, promise, says }) => {
    return `${(atMs / 1000).toFixed(3)} s ${promise}: ${says}`;
  });
  return { problems: [...broken, ...beyond], worst, utilisation };
}

function worstOf(figures: readonly GroupFigures[]): number {
  return Math.max(...figures.map(({ worst }) => worst));
}

/** Returns milliseconds to converge after the last fault: a staleness, own links, new reports. */
function recoveryMs({ stalenessMs, isolationAfterMs }: WorldSettings): number {
  return stalenessMs + isolationAfterMs / 2 + 2000;
}

/** Takes the topic away until every node has noticed. */
function takeTopicAway(world: World, plan: string[]): void {
  const { isolationAfterMs, partitionHeartbeatMs } = world.settings;
  const { nowMs, topic } = world;
  topic.isAway = true;
  world.runFor(isolationAfterMs + partitionHeartbeatMs + 2000);
  topic.isAway = false;
  plan.push(`${(nowMs / 1000).toFixed(3)}–${(world.nowMs / 1000).toFixed(3)} s the topic is away`);
}

/** Injects faults; returns the last's end. */
function injectFaults(world: World, { nodes, kinds, random, plan }: Omit<Cast, 'calmMs'>): number {
  let wholeMs = 0;
  const untilMs = world.nowMs + FAULTS_FOR_MS;
  while (world.nowMs < untilMs) {
    const node = nodes[Math.floor(random.between(0, nodes.length))];
    const kind = kinds[Math.floor(random.between(0, kinds.length))];
    const atMs = world.nowMs;
    const { says, lastsMs } = kind(world, node, random);
    const endMs = atMs + lastsMs;
    plan.push(`${(atMs / 1000).toFixed(3)}–${(endMs / 1000).toFixed(3)} s ${says}`);
    wholeMs = Math.max(wholeMs, endMs);
    // Half of the time the next one comes before this one is over.
    const nextMs = random.next() < 0.5 ? random.between(0, 1000) : endMs - atMs + random.between(0, 2000);
    world.runFor(Math.max(20, Math.min(nextMs, untilMs - world.nowMs)));
  }
  return Math.max(world.nowMs, wholeMs);
}

function describePlan(settings: WorldSettings, nodes: readonly string[], kinds: readonly FaultKind[]): string[] {
  const { groups, partitions, groupsPerRecord, stalenessMs, forgetAfterMs } = settings;
  const quotas = groups.map((group) => {
    return `${hasClusterBucket(group) ? 'a bucket' : 'gates'} by ${group.strategy} ${quotaOf(group)}/s`;
  });
  const ramp = groups[0]?.ramp ?? null;
  return [
    `${nodes.length} nodes, ${partitions} partitions, ${groups.length} groups, ${groupsPerRecord} per record: ${quotas.join(', ')}`,
    ...(ramp === null ? [] : [`all with a ramp: ${ramp.mode}, forgotten after ${ramp.timeToLiveMs} ms`]),
    `silent nodes expire after ${stalenessMs} ms and are forgotten after ${forgetAfterMs} ms`,
    `faults that exist: ${kinds.map(({ name }) => name).join(', ')}`,
  ];
}
