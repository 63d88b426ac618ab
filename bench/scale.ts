/**
 * `npm run bench:scale [-- --seconds 15 --changes 0.01,0.05,0.2]`: what one node of PIP-82's scenario reads, computes and keeps:
 * 100 nodes, 100,000 groups, 5,000 groups per node, each on 5 nodes. Two lines per rate of change and setting: the
 * steady state, and how the node got there. CPU is user and system time of the process as the kernel counts it, not wall time.
 *
 * The records of the 100 nodes are written by the core's publisher and the codec, in virtual time, and put into batches by kafkajs.
 * Before that: what catching up costs the event loop, per turn of 1,000 decoded records, and what one restart costs.
 * A 101st node, in a process of its own, reads them in real time through the Kafka adapter and serves the groups of the first.
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { batchOf, LogServer } from './scale/broker.js';
import { measureCatchUp } from './scale/catch-up.js';
import { Reader } from './scale/reader.js';
import type { Measured } from './scale/reading-node.js';
import { scaleConfig } from './scale/scale-config.js';
import { groupsOf, type Scale, type Traffic, trafficOf } from './scale/traffic.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    changes: { type: 'string', default: '0.01,0.05,0.2' },
    nodes: { type: 'string', default: '100' },
    groups: { type: 'string', default: '5000' },
    settings: { type: 'string', default: 'none,gzip,coalesced' },
    arrivals: { type: 'string', default: '0' },
    profile: { type: 'string' },
  },
});
const MEBI = 1024 * 1024;
const HISTORY_BATCH_RECORDS = 200;
/** Reading that waits: for 64 KiB, but no longer than 100 ms. */
const COALESCED = { fetchMinBytes: 65_536, fetchMaxWaitMs: 100 };
/** The node has read the history and served its lanes; what is left of that must not be counted as steady state. */
const SETTLE_SECONDS = 8;
/** A newcomer's turns of the event loop, for logs of more nodes than the scenario has (bench/scale/catch-up.ts). */
const CATCHING_UP = [
  { nodes: 100, keysPerNode: 834, partitions: 16 },
  { nodes: 1000, keysPerNode: 800, partitions: 1 },
  { nodes: 1000, keysPerNode: 800, partitions: 16 },
];
const IDLE_SECONDS = 5;
const seconds = Number(values.seconds);
const settled = { nodes: Number(values.nodes), groupsPerNode: Number(values.groups), nodesPerGroup: 5 };
const groupCount = (settled.nodes * settled.groupsPerNode) / settled.nodesPerGroup;
const WIDTHS = [8, 16, 8, 8, 10, 10, 26, 9, 9, 12];
for (const log of CATCHING_UP) await measureCatchUp(log, coreOf());
await measureIdle();
const CPU = 'CPU % (user + system)';
print('changes', 'setting', 'MB/min', 'on wire', 'records/s', 'fetches/s', CPU, 'heap MiB', 'resident', 'writer CPU %');
for (const changes of values.changes.split(',').map(Number)) {
  const scale: Scale = { ...settled, changesPerMinute: changes, seconds: SETTLE_SECONDS + seconds };
  const core = { ...coreOf(), nodeId: '', partitions: 1 };
  const traffic = trafficOf(scale, core, core.groups[0]);
  for (const setting of values.settings.split(',')) await measure(scale, traffic, setting);
}

function coreOf() {
  const { timing, groups, sampleIntervalMs, cluster, limiting, costs, limits } = scaleConfig(1, {});
  const { maxNodes, maxRows, maxGroupsPerNode } = limits;
  const bounds = { maxNodes, maxRows, maxGroupsPerNode };
  return { ...timing, ...bounds, version: '0.1.0', nonce: 1, sampleIntervalMs, cluster, limiting, costs, groups };
}

/** A node of the same configuration that serves nothing and reads its own heartbeats. */
async function measureIdle(): Promise<void> {
  await withReader('none', async (_, reader) => {
    await sleep(2000);
    const from = await reader.measure();
    await sleep(IDLE_SECONDS * 1000);
    const to = await reader.measure();
    console.log(`load average ${loadavg()[0]?.toFixed(1)}; idle node: CPU % ${cpuText(from, to)}`);
  });
}

async function measure(scale: Scale, traffic: Traffic, setting: string): Promise<void> {
  const compression = setting === 'gzip' ? 'gzip' : 'none';
  const cpuBefore = process.cpuUsage();
  const batches: Buffer[] = [];
  for (const { records } of traffic.produces) batches.push(await batchOf(records, compression));
  const { user, system } = process.cpuUsage(cpuBefore);
  const writerCpu = (user + system) / 1000 / scale.nodes;
  await withReader(setting, async (server, reader) => {
    const idle = await reader.measure();
    for (let at = 0; at < traffic.history.length; at += HISTORY_BATCH_RECORDS) {
      server.append(await batchOf(traffic.history.slice(at, at + HISTORY_BATCH_RECORDS), compression));
    }
    await reader.tell({ do: 'wait', records: traffic.history.length });
    await reader.tell({ do: 'serve', names: groupsOf(0, scale) });
    const caughtUp = await reader.measure();
    if (Number(values.arrivals) > 0) await reader.tell({ do: 'arrivals', perSecond: Number(values.arrivals) });
    await play(server, traffic, batches, 0, SETTLE_SECONDS);
    const before = await reader.measure();
    const sentBefore = { ...server.sent };
    if (values.profile !== undefined) await reader.tell({ do: 'profile', file: values.profile });
    await play(server, traffic, batches, SETTLE_SECONDS, SETTLE_SECONDS + seconds);
    const after = await reader.measure();
    if (values.profile !== undefined) await reader.tell({ do: 'profile', file: values.profile });
    report(scale, setting, { idle, caughtUp, before, after, writerCpu, sentBefore, sent: server.sent });
  });
}

async function withReader(setting: string, use: (server: LogServer, reader: Reader) => Promise<void>): Promise<void> {
  const server = new LogServer();
  const broker = await server.listen();
  const reader = new Reader();
  try {
    const topic = setting === 'coalesced' ? COALESCED : {};
    await reader.tell({ do: 'start', broker, groups: groupCount, topic });
    await use(server, reader);
  } finally {
    await reader.stop();
    server.close();
  }
}

/** Appends in real time what falls into these seconds of the traffic. */
async function play(
  server: LogServer,
  traffic: Traffic,
  batches: readonly Buffer[],
  fromSeconds: number,
  toSeconds: number,
): Promise<void> {
  const startMs = performance.now() - fromSeconds * 1000;
  let at = traffic.produces.findIndex(({ atMs }) => atMs >= fromSeconds * 1000);
  for (; at !== -1 && at < batches.length; at++) {
    const { atMs } = traffic.produces[at];
    if (atMs >= toSeconds * 1000) break;
    const earlyMs = startMs + atMs - performance.now();
    if (earlyMs > 1) await sleep(earlyMs);
    server.append(batches[at]);
  }
}

interface Figures {
  readonly idle: Measured;
  readonly caughtUp: Measured;
  readonly before: Measured;
  readonly after: Measured;
  readonly writerCpu: number;
  readonly sentBefore: LogServer['sent'];
  readonly sent: LogServer['sent'];
}

function report(scale: Scale, setting: string, figures: Figures): void {
  const { idle, caughtUp, before, after, sent, sentBefore, writerCpu } = figures;
  const elapsedMs = after.atMs - before.fromMs;
  const perMinute = (bytes: number) => (bytes * 60_000) / elapsedMs / 1e6;
  print(
    String(scale.changesPerMinute),
    setting,
    perMinute(sent.batchBytes - sentBefore.batchBytes).toFixed(2),
    perMinute(sent.bytes - sentBefore.bytes).toFixed(2),
    ((1000 * (sent.records - sentBefore.records)) / elapsedMs).toFixed(0),
    ((1000 * (sent.answers - sentBefore.answers)) / elapsedMs).toFixed(0),
    cpuText(before, after),
    ((after.heapBytes - idle.heapBytes) / MEBI).toFixed(1),
    ((after.residentBytes - idle.residentBytes) / MEBI).toFixed(0),
    ((100 * writerCpu) / (scale.seconds * 1000)).toFixed(2),
  );
  const { entries, rows, members, served, rounds, userMs, lanes } = after;
  const roundCpu = (userMs - before.fromUserMs) / (rounds - before.rounds);
  const loadMs = caughtUp.userMs + caughtUp.systemMs - idle.fromUserMs - idle.fromSystemMs;
  console.log(
    `  ${entries} records kept, ${rows} rows, ${members} members, ${served} lanes served; ` +
      `history and lanes took ${(loadMs / 1000).toFixed(1)} s of CPU; ${roundCpu.toFixed(2)} ms of user time per round; ` +
      `${((1000 * (lanes - before.lanes)) / 2 / elapsedMs).toFixed(0)} lanes changed per second; ` +
      `load average ${loadavg()[0]?.toFixed(1)}`,
  );
}

function cpuText(from: Measured, to: Measured): string {
  const part = (ms: number) => ((100 * ms) / (to.atMs - from.fromMs)).toFixed(1);
  const [userMs, systemMs] = [to.userMs - from.fromUserMs, to.systemMs - from.fromSystemMs];
  return `${part(userMs + systemMs)} (${part(userMs)} + ${part(systemMs)})`;
}

function print(...cells: string[]): void {
  console.log(cells.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0)).join(' '));
}
