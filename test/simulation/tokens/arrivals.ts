import { Random } from '../../../sim/cluster/random.js';

/** One piece of work that comes to a node, in order of time. */
export interface TokenArrival {
  readonly atMs: number;
  readonly node: number;
}

export interface Scene {
  readonly nodes: number;
  readonly perSecond: number;
  readonly lengthMs: number;
  readonly arrivals: readonly TokenArrival[];
}

export function inOrder<Arrival extends TokenArrival>(arrivals: readonly Arrival[]): Arrival[] {
  return arrivals.toSorted((one, other) => one.atMs - other.atMs);
}

/** Requests at one instant. */
export function atOnce(atMs: number, node: number, count: number): TokenArrival[] {
  return Array.from({ length: count }, () => ({ atMs, node }));
}

export function between(arrivals: readonly TokenArrival[], fromMs: number, untilMs: number): TokenArrival[] {
  return arrivals.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
}

/**
 * Demand that moves every second as that of real services does: a random walk around `load` × the quota with spikes of
 * four times as much that last some seconds. Keys of equal weight are spread over the nodes.
 */
export function movingDemand(seed: number, nodes: number, perSecond: number, { seconds = 60, load = 1.1 } = {}): Scene {
  const random = Random.stream(seed, 'moving demand');
  const factors: number[] = [];
  let walk = 0;
  let spikeSeconds = 0;
  for (let second = 0; second < seconds; second++) {
    walk = 0.9 * walk + 0.18 * normal(random);
    if (spikeSeconds > 0) spikeSeconds--;
    else if (random.next() < 0.02) spikeSeconds = 2 + Math.floor(random.next() * 8);
    factors.push(Math.exp(walk) * (spikeSeconds > 0 ? 4 : 1));
  }
  const mean = factors.reduce((sum, factor) => sum + factor, 0) / seconds;
  const keys = nodes > 10 ? 400 : 50;
  const arrivals = factors.flatMap((factor, second) => {
    const count = Math.round((factor * load * perSecond) / mean);
    const drawn = () => ({ atMs: 1000 * (second + random.next()), node: Math.floor(random.next() * keys) % nodes });
    return inOrder(Array.from({ length: count }, drawn));
  });
  return { nodes, perSecond, lengthMs: 1000 * seconds, arrivals };
}

/** Poisson arrivals at every node, at rates that may change over time. */
export function poisson(
  seed: number,
  nodes: number,
  perSecond: number,
  seconds: number,
  rateOf: (atMs: number, node: number) => number,
): Scene {
  const random = Random.stream(seed, 'poisson');
  const arrivals: TokenArrival[] = [];
  for (let node = 0; node < nodes; node++) {
    for (let atMs = 0; atMs < 1000 * seconds; ) {
      const rate = rateOf(atMs, node);
      const gapMs = rate > 0 ? random.exponential(1000 / rate) : Infinity;
      // The rate may change before a long gap is over; a Poisson process may be drawn anew at any time.
      atMs += Math.min(gapMs, REDRAW_MS);
      if (gapMs <= REDRAW_MS && atMs < 1000 * seconds) arrivals.push({ atMs, node });
    }
  }
  return { nodes, perSecond, lengthMs: 1000 * seconds, arrivals: inOrder(arrivals) };
}

const REDRAW_MS = 10;

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(random.next() || 1e-9)) * Math.cos(2 * Math.PI * random.next());
}
