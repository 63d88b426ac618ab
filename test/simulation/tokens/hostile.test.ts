import { expect, test } from 'vitest';
import { Random } from '../../../sim/cluster/random.js';
import type { World } from '../../../sim/cluster/world.js';
import { groupIdOf, incarnationOf, nodeKeyOf } from '../../../src/core/base/ids.js';
import {
  NOTHING_REPORTED,
  nodeRecordKey,
  type ReportRow,
  reportRecordKey,
} from '../../../src/core/base/protocol/record.js';
import { someOf } from '../../property/seed.js';
import { GROUP, SETTINGS } from '../settings.js';
import { inOrder, type Scene } from './arrivals.js';
import { mostIn, play } from './play.js';

const PER_SECOND = 1000;
const DEPTH = 100;
const NODES = 3;
const LENGTH_MS = 6000;
const HOSTILE = nodeKeyOf(SETTINGS.cluster, 'hostile');

/** What a hostile node says next: its charge, and what it claims to want, units per second. */
type Lie = (at: number, random: Random) => readonly [charge: number, demand: number];

const LIES: Readonly<Record<string, Lie>> = {
  'a charge that falls by a depth with every record': (at) => [-DEPTH * at, 0],
  'one that falls without end, beside a demand without end': (at) => [-1e6 * at, 1e6],
  'a debt, and all of it back': (at) => [at % 2 === 0 ? 1e6 : 3, 0],
  'a debt and back, a depth at a time': (at) => [at % 2 === 0 ? DEPTH : 0, 0],
  'a debt to the floor that comes back in parts': (at) => [at % 12 === 0 ? 2000 : 2000 - 100 * (at % 12), 300],
  'anything at all': (_, random) => [random.between(-1e4, 1e4), random.next() < 0.5 ? 0 : random.between(0, 3000)],
  'a demand, of which it takes nothing': (at) => [-at, 500],
};

/** Writes what a node writes that is a member, every `everyMs`. */
function haveWritten(world: World, lie: Lie, everyMs: number): void {
  const { topic } = world;
  const listener = { onEpoch: () => {}, onRecords: () => {}, onCaughtUp: () => {} };
  const connection = topic.connect(listener, false);
  const random = Random.stream(1, 'lies');
  let sequence = 0;
  let at = 0;
  const author = () => ({ nodeKey: HOSTILE, incarnation: incarnationOf(1, 7), sequence: ++sequence });
  const beat = () => {
    const record = { kind: 'node', author: author(), nodeId: 'hostile', version: 'test' } as const;
    topic.append(connection, [{ partition: 0, key: nodeRecordKey(HOSTILE), record }], () => {});
    world.queue.after(500, beat);
  };
  const report = () => {
    const [charge, demand] = lie(++at, random);
    const rates = { ...NOTHING_REPORTED, usageMessages: demand, demandMessages: demand };
    const groupId = groupIdOf(SETTINGS.cluster, GROUP.name);
    const row: ReportRow = { ...rates, groupId, direction: 0, charge: [charge, 0] };
    const record = { kind: 'report', author: author(), rows: [row] } as const;
    topic.append(connection, [{ partition: 0, key: reportRecordKey(HOSTILE, 0), record }], () => {});
    world.queue.after(everyMs, report);
  };
  world.queue.after(20, beat);
  world.queue.after(40, report);
}

/** All three nodes are asked for twice their part, or one of them for nearly all. */
function demand(rates: readonly number[]): Scene {
  const arrivals = rates.flatMap((rate, node) =>
    Array.from({ length: (rate * LENGTH_MS) / 1000 }, (_, at) => ({ atMs: (1000 * at) / rate, node })),
  );
  return { nodes: NODES, perSecond: PER_SECOND, lengthMs: LENGTH_MS, arrivals: inOrder(arrivals) };
}

const BURST = { burst: { messages: DEPTH, bytes: null, policy: 'optimistic' } } as const;

const WAYS = [
  { everyMs: 5, deliveryMs: 5, rates: [700, 700, 700] },
  { everyMs: 20, deliveryMs: 50, rates: [700, 700, 700] },
  { everyMs: 20, deliveryMs: 5, rates: [1900, 40, 40] },
];
const PLAYED = Object.entries(LIES).flatMap(([says, lie], at) =>
  // Each third has every lie, in another way.
  WAYS.map((_, turn) => ({ says, lie, ...WAYS[(at + turn) % 3] })),
);

test.each(someOf(PLAYED))(
  '$says, every $everyMs ms, delivery in $deliveryMs ms, demand $rates: the others keep the target',
  (given) => {
    const { lie, everyMs, deliveryMs, rates } = given;
    const prepare = (world: World) => haveWritten(world, lie, everyMs);
    const { admitted } = play(demand(rates), { deliveryMs, group: BURST, prepare });
    for (const seconds of [1, 5]) {
      // Three depths are what a full bucket may give in any case (docs/guide/tokens.md), one is the hostile node's.
      const most = PER_SECOND * seconds + 4 * DEPTH;
      expect(mostIn(admitted, 1000 * seconds), `in ${seconds} s`).toBeLessThanOrEqual(most);
    }
  },
);
