/**
 * `npm run bench:convergence`: max-min for 10,000 groups × 100 nodes on one core. From scratch (every share computed again, as after a
 * join), bare and through usage map and share book; incrementally, by records that change 1, 6 and 60 groups; and what it allocates.
 * CPU time, not wall time, so that a busy machine disturbs less. Kinds take turns; min / median / max.
 */
import { STRATEGIES } from '../src/core/convergence/registry.js';
import { createRound, type Strategy } from '../src/core/convergence/strategy.js';
import type { LaneState } from '../src/core/lane-state.js';
import { LaneTable } from '../src/core/lane-table.js';
import type { ReportRow } from '../src/core/report/record.js';
import { ShareBook } from '../src/core/share/share-book.js';
import { LogTime } from '../src/core/topic/log-time.js';
import { type Member, Membership } from '../src/core/usage-map/membership.js';
import { UsageMap } from '../src/core/usage-map/usage-map.js';
import { DIRECTION_COUNT } from '../src/core/vocabulary.js';
import { createRandom } from './scale/random.js';
import { scaleConfig } from './scale/scale-config.js';

const GROUPS = 10_000;
const NODES = 100;
const REPETITIONS = 7;
const GROUPS_PER_RECORD = 6;
const OWN = 3;

const random = createRandom(1);
const { timing, sampleIntervalMs, cluster, groups } = scaleConfig(GROUPS, {});
const settings = {
  ...timing,
  sampleIntervalMs,
  cluster,
  nodeId: 'node-3',
  version: '',
  nonce: 1,
  partitions: 1,
  groups,
};
const table = new LaneTable(settings);
const membership = new Membership(timing.stalenessMs, 1);
const usageMap = new UsageMap((mapLane) => table.markMapLane(mapLane));
const log = { membership, usageMap, logTimes: [new LogTime(timing.heartbeatMs)] };
const shares = new ShareBook(table.settings, GROUPS * DIRECTION_COUNT, log);
const members = Array.from({ length: NODES }, (_, node) => joined(node));
for (let group = 0; group < GROUPS; group++) table.serve(group * DIRECTION_COUNT, usageMap, 0);
let sequence = 1;
// From the last to the first: rows of a lane stand in order of the nodes, and a new first one is found at once.
for (const member of members.toReversed()) {
  for (let group = 0; group < GROUPS; group += GROUPS_PER_RECORD) record(member, group, GROUPS_PER_RECORD);
}
const lanes = table.ordered;
const bare = bareRounds(false);
const messagesOnly = bareRounds(true);

const kinds: Record<string, () => void> = {
  'bare strategy, messages and bytes': () => bare(),
  'bare strategy, messages only': () => messagesOnly(),
  'usage map and share book, messages and bytes': () => updateAll(lanes),
  'incrementally: 100 records of 1 group': () => changes(1),
  'incrementally: 100 records of 6 groups': () => changes(6),
  'incrementally: 100 records of 60 groups': () => changes(60),
};
const times = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
const allocated = new Map<string, number>();
for (let repetition = 0; repetition <= REPETITIONS; repetition++) {
  for (const [name, run] of Object.entries(kinds)) {
    const [heap, cpuMs] = [process.memoryUsage().heapUsed, cpuNow()];
    run();
    const tookMs = cpuNow() - cpuMs;
    // A collection in between makes the difference negative: the least bound of what was seen is kept.
    const grown = process.memoryUsage().heapUsed - heap;
    // The first repetition compiles.
    if (repetition === 0) continue;
    times.get(name)?.push(tookMs);
    if (grown >= 0) allocated.set(name, Math.min(grown, allocated.get(name) ?? Number.POSITIVE_INFINITY));
  }
}
console.log(`${GROUPS} groups × ${NODES} nodes; ms of CPU, ${REPETITIONS} times`);
for (const [name, taken] of times) {
  const sorted = taken.sort((one, other) => one - other);
  const [least, middle, most] = [sorted[0], sorted[REPETITIONS >> 1], sorted[REPETITIONS - 1]].map((ms) =>
    ms?.toFixed(1),
  );
  const bytes = allocated.get(name);
  const heap = bytes === undefined ? 'collected' : `${(bytes / 1024).toFixed(0)} KiB`;
  console.log(`${name.padEnd(46)} min ${least}, median ${middle}, max ${most}; heap grew by ${heap}`);
}

function joined(node: number): Member {
  const member = membership.memberOf({ nodeKey: node * 1e9 + 5, incarnation: 65_536, sequence: 1 }, 0);
  membership.join(member, `node-${node}`, '', 0, 0);
  return member;
}

/** A node's record about some groups. One in ten demands ten times its usage: both dimensions are contested. */
function record(member: Member, first: number, count: number): void {
  const rows: ReportRow[] = [];
  for (let group = first; group < Math.min(GROUPS, first + count); group++) {
    const usage = random.unit() * 20;
    const demandMessages = usage * (random.unit() < 0.1 ? 10 : 1);
    rows.push({
      ...{ groupId: table.groupIdOf(group), direction: 0, topics: 0, usageMessages: usage, usageBytes: usage * 10_000 },
      ...{ demandMessages, demandBytes: usage * 10_000 * (random.unit() + 0.5), shareMessages: 10, shareBytes: 1e5 },
    });
  }
  const author = { nodeKey: member.nodeKey, incarnation: 65_536, sequence: ++sequence };
  usageMap.apply(
    0,
    `${member.slot}/${first}/${count}`,
    member,
    { kind: 'report', author, rows },
    { nowMs: 0, logMs: 0 },
  );
}

function updateAll(some: Iterable<LaneState>): void {
  for (const lane of some) shares.update(lane, OWN);
}

/** As the coordinator does it: the record marks lanes, and only these are computed. */
function changes(count: number): void {
  for (let at = 0; at < 100; at++) {
    table.dirty.clear();
    record(members[at % NODES] as Member, 0, count);
    updateAll(table.dirty);
  }
  table.dirty.clear();
}

function bareRounds(isMessagesOnly: boolean): () => void {
  const round = createRound(NODES);
  round.count = NODES;
  round.floorRatio = groups[0]?.floorRatio ?? 0;
  round.target.set([1000, isMessagesOnly ? Number.POSITIVE_INFINITY : 1e7]);
  round.weight.fill(1);
  const strategy = STRATEGIES['max-min'] as Strategy;
  const demands = Array.from({ length: 1000 }, () => {
    const usage = Array.from({ length: NODES }, () => random.unit() * 20);
    const messages = usage.map((rate) => rate * (random.unit() < 0.1 ? 10 : 1));
    return [Float64Array.from(messages), Float64Array.from(usage, (rate) => rate * 10_000 * (random.unit() + 0.5))];
  });
  return () => {
    for (let group = 0; group < GROUPS; group++) {
      demands[group % demands.length]?.forEach((column, dimension) => {
        round.demand[dimension]?.set(column);
      });
      strategy.converge(round);
    }
  };
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
