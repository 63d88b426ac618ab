/**
 * `npm run bench:cluster [-- embedded|kafka]`: the figures of a cluster of three node processes that tests only bound, on a quiet machine:
 * time of a demand step, of a leave, of a death; idle CPU; start; round trips. Prints min / median / max.
 */

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { epochNow } from '../src/tools/load/epoch-now.js';
import { medianOf } from '../src/tools/load/quantile.js';
import { Cluster, type ClusterOptions } from '../test/cluster/cluster.js';
import { percent, Story } from '../test/cluster/story.js';
import { TrafficProcess } from '../test/cluster/traffic.js';
import { startKafka } from '../test/kafka/kafka.js';

const QUOTA = 1000;
const STEPS = 20;
const NODES = ['a', 'b', 'c'];
const topics = process.argv[2] === undefined ? ['embedded', 'kafka'] : [process.argv[2]];

for (const topic of topics) {
  const kafka = topic === 'kafka' ? await startKafka() : null;
  try {
    await bench(topic, kafka === null ? 'embedded' : { kind: 'kafka', brokers: kafka.brokers, name: 'bench' });
  } finally {
    await kafka?.stop();
  }
}

async function bench(name: string, topic: ClusterOptions['topic']): Promise<void> {
  const cluster = await Cluster.create({ topic, quota: QUOTA });
  const traffic = new TrafficProcess();
  const story = new Story(cluster, traffic, QUOTA);
  try {
    const spawnedMs = epochNow();
    const readyMs = await cluster.start(...NODES);
    print(name, 'first node ready after its start', [readyMs - spawnedMs], 'ms');
    await idle(name, cluster);
    await steady(name, story);
    await demandSteps(name, story);
    await leavesAndDeaths(name, cluster, story);
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

/** CPU of processes that nobody asks anything, over 20 s. */
async function idle(name: string, cluster: Cluster): Promise<void> {
  await sleep(3000);
  const before = await Promise.all(NODES.map((id) => cpuSeconds(cluster, id)));
  await sleep(20_000);
  const after = await Promise.all(NODES.map((id) => cpuSeconds(cluster, id)));
  print(
    name,
    'idle CPU of a node',
    after.map((seconds, at) => (100 * (seconds - (before[at] ?? 0))) / 20),
    '% of a core',
  );
}

async function steady(name: string, story: Story): Promise<void> {
  const { total, worstSecond, perNode } = await story.phase({ a: 2000, b: 20, c: 20 }, 12_000, 2000);
  const left = QUOTA - (perNode.b ?? 0) - (perNode.c ?? 0);
  console.log(
    `${name}: 2000/20/20 over 10 s: total ${percent(total / QUOTA)} of the quota, busy node ${percent((perNode.a ?? 0) / left)} of the rest, ` +
      `worst sliding second ${percent(worstSecond)}`,
  );
}

/** From the switch until every share stays within 5 % (decision logs), and until the busy client gets 90 % of its new rate. */
async function demandSteps(name: string, story: Story): Promise<void> {
  const shares: number[] = [];
  const clients: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    const busy = NODES[step % 3];
    const rates = Object.fromEntries(NODES.map((id) => [id, id === busy ? 2000 : 20]));
    const wanted = Object.fromEntries(NODES.map((id) => [id, id === busy ? 960 : 20]));
    const { fromMs, toMs, events } = await story.phase(rates, 2500, 0);
    if (step === 0) continue;
    shares.push(await story.settledAfterMs(fromMs, wanted, toMs));
    const granted = events.filter(({ granted: isGranted, node }) => isGranted && node === busy).map(({ atMs }) => atMs);
    clients.push((granted.find((atMs) => rateFrom(granted, atMs) >= 0.9 * 960) ?? Infinity) - fromMs);
  }
  print(name, 'demand step: until every share stays within 5 %', shares, 'ms');
  print(name, 'demand step: until the busy client gets 90 % of its share', clients, 'ms');
}

/** Granted per second in the 100 ms after a time. */
function rateFrom(granted: readonly number[], fromMs: number): number {
  return granted.filter((atMs) => atMs >= fromMs && atMs < fromMs + 100).length * 10;
}

async function leavesAndDeaths(name: string, cluster: Cluster, story: Story): Promise<void> {
  const half = { a: QUOTA / 2, b: QUOTA / 2 };
  const both = { a: 700, b: 700 };
  const leaves: number[] = [];
  const deaths: number[] = [];
  for (const [signal, times] of [
    ['SIGTERM', leaves],
    ['SIGKILL', deaths],
    ['SIGTERM', leaves],
    ['SIGKILL', deaths],
  ] as const) {
    if (!cluster.node('c').child.isRunning) await cluster.start('c');
    await story.phase({ ...both, c: 700 }, 2000, 0);
    const atMs = epochNow();
    cluster.node('c').child.signal(signal);
    const { toMs } = await story.phase(both, signal === 'SIGTERM' ? 2500 : 8500, 0);
    times.push(await story.settledAfterMs(atMs, half, toMs));
  }
  print(name, 'clean leave: until the others have the whole quota', leaves, 'ms');
  print(name, 'kill -9: until the others have the whole quota', deaths, 'ms');
}

async function cpuSeconds(cluster: Cluster, id: string): Promise<number> {
  const stat = await readFile(`/proc/${cluster.node(id).child.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function print(name: string, what: string, values: readonly number[], unit: string): void {
  const [least, middle, most] = [Math.min(...values), medianOf(values), Math.max(...values)].map((value) =>
    value.toFixed(1),
  );
  console.log(`${name}: ${what}: min ${least}, median ${middle}, max ${most} ${unit} (${values.length})`);
}
