/**
 * `npm run bench:convergence`: max-min for 10,000 groups × 100 nodes on one core. From scratch (every share computed again, as
 * after a join), bare and through usage map and share book; incrementally, by records that change 1, 10 and 100 groups; and
 * what each allocates: growth of the heap after a collection, and young collections, over all rounds.
 * CPU time, not wall time, so that a busy machine disturbs less. Kinds take turns; min / median / max.
 */
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Random } from '../sim/cluster/random.js';
import type { LaneState } from '../src/core/account/lanes/lane-state.js';
import { LaneTable } from '../src/core/account/lanes/lane-table.js';
import { ShareBook } from '../src/core/account/share/share-book.js';
import { NOTHING_REPORTED, type ReportRecord, type ReportRow } from '../src/core/base/protocol/record.js';
import { DIRECTION_COUNT } from '../src/core/base/vocabulary.js';
import { STRATEGIES } from '../src/core/convergence/strategies.js';
import { createLaneView } from '../src/core/convergence/strategy.js';
import { LogTime } from '../src/core/log/log-time.js';
import { EpochWatch } from '../src/core/log/reading/epoch-watch.js';
import { TargetBook } from '../src/core/target/target-book.js';
import { type Member, Membership } from '../src/core/usage-map/membership.js';
import { AgreedPool } from '../src/core/usage-map/pool/agreed-pool.js';
import { UsageMap } from '../src/core/usage-map/usage-map.js';
import { scaleConfig } from './scale/scale-config.js';

const GROUPS = 10_000;
const NODES = 100;
const REPETITIONS = 15;
const WARM_UPS = 5;
const GROUPS_PER_RECORD = 6;
const OWN = 3;
const READ_AT = { nowMs: 0, logMs: 0, spanMs: 0, pauseMs: 0, offset: 0 };

const random = new Random(1);
const { timing, sampleIntervalMs, limiting, costs, cluster, groups } = scaleConfig(GROUPS, {});
const settings = {
  ...timing,
  sampleIntervalMs,
  cluster,
  nodeId: 'node-3',
  version: '',
  nonce: 1,
  partitions: 1,
  limiting,
  costs,
  groups,
};
const table = new LaneTable(settings);
const membership = new Membership(timing.stalenessMs, 1);
const usageMap = new UsageMap((mapLane) => table.markMapLane(mapLane), table.settings);
const epochs = new EpochWatch(settings);
const log = { membership, usageMap, logTimes: [new LogTime(timing.heartbeatMs)], pools: [new AgreedPool()], epochs };
const targets = new TargetBook(
  table.settings,
  usageMap,
  membership,
  (mapLane) => table.markMapLane(mapLane),
  (id) => table.groupOf(id),
);
const shares = new ShareBook(table.settings, GROUPS * DIRECTION_COUNT, log, targets);
const members = Array.from({ length: NODES }, (_, node) => joined(node));
for (let group = 0; group < GROUPS; group++) table.serve(group * DIRECTION_COUNT, usageMap, 0);
let sequence = 1;
let readMs = 0;
for (const member of members) {
  const firsts = Array.from({ length: Math.ceil(GROUPS / GROUPS_PER_RECORD) }, (_, at) => at * GROUPS_PER_RECORD);
  const records = firsts.map((first) => recordOf(member, first, GROUPS_PER_RECORD));
  const cpuMs = cpuNow();
  for (const [at, record] of records.entries()) apply(at, member, record);
  readMs += cpuNow() - cpuMs;
}
const rowNs = (readMs * 1e6) / (GROUPS * NODES);
console.log(
  `${GROUPS} groups × ${NODES} nodes: applied in ${readMs.toFixed(0)} ms of CPU, ${rowNs.toFixed(0)} ns per row`,
);
const CHANGED_MOST = 100;
/** Behind the bundles that were filled. */
const CHANGED_BUNDLE = 10_000;
/** Another record of one node about one group each; applied with a higher sequence every time. */
const incoming = Array.from({ length: CHANGED_MOST }, (_, at) => recordOf(members[at], at * 97, 1));
const lanes = [...table.lanes.values()];
table.dirty.clear();
const bare = bareRounds(false);
const messagesOnly = bareRounds(true);

const kinds: Record<string, () => void> = {
  'bare strategy, messages and bytes': () => bare(),
  'bare strategy, messages only': () => messagesOnly(),
  'usage map and share book, messages and bytes': () => updateAll(lanes),
  'incrementally: 1 group changed': () => changes(1),
  'incrementally: 10 groups changed': () => changes(10),
  'incrementally: 100 groups changed': () => changes(100),
};
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
let youngCollections = 0;
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries() as (PerformanceEntry & { detail: { kind: number } })[]) {
    if (entry.detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) youngCollections++;
  }
});
observer.observe({ entryTypes: ['gc'] });
for (const [name, run] of Object.entries(kinds)) {
  // The first rounds compile.
  for (let repetition = 0; repetition < WARM_UPS; repetition++) run();
  collectGarbage();
  await nextTurn();
  youngCollections = 0;
  const heap = process.memoryUsage().heapUsed;
  const taken: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    const cpuMs = cpuNow();
    run();
    taken.push(cpuNow() - cpuMs);
  }
  const allocated = (process.memoryUsage().heapUsed - heap) / 1024 / REPETITIONS;
  await nextTurn();
  const collections = youngCollections;
  taken.sort((one, other) => one - other);
  const [least, middle, most] = [0, REPETITIONS >> 1, REPETITIONS - 1].map((at) => taken[at].toFixed(2));
  console.log(
    `${name.padEnd(46)} ms: min ${least}, median ${middle}, max ${most}; ` +
      `heap +${allocated.toFixed(1)} KiB per round, ${collections} young collections`,
  );
}
observer.disconnect();

function joined(node: number): Member {
  const member = membership.memberOf({ nodeKey: node * 1e9 + 5, incarnation: 65_536, sequence: 1 }, 0);
  membership.join(member, `node-${node}`, '', 0, 0);
  return member;
}

/** A node's record about some groups. One in ten demands ten times its usage: both dimensions are contested. */
function recordOf(member: Member, first: number, count: number): ReportRecord {
  const rows: ReportRow[] = [];
  for (let group = first; group < Math.min(GROUPS, first + count); group++) {
    const usage = random.next() * 20;
    const demandMessages = usage * (random.next() < 0.1 ? 10 : 1);
    rows.push({
      groupId: table.groupIdOf(group),
      ...NOTHING_REPORTED,
      direction: 0,
      usageMessages: usage,
      usageBytes: usage * 10_000,
      demandMessages,
      demandBytes: usage * 10_000 * (random.next() + 0.5),
      shareMessages: 10,
      shareBytes: 1e5,
    });
  }
  return { kind: 'report', author: { nodeKey: member.nodeKey, incarnation: 65_536, sequence: ++sequence }, rows };
}

function apply(bundle: number, member: Member, record: ReportRecord): void {
  (record.author as { sequence: number }).sequence = ++sequence;
  usageMap.apply({ partition: 0, bundle, isPast: false }, member, record, READ_AT);
}

function updateAll(some: Iterable<LaneState>): void {
  for (const lane of some) shares.update(lane, OWN, readMs);
}

/** As the coordinator does it: records mark lanes, and only these are computed. */
function changes(count: number): void {
  for (let at = 0; at < count; at++) apply(CHANGED_BUNDLE + at, members[at], incoming[at]);
  updateAll(table.dirty);
  table.dirty.clear();
}

/** Observers are told of collections in a later turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}

function bareRounds(isMessagesOnly: boolean): () => void {
  const round = createLaneView(NODES);
  round.count = NODES;
  round.floorRatio = groups[0]?.floorRatio ?? 0;
  round.target.set([1000, isMessagesOnly ? Infinity : 1e7]);
  round.weight.fill(1);
  const strategy = STRATEGIES['max-min'];
  const demands = Array.from({ length: 1000 }, () => {
    const usage = Array.from({ length: NODES }, () => random.next() * 20);
    const messages = usage.map((rate) => rate * (random.next() < 0.1 ? 10 : 1));
    return [Float64Array.from(messages), Float64Array.from(usage, (rate) => rate * 10_000 * (random.next() + 0.5))];
  });
  return () => {
    for (let group = 0; group < GROUPS; group++) {
      const demand = demands[group % demands.length] as Float64Array[];
      for (let dimension = 0; dimension < demand.length; dimension++) {
        round.demand[dimension].set(demand[dimension]);
      }
      strategy.converge(round);
    }
  };
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
