import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import type { Rates } from '../../src/core/base/vocabulary.js';
import type { WorldSettings } from '../cluster/world.js';
import { playTrace, type ReplayOptions } from '../replay/play-trace.js';
import type { TraceRun } from '../replay/trace-run.js';
import { OWN_SYSTEMS, type System, shortName } from '../systems.js';
import { busiestPerSecond, type Dimension, largestOf, leastOfOneBucket, meanPerSecond } from './one-bucket.js';
import { arrivalsOf, type RecordedWork } from './recorded-work.js';

/** Settings: the group as configured; quota and burst are sought. */
export interface RecommendOptions
  extends Pick<ReplayOptions, 'name' | 'nodes' | 'seed' | 'speed' | 'settings' | 'delays'> {
  /** Dimension of the quota; the other keeps `otherQuota`. */
  readonly of: Dimension;
  /** Units/s of recorded time; Infinity = unlimited. */
  readonly otherQuota: number;
  /** Part that may be refused, 0 … 1. */
  readonly wish: number;
  /** Returns a node's largest request, by quota per second of the nodes. */
  readonly maxRequestAt: (quota: Rates) => Rates;
  /** Called before each play. */
  readonly onPlay?: (play: RecommendPlay) => void;
}

interface PlayOptions extends RecommendOptions {
  readonly tried?: Pick<RecommendPlay, 'burst' | 'bursts'>;
}

export interface RecommendPlay {
  readonly depth: number;
  readonly perSecond: number;
  /** Number of the tried burst, from 1. */
  readonly burst: number;
  readonly bursts: number;
}

/** Least quota at which a bucket of this depth meets the wish. */
export interface FrontierPoint {
  /** Depth in units. */
  readonly depth: number;
  /** Units/s of recorded time. */
  readonly perSecond: number;
  readonly refused: number;
  /** Most of a second: quota and whole burst. */
  readonly mostPerSecond: number;
}

export interface Recommendation {
  readonly meanPerSecond: number;
  /** Mean of the most demanding key. */
  readonly busiestPerSecond: number;
  /** By rising depth, without points bettered in both. */
  readonly frontier: readonly FrontierPoint[];
  /** Point with the least second, which the protected must bear. */
  readonly best: FrontierPoint;
  /** Own strategy, unless another refuses half as much. */
  readonly strategy: string;
  /** Strategies at the best quota, least refused first. */
  readonly strategies: readonly { readonly strategy: string; readonly refused: number; readonly run: TraceRun }[];
}

/** Recommends by plays on the production core. Throws without work. */
export async function recommend(work: RecordedWork, options: RecommendOptions): Promise<Recommendation> {
  const mean = meanPerSecond(work, options.of) / options.speed;
  const busiest = busiestPerSecond(work, options.of) / options.speed;
  const points: FrontierPoint[] = [];
  const depths = depthsFor(work, options.of, busiest);
  for (const [at, depth] of depths.entries()) {
    const point = await leastQuota(work, depth, { ...options, tried: { burst: at + 1, bursts: depths.length } });
    if (point !== null && point.refused <= options.wish) points.push(point);
  }
  if (points.length === 0) {
    const reason = `no quota refuses as little as ${options.wish * 100} % of this work: some of it is refused whatever the quota is`;
    throw new QuotameshError('USAGE', { reason });
  }
  const frontier = points.filter((point) => !points.some((other) => isBetter(other, point)));
  const best = frontier.reduce((least, point) => (point.mostPerSecond < least.mostPerSecond ? point : least));
  const runs = await play(work, best, options, OWN_SYSTEMS);
  const strategies = runs
    .map((run, at) => ({ strategy: shortName(OWN_SYSTEMS[at].name), refused: refusedIn(run, options.of), run }))
    .sort((one, other) => one.refused - other.refused);
  return {
    meanPerSecond: mean,
    busiestPerSecond: busiest,
    frontier,
    best,
    strategy: chosen(strategies, options.settings),
    strategies,
  };
}

/** Chooses a strategy; a change must be worth the noise of one seed. */
function chosen(strategies: Recommendation['strategies'], { groups }: WorldSettings): string {
  const own = strategies.find(({ strategy }) => strategy === groups[0]?.strategy);
  const [least] = strategies;
  if (own === undefined || least === undefined) return least?.strategy ?? '';
  return least.refused * WORTH_IT <= own.refused && least.refused < own.refused ? least.strategy : own.strategy;
}

const WORTH_IT = 2;

/** Lists depths in doubling steps, up to a minute of the mean. */
function depthsFor(work: RecordedWork, of: Dimension, mean: number): readonly number[] {
  const least = Math.max(of === 0 ? LEAST_BURST : 1, largestOf(work, of));
  const depths = BURST_SECONDS.map((seconds) => Math.max(least, roundedUp(seconds * mean, 2)));
  return [...new Set(depths)].sort((one, other) => one - other);
}

/** Bursts to try, in seconds of the mean rate. */
const BURST_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 20, 60];
/** Least burst of any group (docs/guide/tokens.md). */
const LEAST_BURST = 10;

/** Finds the least quota, from one bucket's guess upwards; null = this depth meets no wish. */
async function leastQuota(work: RecordedWork, depth: number, options: PlayOptions): Promise<FrontierPoint | null> {
  const guess = leastOfOneBucket(work, options.of, depth, options.wish);
  if (guess === null) return null;
  const refusedAt = (perSecond: number) => refusedByCluster(work, { depth, perSecond }, options);
  let low = guess / options.speed;
  let high = roundedUp(low, DIGITS);
  let refused = await refusedAt(high);
  for (let rise = 0; refused > options.wish && rise < RISES_MAX; rise++) {
    low = high;
    high = roundedUp(high * (1 + Math.min(LAST_STEP, FIRST_STEP * 2 ** rise)), DIGITS);
    refused = await refusedAt(high);
  }
  while (high / low > 1 + PRECISION) {
    const middle = roundedUp((low + high) / 2, DIGITS);
    if (middle >= high) break;
    const between = await refusedAt(middle);
    if (between <= options.wish) [high, refused] = [middle, between];
    else low = middle;
  }
  return { depth, perSecond: high, refused, mostPerSecond: high + depth };
}

/** Returns the part that a simulated cluster refuses. */
export async function refusedByCluster(
  work: RecordedWork,
  { depth, perSecond }: Pick<FrontierPoint, 'depth' | 'perSecond'>,
  options: PlayOptions,
): Promise<number> {
  options.onPlay?.({ depth, perSecond, ...(options.tried ?? { burst: 1, bursts: 1 }) });
  const system = OWN_SYSTEMS.find(({ name }) => shortName(name) === options.settings.groups[0]?.strategy) as System;
  const [run] = await play(work, { depth, perSecond }, options, [system]);
  return refusedIn(run, options.of);
}

/** Part by which a lower quota is known too low; halving is another play. */
const PRECISION = 0.02;
/** First step, doubled each time: 0.5 %, 1 %, … 64 %; together × 60. */
const FIRST_STEP = 0.005;
const LAST_STEP = 0.64;
const RISES_MAX = 14;
/** Digits of a quota that somebody types. */
const DIGITS = 3;

function play(
  work: RecordedWork,
  { depth, perSecond }: Pick<FrontierPoint, 'depth' | 'perSecond'>,
  options: RecommendOptions,
  systems: readonly System[],
): Promise<TraceRun[]> {
  const { of, otherQuota, speed, settings, nodes, seed, name, delays, maxRequestAt } = options;
  const quota = of === 0 ? ([perSecond, otherQuota] as const) : ([otherQuota, perSecond] as const);
  const groups = settings.groups.map((group) => withBurst(group, of, depth));
  return playTrace(arrivalsOf(work), {
    name,
    systems,
    nodes,
    seed,
    quota,
    speed,
    isPerKey: work.keys.length > 1,
    settings: { ...settings, groups },
    maxRequest: maxRequestAt([quota[0] * speed, quota[1] * speed]),
    ...(delays && { delays }),
  });
}

function withBurst(group: GroupSettings, of: Dimension, depth: number): GroupSettings {
  const { ofQuota: _, ...written } = group.burst;
  return { ...group, burst: of === 0 ? { ...written, messages: depth } : { ...written, bytes: depth } };
}

function refusedIn(run: TraceRun, of: Dimension): number {
  const [offered, admitted] = of === 0 ? [run.offered, run.admitted] : [run.offeredBytes, run.admittedBytes];
  return offered === 0 ? 0 : (offered - admitted) / offered;
}

function isBetter(one: FrontierPoint, other: FrontierPoint): boolean {
  if (one === other) return false;
  const isNoWorse = one.depth <= other.depth && one.perSecond <= other.perSecond;
  return isNoWorse && (one.depth < other.depth || one.perSecond < other.perSecond);
}

/** Rounds up to so many digits. */
export function roundedUp(value: number, digits: number): number {
  if (value <= 0) return 0;
  const unit = 10 ** (Math.floor(Math.log10(value)) - digits + 1);
  // Twelve digits first: 3.1 / 0.1 is a little more than 31.
  return Number((Math.ceil(Number((value / unit).toPrecision(12))) * unit).toPrecision(12));
}
