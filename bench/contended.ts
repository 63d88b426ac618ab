/**
 * `npm run bench:contended [-- --groups 5000 --nodes 5 --load 0.3,1.2 --perSecond 100]`: what
 * reports cost a node where every node serves every group, and the demand of each group is so many times its quota;
 * with `--budget 200`, while it may write so many per second; with `--walk`, while each demand moves every second.
 *
 * The nodes run in one process, in virtual time and on the simulated topic, so a busy machine only takes longer. CPU is
 * user and system time of this process without the arrivals, divided by the nodes, which are all alike; and that of the
 * codec for what one node writes and reads. Kafka's client is not in it.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { parseArgs } from 'node:util';
import type { SimulatedNode } from '../sim/cluster/simulated-node.js';
import { LOCAL_KAFKA, World } from '../sim/cluster/world.js';
import { resolveConfig } from '../src/config/read/resolve-config.js';
import type { ReadEvent } from '../src/core/base/protocol/events-and-effects.js';
import { laneOf } from '../src/core/base/vocabulary.js';
import { RecordCodec } from '../src/topic/codec/record-codec.js';
import { TrafficRandom } from './scale/random.js';

const { values } = parseArgs({
  options: {
    groups: { type: 'string', default: '5000' },
    nodes: { type: 'string', default: '5' },
    load: { type: 'string', default: '0.3,1.2' },
    perSecond: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '5' },
    /** timing.maxReportsPerSecond. */
    budget: { type: 'string', default: '2000' },
    /** The demand of each group moves every second. */
    walk: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
});
const groupCount = Number(values.groups);
const nodeCount = Number(values.nodes);
const seconds = Number(values.seconds);
const perSecond = Number(values.perSecond);
/** The first reports of all groups, and the wrong beginning of all buckets, are over by then. */
const SETTLE_MS = 8000;
const ARRIVALS_MS = 10;
/** Asking for the CPU takes up to 0.2 ms in some containers: the arrivals of one tick in so many are measured. */
const MEASURED_TICKS = 10;
/** The logarithm of a demand that walks keeps so much of itself every second, and moves by half of this at most. */
const WALK_KEPT = 0.9;
const WALK_STEP = 0.35;
const WIDTHS = [6, 11, 9, 9, 10, 22, 16, 14, 8];

console.log(`${groupCount} groups of ${perSecond} messages/s, each used on all of ${nodeCount} nodes; per node:`);
print(
  'load',
  'records/s',
  'rows/s',
  'kB/s out',
  'MB/min in',
  'CPU % (node + codec)',
  'over 5 s',
  'worst second',
  'used',
);
for (const load of values.load.split(',').map(Number)) await measure(load);

interface Arrivals {
  ticks: number;
  /** CPU of one tick in MEASURED_TICKS. */
  us: number;
  /** By group and second of the whole run. */
  readonly wanted: Float64Array;
  readonly admitted: Float64Array;
}

async function measure(load: number): Promise<void> {
  const world = new World(1, settingsOf(), LOCAL_KAFKA);
  const nodes = Array.from({ length: nodeCount }, (_, at) => world.start(`n${at}`));
  world.runFor(2000);
  const arrivals = arrive(world, nodes, load);
  world.runFor(SETTLE_MS);
  arrivals.us = 0;
  const from = world.topic.log.length;
  const stop = values.profile === undefined ? null : await profiled(values.profile);
  const before = process.cpuUsage();
  world.runFor(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  await stop?.();
  const nodeUs = (user + system - MEASURED_TICKS * arrivals.us) / nodeCount;
  report(load, nodeUs, world.topic.log.slice(from), exactnessOf(arrivals));
}

function settingsOf() {
  const group = { quota: { publish: { messagesPerSecond: perSecond } } };
  const raw = { cluster: 'contended', node: 'a', groups: { any: group } };
  const { groups, timing, sampleIntervalMs, cluster, limiting, costs, limits } = resolveConfig(raw, {
    source: '(bench)',
    env: {},
  });
  const [any] = groups;
  const { maxNodes, maxRows, maxGroupsPerNode } = limits;
  const all = Array.from({ length: groupCount }, (_, at) => ({
    ...any,
    name: `group-${at}`,
  }));
  const bounds = { maxNodes, maxRows, maxGroupsPerNode };
  const own = { sampleIntervalMs, cluster, limiting, costs, version: 'bench', partitions: 1, groups: all };
  return { ...timing, maxReportsPerSecond: Number(values.budget), ...bounds, ...own };
}

/** Poisson, of each group at each node; a third of the work comes to one of them. */
function arrive(world: World, nodes: readonly SimulatedNode[], load: number): Arrivals {
  const random = new TrafficRandom(7);
  const cells = groupCount * (SETTLE_MS / 1000 + seconds);
  const arrivals = { ticks: 0, us: 0, wanted: new Float64Array(cells), admitted: new Float64Array(cells) };
  const walk = new Float64Array(groupCount);
  const tick = () => {
    const second = Math.floor((arrivals.ticks * ARRIVALS_MS) / 1000);
    if (values.walk && (arrivals.ticks * ARRIVALS_MS) % 1000 === 0) {
      walk.forEach((value, group) => {
        walk[group] = WALK_KEPT * value + WALK_STEP * (random.next() - 0.5);
      });
    }
    for (let group = 0; group < groupCount; group++) {
      const cell = second * groupCount + group;
      const perTick = (load * Math.exp(walk[group]) * perSecond * ARRIVALS_MS) / 1000 / (nodeCount + 2);
      for (let node = 0; node < nodeCount; node++) {
        const due = random.poisson(group % nodeCount === node ? 3 * perTick : perTick);
        arrivals.wanted[cell] += due;
        for (let at = 0; at < due; at++) {
          if (nodes[node]?.tryAcquire(laneOf(group, 0), 1, 0)) arrivals.admitted[cell] += 1;
        }
      }
    }
  };
  const next = () => {
    world.queue.after(ARRIVALS_MS, next);
    const before = arrivals.ticks % MEASURED_TICKS === 0 ? process.cpuUsage() : null;
    tick();
    arrivals.ticks++;
    if (before === null) return;
    const { user, system } = process.cpuUsage(before);
    arrivals.us += user + system;
  };
  next();
  return arrivals;
}

interface Exactness {
  /** By group, what was admitted beyond the quota in its worst 5 s, as a part of it; ascending. */
  readonly over5s: readonly number[];
  /** By group, what was admitted in its worst second, in quotas; ascending. */
  readonly worstSecond: readonly number[];
  /** What was admitted of Σ min(quota, demand) by group and second. */
  readonly used: number;
}

function exactnessOf({ wanted, admitted }: Arrivals): Exactness {
  const first = SETTLE_MS / 1000;
  const over5s = new Float64Array(groupCount);
  const worstSecond = new Float64Array(groupCount);
  let usable = 0;
  let all = 0;
  for (let group = 0; group < groupCount; group++) {
    const bySecond = Array.from({ length: seconds }, (_, at) => admitted[(first + at) * groupCount + group]);
    worstSecond[group] = Math.max(...bySecond) / perSecond;
    for (let from = 0; from + 5 <= seconds; from++) {
      const sum = bySecond.slice(from, from + 5).reduce((total, count) => total + count, 0);
      over5s[group] = Math.max(over5s[group], sum / (5 * perSecond) - 1);
    }
    bySecond.forEach((count, at) => {
      all += count;
      usable += Math.min(perSecond, wanted[(first + at) * groupCount + group]);
    });
  }
  return { over5s: [...over5s.sort()], worstSecond: [...worstSecond.sort()], used: all / usable };
}

function report(
  load: number,
  nodeUs: number,
  log: readonly ReadEvent[],
  { over5s, worstSecond, used }: Exactness,
): void {
  const codec = new RecordCodec('contended');
  const before = process.cpuUsage();
  const bytes = log.map(({ record }) => (record === null ? new Uint8Array() : codec.encode(record)));
  const encoded = process.cpuUsage(before);
  const between = process.cpuUsage();
  for (const value of bytes) codec.decode(value);
  const decoded = process.cpuUsage(between);
  const codecUs = (encoded.user + encoded.system) / nodeCount + decoded.user + decoded.system;
  const rows = log.reduce((sum, { record }) => sum + (record?.kind === 'report' ? record.rows.length : 0), 0);
  const total = bytes.reduce((sum, value, at) => sum + value.length + (log[at]?.key.length ?? 0), 0);
  const perNode = (count: number) => (count / nodeCount / seconds).toFixed(count / nodeCount / seconds < 10 ? 2 : 0);
  const part = (us: number) => (us / seconds / 1e4).toFixed(1);
  print(
    String(load),
    perNode(log.length),
    perNode(rows),
    perNode(total / 1000),
    ((total * 60) / seconds / 1e6).toFixed(2),
    `${part(nodeUs + codecUs)} (${part(nodeUs)} + ${part(codecUs)})`,
    `${percent(over5s[groupCount >> 1])} / ${percent(over5s.at(-1))}`,
    `${worstSecond[groupCount >> 1]?.toFixed(2)} / ${worstSecond.at(-1)?.toFixed(2)}`,
    percent(used),
  );
}

function percent(ratio = 0): string {
  return `${(100 * ratio).toFixed(1)} %`;
}

/** Returns what ends the profile and writes it, as Chrome's DevTools and VS Code read it. */
async function profiled(file: string): Promise<() => Promise<void>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  return async () => writeFileSync(file, JSON.stringify((await session.post('Profiler.stop')).profile));
}

function print(...cells: string[]): void {
  console.log(cells.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0)).join(' '));
}
