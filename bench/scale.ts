/**
 * `npm run bench:scale [-- --seconds 30 --changes 0.01,0.05,0.2]`: what one node of PIP-82's scenario reads, computes and keeps:
 * 100 nodes, 100,000 groups, 5,000 groups per node, each on 5 nodes (DESIGN §12). Prints one line per rate of change and setting.
 *
 * The records of the 100 nodes are written by the core's publisher and the codec, in virtual time, and put into batches by kafkajs.
 * A 101st node, in a process of its own, reads them in real time through the Kafka adapter and serves the groups of the first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { batchOf, LogServer } from './scale/broker.js';
import { Reader } from './scale/reader.js';
import type { Measured } from './scale/reading-node.js';
import { scaleConfig } from './scale/scale-config.js';
import { groupsOf, type Scale, type Traffic, trafficOf } from './scale/traffic.js';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
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
/** The nodes have been silent while the history was read: they join again, and every share is computed once more. */
const WARM_UP_SECONDS = 8;
const seconds = Number(values.seconds);
let playedMs = 0;
const settled = { nodes: Number(values.nodes), groupsPerNode: Number(values.groups), nodesPerGroup: 5 };
const groupCount = (settled.nodes * settled.groupsPerNode) / settled.nodesPerGroup;
print(
  'changes',
  'setting',
  'MB/min',
  'on wire',
  'records/s',
  'fetches/s',
  'CPU %',
  'heap MiB',
  'resident',
  'writer CPU %',
);
for (const changes of values.changes.split(',').map(Number)) {
  const scale: Scale = { ...settled, changesPerMinute: changes, seconds: WARM_UP_SECONDS + seconds };
  const { timing, groups, sampleIntervalMs, cluster } = scaleConfig(1, {});
  const core = { ...timing, sampleIntervalMs, cluster, nodeId: '', version: '0.1.0', nonce: 1, partitions: 1, groups };
  const traffic = trafficOf(scale, core, groups[0] as (typeof groups)[number]);
  for (const setting of values.settings.split(',')) await measure(scale, traffic, setting);
}

async function measure(scale: Scale, traffic: Traffic, setting: string): Promise<void> {
  const compression = setting === 'gzip' ? 'gzip' : 'none';
  const cpuBefore = process.cpuUsage();
  const batches: Buffer[] = [];
  for (const { records } of traffic.produces) batches.push(await batchOf(records, compression));
  const { user, system } = process.cpuUsage(cpuBefore);
  const writerCpu = (user + system) / 1000 / scale.nodes;
  const server = new LogServer();
  const broker = await server.listen();
  const reader = new Reader();
  try {
    await reader.tell({ do: 'start', broker, groups: groupCount, topic: setting === 'coalesced' ? COALESCED : {} });
    await sleep(2000);
    const idle = await reader.measure();
    await sleep(5000);
    const idleLater = await reader.measure();
    for (let at = 0; at < traffic.history.length; at += HISTORY_BATCH_RECORDS) {
      server.append(await batchOf(traffic.history.slice(at, at + HISTORY_BATCH_RECORDS), compression));
    }
    await reader.tell({ do: 'wait', records: traffic.history.length });
    await reader.tell({ do: 'serve', names: groupsOf(0, scale) });
    await play(server, traffic, batches, WARM_UP_SECONDS);
    const before = await reader.measure();
    const sentBefore = { ...server.sent };
    if (Number(values.arrivals) > 0) await reader.tell({ do: 'arrivals', perSecond: Number(values.arrivals) });
    if (values.profile !== undefined) await reader.tell({ do: 'profile', file: values.profile });
    await play(server, traffic, batches, seconds);
    if (values.profile !== undefined) await reader.tell({ do: 'profile', file: values.profile });
    const after = await reader.measure();
    report(scale, setting, { idle, idleLater, before, after, writerCpu, sentBefore, sent: server.sent });
  } finally {
    reader.stop();
    server.close();
  }
}

/** Appends in real time what falls into the next seconds of the traffic, beginning where the last call ended. */
async function play(
  server: LogServer,
  traffic: Traffic,
  batches: readonly Buffer[],
  forSeconds: number,
): Promise<void> {
  if (forSeconds === WARM_UP_SECONDS) playedMs = 0;
  const beganMs = performance.now();
  const endMs = Math.min(playedMs + forSeconds * 1000, (WARM_UP_SECONDS + seconds) * 1000);
  let at = traffic.produces.findIndex(({ atMs }) => atMs >= playedMs);
  for (; at < batches.length && (traffic.produces[at]?.atMs ?? 0) < endMs; at++) {
    const dueMs = beganMs + (traffic.produces[at]?.atMs ?? 0) - playedMs;
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 1) await sleep(earlyMs);
    server.append(batches[at] as Buffer);
  }
  playedMs = endMs;
  await sleep(200);
}

interface Figures {
  readonly idle: Measured;
  readonly idleLater: Measured;
  readonly before: Measured;
  readonly after: Measured;
  readonly writerCpu: number;
  readonly sentBefore: LogServer['sent'];
  readonly sent: LogServer['sent'];
}

function report(scale: Scale, setting: string, figures: Figures): void {
  const { idle, idleLater, before, after, sent, sentBefore, writerCpu } = figures;
  const elapsedMs = after.atMs - before.fromMs;
  const perMinute = (bytes: number) => (bytes * 60_000) / elapsedMs / 1e6;
  const idleCpu = (100 * (idleLater.cpuMs - idle.fromCpuMs)) / (idleLater.atMs - idle.fromMs);
  print(
    String(scale.changesPerMinute),
    setting,
    perMinute(sent.batchBytes - sentBefore.batchBytes).toFixed(2),
    perMinute(sent.bytes - sentBefore.bytes).toFixed(2),
    ((1000 * (sent.records - sentBefore.records)) / elapsedMs).toFixed(0),
    ((1000 * (sent.answers - sentBefore.answers)) / elapsedMs).toFixed(0),
    `${((100 * (after.cpuMs - before.fromCpuMs)) / elapsedMs).toFixed(1)} (${idleCpu.toFixed(1)} idle)`,
    ((after.heapBytes - idle.heapBytes) / MEBI).toFixed(1),
    ((after.residentBytes - idle.residentBytes) / MEBI).toFixed(0),
    ((100 * writerCpu) / (scale.seconds * 1000)).toFixed(2),
  );
  const { entries, rows, members, served, rounds, roundMs, lanes } = after;
  console.log(
    `  ${entries} records kept, ${rows} rows, ${members} members, ${served} lanes served; ` +
      `${((roundMs - before.roundMs) / (rounds - before.rounds)).toFixed(3)} ms per round; ` +
      `${((1000 * (lanes - before.lanes)) / 2 / elapsedMs).toFixed(0)} lanes changed per second; ` +
      `idle node ${(idle.heapBytes / MEBI).toFixed(0)} MiB`,
  );
}

function print(...cells: string[]): void {
  const widths = [8, 10, 8, 8, 10, 10, 17, 9, 9, 12];
  console.log(cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' '));
}
