import { expect, test } from 'vitest';
import { someOf } from '../../property/seed.js';
import { atOnce, inOrder, type Scene, type TokenArrival } from './arrivals.js';
import { central, mostIn, play } from './play.js';

const PER_SECOND = 1000;
/** The default of 1,000/s. */
const DEPTH = 100;
/** What any span may hold beyond its part of the quota (docs/guide/tokens.md, the rules). */
const DEPTHS = 3;
const LENGTH_MS = 8000;

/** Who asks when, in the worst rhythm for nodes that know of each other only a delivery later. */
const ADVERSARIES: readonly [name: string, nodes: number, arrive: (deliveryMs: number) => TokenArrival[]][] = [
  [
    'ten nodes that ask for a delivery, rest for one, and so on, all in phase',
    10,
    (deliveryMs) => waves(10, deliveryMs, 0),
  ],
  ['ten nodes, half of them in the pauses of the others', 10, (deliveryMs) => waves(10, deliveryMs, deliveryMs)],
  ['ten nodes that ask for two deliveries and rest for two', 10, (deliveryMs) => waves(10, 2 * deliveryMs, 0)],
  ['one node that wants twice the quota, 49 that burst just below what they would tell, ten times a second', 50, below],
  ['five nodes that want twice the quota, 45 quiet ones that burst together every second', 50, () => bursts(() => 500)],
  [
    'five nodes that want twice the quota, 45 quiet ones that burst every second, each at its own time',
    50,
    () => bursts((node) => (1000 * ((node * 0.618034) % 1)) | 0),
  ],
];

/** Missed: until a node knows how its work comes, a second or two, it tells each burst as a rate. */
const MISSED = ['five nodes that want twice the quota, 45 quiet ones that burst every second, each at its own time'];
const MISSED_USED = 0.9;

/** Four quotas while they ask. */
function waves(nodes: number, phaseMs: number, shiftMs: number): TokenArrival[] {
  const arrivals: TokenArrival[] = [];
  for (let node = 0; node < nodes; node++) {
    const shift = node % 2 === 0 ? 0 : shiftMs;
    for (let beganMs = shift; beganMs < LENGTH_MS; beganMs += 2 * phaseMs) {
      const count = Math.round((4 * PER_SECOND * phaseMs) / 1000 / nodes);
      for (let at = 0; at < count; at++) arrivals.push({ atMs: beganMs + (at * phaseMs) / count, node });
    }
  }
  return inOrder(arrivals);
}

function below(): TokenArrival[] {
  const arrivals = steady(0, 2 * PER_SECOND);
  for (let atMs = 50; atMs < LENGTH_MS; atMs += 100) {
    for (let node = 1; node < 50; node++) arrivals.push(...atOnce(atMs, node, DEPTH / 50 - 1));
  }
  return inOrder(arrivals);
}

/** Five nodes that want two quotas, and 45 that ask for 20 every second. */
function bursts(firstMsOf: (node: number) => number): TokenArrival[] {
  const arrivals = Array.from({ length: 5 }, (_, node) => steady(node, (2 * PER_SECOND) / 5)).flat();
  for (let node = 5; node < 50; node++) {
    for (let atMs = firstMsOf(node); atMs < LENGTH_MS; atMs += 1000) arrivals.push(...atOnce(atMs, node, 20));
  }
  return inOrder(arrivals);
}

function steady(node: number, perSecond: number): TokenArrival[] {
  const count = (perSecond * LENGTH_MS) / 1000;
  return Array.from({ length: count }, (_, at) => ({ atMs: (at * LENGTH_MS) / count, node }));
}

const PLAYED = ADVERSARIES.flatMap(([name, nodes, arrive]) =>
  [5, 50].map((deliveryMs) => ({ name, nodes, arrive, deliveryMs })),
);

test.each(someOf(PLAYED))(
  '$name, delivery in $deliveryMs ms: no span holds more than three depths beyond the quota',
  ({ name, nodes, arrive, deliveryMs }) => {
    const scene: Scene = { nodes, perSecond: PER_SECOND, lengthMs: LENGTH_MS, arrivals: arrive(deliveryMs) };
    const { admitted } = play(scene, { deliveryMs });
    const beside = central(scene, DEPTH);
    const [second, five] = [1000, 5000].map((spanMs) => mostIn(admitted, spanMs));
    const [centralSecond, centralFive] = [1000, 5000].map((spanMs) => mostIn(beside, spanMs));
    const used = admitted.length / Math.min(scene.arrivals.length, beside.length);
    console.log(
      `${name}, ${deliveryMs} ms: worst second ${(second / PER_SECOND).toFixed(3)} (central ` +
        `${(centralSecond / PER_SECOND).toFixed(3)}), over 5 s ${percent(five / (5 * PER_SECOND) - 1)} (central ` +
        `${percent(centralFive / (5 * PER_SECOND) - 1)}), of what a central bucket admits ${percent(used)}`,
    );
    expect(second).toBeLessThanOrEqual(PER_SECOND + DEPTHS * DEPTH);
    expect(five).toBeLessThanOrEqual(5 * PER_SECOND + DEPTHS * DEPTH);
    expect(used).toBeGreaterThanOrEqual(MISSED.includes(name) ? MISSED_USED : 0.95);
  },
);

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
