import { Random } from '../cluster/random.js';
import type { Act, ActName, Story, WrittenBucket } from './story.js';

export interface DrawOptions {
  /** Acts that the story is without. */
  readonly without?: readonly ActName[];
  /** Node-milliseconds that end a story: rounds are its cost. */
  readonly nodeMsMax?: number;
}

export function drawStory(seed: number, options: DrawOptions = {}): Story {
  const random = Random.stream(seed, 'account');
  const drawBucket = () => ({ ...pick(random, QUOTAS), isKey: random.next() < 0.5 });
  const buckets = Array.from({ length: 1 + below(random, 3) }, drawBucket);
  const nodes = 1 + below(random, random.next() < 0.8 ? 5 : NODES_MAX);
  const acts = drawActs(random, nodes, options);
  return {
    seed,
    nodes,
    partitions: 1 + below(random, PARTITIONS_MAX),
    delays: pick(random, DELAYS),
    sampleIntervalMs: pick(random, [20, 50, 50]),
    buckets,
    acts: withinTime(acts, nodes, options.nodeMsMax),
  };
}

/** Makes a seed's cluster, with acts drawn from a number each. */
export function storyOf(seed: number, numbers: readonly number[], options: DrawOptions = {}): Story {
  const story = drawStory(seed, options);
  const acts = numbers.flatMap((number) => drawAct(new Random(number), story.nodes, options));
  return { ...story, acts: withinTime(acts, story.nodes, options.nodeMsMax) };
}

/** Draws an act, and a pause. */
function drawAct(random: Random, nodes: number, options: DrawOptions): Act[] {
  const pause: Act = { act: 'pass', ms: pick(random, PAUSES_MS) };
  const { draw } = pickWeighted(random, without(HABITS, options)) as Habit;
  return [...drawn(random, draw(random), nodes, undefined), pause];
}

function without(habits: readonly Habit[], { without: acts = [] }: DrawOptions): Habit[] {
  return habits.filter(({ act }) => !acts.includes(act));
}

function drawActs(random: Random, nodes: number, options: DrawOptions): Act[] {
  // Each story has habits: a few kinds of acts, often.
  const kinds = HABITS.map((kind) => ({ ...kind, weight: kind.weight * (random.next() < 0.5 ? 0 : random.next()) }));
  const habits = without(kinds, options);
  const pauses = PAUSES_MS.filter(() => random.next() < 0.5);
  const count = ACTS_MIN + below(random, ACTS_MAX - ACTS_MIN);
  // Only many nodes owe more than four depths.
  const acts = nodes > 5 && random.next() < 0.5 ? owed(random.next()) : [];
  let drained: Drain | undefined;
  while (acts.length < count) {
    const kind = pickWeighted(random, habits);
    if (kind !== null) {
      const act = kind.draw(random);
      acts.push(...drawn(random, act, nodes, drained));
      if (act.act === 'drain') drained = act;
    }
    if (kind === null || random.next() < 0.8) acts.push({ act: 'pass', ms: pick(random, pauses) ?? 1000 });
  }
  return acts;
}

function withinTime(acts: readonly Act[], nodes: number, mostMs = NODE_MS_MAX): Act[] {
  let leftMs = mostMs;
  return acts.filter((act) => {
    const ms = msOf(act);
    if (ms * nodes > leftMs) return false;
    leftMs -= ms * nodes;
    return true;
  });
}

function msOf(act: Act): number {
  if (act.act === 'pass') return act.ms;
  if (act.act === 'cancel') return act.heldMs;
  return act.act === 'move' || act.act === 'hoard' ? act.times * act.everyMs : 0;
}

/** Draws what shows an act's effect, at times. */
function drawn(random: Random, act: Act, nodes: number, drained: Drain | undefined): Act[] {
  if (random.next() < 0.5) return [act];
  switch (act.act) {
    case 'reserve':
      return reserved(random, act);
    case 'cancel':
      return [pass(LOOKED_MS), act];
    case 'deploy':
      return random.next() < 0.3 ? spentInARow(random, nodes) : [act];
    case 'limit':
      return act.factor > 1 ? [act, pass(LOOKED_MS), drainOf(random.next(), act.bucket)] : [act];
    case 'lose-log':
      return random.next() < 0.5 ? forgotten(random) : [act, ...(drained === undefined ? [] : readAnew(drained))];
    default:
      return [act];
  }
}

/** Looks at a bucket while it is reserved, or just after. */
function reserved(random: Random, act: Extract<Act, { readonly act: 'reserve' }>): Act[] {
  const probe = { act: 'probe', of: act.of, restMs: 10_000 } as const;
  if (random.next() < 0.5)
    return act.heldMs > LOOKED_MS ? [act, pass(LOOKED_MS), { ...probe, at: act.at, isWhole: false }] : [act];
  const heldMs = pick(random, [15_000, 28_000]);
  const asks: Act[] = random.next() < 0.5 ? [] : [{ act: 'ask', at: random.next(), of: act.of, part: 0, times: 1 }];
  return [
    { ...act, part: pick(random, [0.5, 1]), heldMs, used: 0 },
    pass(LOOKED_MS),
    ...asks,
    pass(heldMs),
    { ...probe, at: random.next(), isWhole: random.next() < 0.5 },
  ];
}

/** Takes of a bucket everywhere, before all its debt is paid. */
function owed(of: number): Act[] {
  return repeated(3, [{ ...drainOf(0, of), isEverywhere: true }, pass(5500)]);
}

/** Spends a key's unpublished allowance at each node, between deploys. */
function spentInARow(random: Random, nodes: number): Act[] {
  const move: Act = { act: 'move', at: 0, of: random.next(), part: 0.98 / nodes, everyMs: 20, times: nodes };
  return repeated(6, [move, pass(1000), DEPLOY, pass(5000)]);
}

/** Loses a log that all have read, with a bucket unused. */
function forgotten(random: Random): Act[] {
  const drained = drainOf(random.next(), random.next());
  return [drained, pass(1000), DEPLOY, pass(LOOKED_MS), { act: 'lose-log' }, ...readAnew(drained)];
}

/** Looks at a bucket from a node with the new log alone. */
function readAnew(drained: Drain): Act[] {
  const last: Act = { ...drained, at: NEWEST, isEverywhere: false };
  return [pass(1000), { act: 'start', compacted: false }, pass(LOOKED_MS), last];
}

function drainOf(at: number, of: number): Drain {
  return { act: 'drain', at, of, isEverywhere: false, isPiecewise: true };
}

function pass(ms: number): Act {
  return { act: 'pass', ms };
}

function repeated(times: number, acts: readonly Act[]): Act[] {
  return Array.from({ length: times }, () => acts).flat();
}

type Drain = Extract<Act, { readonly act: 'drain' }>;

const DEPLOY: Act = { act: 'deploy', everyMs: 200, awayMs: 100, compacted: true };
/** Part of the members that picks the last one. */
const NEWEST = 0.999;
const LOOKED_MS = 12_000;
const NODES_MAX = 12;
const PARTITIONS_MAX = 4;
const ACTS_MIN = 5;
const ACTS_MAX = 45;
const NODE_MS_MAX = 400_000;

/** Quotas, each as in docs/guide. */
const QUOTAS: readonly Omit<WrittenBucket, 'isKey'>[] = [
  { per: 'Hour', quota: 60, burst: null },
  { per: 'Hour', quota: 600, burst: null },
  { per: 'Minute', quota: 600, burst: null },
  { per: 'Minute', quota: 600, burst: 60 },
  { per: 'Day', quota: 1000, burst: null },
  { per: 'Minute', quota: 5, burst: null },
  { per: 'Second', quota: 1, burst: 1 },
  { per: 'Second', quota: 10, burst: 10 },
  { per: 'Second', quota: 10, burst: 100 },
  { per: 'Second', quota: 1, burst: 60 },
  { per: 'Second', quota: 100, burst: null },
  { per: 'Second', quota: 100, burst: 200 },
  { per: 'Second', quota: 20, burst: 1000 },
];

const DELAYS: readonly Story['delays'][] = [
  { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
  { appendMs: [1, 3], deliveryMs: [1, 8] },
  { appendMs: [10, 25], deliveryMs: [10, 25] },
  { appendMs: [50, 100], deliveryMs: [50, 100] },
];

/** Pauses; a minute puts a lane down, hours fill every bucket. */
const PAUSES_MS = [0, 5, 20, 200, 1000, 5000, 12_000, 31_000, 62_000, 130_000, 400_000];
const HOLDS_MS = [0, 20, 500, 2000, 15_000, 28_000, 75_000, 200_000];
const NIGHTS_MS = [20_000, 600_000, 3_600_000, 30_000_000];

interface Habit {
  readonly act: ActName;
  readonly weight: number;
  readonly draw: (random: Random) => Act;
}

const asked = (random: Random) => ({ at: random.next(), of: random.next() });
const part = (random: Random) => pick(random, [0, 0, 0.05, 0.2, 0.33, 0.5, 1]);
const compacted = (random: Random) => random.next() < 0.8;
const backMs = (random: Random) => (random.next() < 0.7 ? random.next() * 3000 : null);

const HABITS: readonly Habit[] = [
  habit('ask', 4, (random) => ({ ...asked(random), part: part(random), times: 1 + below(random, 30) })),
  habit('drain', 4, (random) => ({
    ...asked(random),
    isEverywhere: random.next() < 0.4,
    isPiecewise: random.next() < 0.5,
  })),
  habit('move', 2, (random) => ({
    ...asked(random),
    part: pick(random, [0.1, 0.3, 1]),
    everyMs: pick(random, [20, 1000, 12_000, 31_000, 70_000]),
    times: 2 + below(random, 8),
  })),
  habit('wait', 2, (random) => ({ ...asked(random), part: part(random), waitMs: pick(random, [50, 2000, 20_000]) })),
  habit('reserve', 4, (random) => ({ ...asked(random), ...held(random) })),
  habit('hoard', 1, (random) => ({
    ...asked(random),
    part: pick(random, [0.3, 0.9]),
    everyMs: pick(random, [200, 1000, 5000]),
    times: 4 + below(random, 12),
  })),
  habit('cancel', 1, (random) => ({
    ...asked(random),
    part: pick(random, [0.05, 0.3, 0.9]),
    heldMs: pick(random, [20, 200, 400]),
  })),
  habit('take', 2, (random) => ({ ...asked(random), ...held(random), waitMs: pick(random, [0, 0, 3000]) })),
  habit('consume', 1, (random) => ({ ...asked(random), part: part(random) / 3, isRequested: random.next() < 0.5 })),
  habit('probe', 3, (random) => ({
    ...asked(random),
    restMs: pick(random, [10_000, 30_000]),
    isWhole: random.next() < 0.5,
  })),
  habit('start', 1, (random) => ({ compacted: compacted(random) })),
  habit('leave', 1.5, (random) => ({ at: random.next(), backMs: backMs(random), compacted: compacted(random) })),
  habit('kill', 1.5, (random) => ({ at: random.next(), backMs: backMs(random), compacted: compacted(random) })),
  habit('deploy', 1.5, (random) => ({
    everyMs: pick(random, [200, 1000, 3000, 8000]),
    awayMs: pick(random, [100, 1600, 6000]),
    compacted: compacted(random),
  })),
  habit('night', 1, (random) => ({
    ms: pick(random, NIGHTS_MS),
    isKilled: random.next() < 0.3,
    isLogLost: random.next() < 0.2,
    compacted: compacted(random),
  })),
  habit('lose-log', 0.5, () => ({})),
  habit('limit', 1, (random) => ({ bucket: random.next(), factor: pick(random, [0.1, 0.5, 2, 10]) })),
];

function held(random: Random) {
  return {
    part: pick(random, [0, 0.1, 0.3, 0.5, 1]),
    heldMs: pick(random, HOLDS_MS),
    used: pick(random, [0, 0, 0.5, 1, 1.2]),
  };
}

function habit<Name extends ActName>(
  act: Name,
  weight: number,
  draw: (random: Random) => Omit<Extract<Act, { readonly act: Name }>, 'act'>,
): Habit {
  return { act, weight, draw: (random) => ({ act, ...draw(random) }) as Act };
}

function pickWeighted(random: Random, kinds: readonly Habit[]): Habit | null {
  let left = random.next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of kinds) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  return null;
}

/** Picks an item; of an empty list none. */
function pick<Item>(random: Random, list: readonly Item[]): Item {
  return list[below(random, list.length)];
}

function below(random: Random, most: number): number {
  return Math.floor(random.next() * most);
}
