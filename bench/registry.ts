/**
 * `npm run bench:registry [-- embedded|kafka] [groups] [single|batch]`: groups made through one node of three, over HTTP,
 * each by a PUT of its own or all by one: how long until all have them, and how long a node that starts later needs until
 * it is ready with all of them. Aims: 5 s and 3 s for 10,000.
 * The CPU time of each process stands beside it: on a busy machine that is the figure to compare.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestWith } from '../src/tools/load/http-pipe.js';
import { Cluster, type ClusterOptions } from '../test/cluster/cluster.js';
import { startKafka } from '../test/kafka/kafka.js';
import { keepAsking } from './limiter/keep-asking.js';

const NODES = ['a', 'b', 'c'];
/** Requests under way at once; each waits for the log. */
const CLIENTS = 200;
const [topicName = 'embedded', count = '10000', way = 'single'] = process.argv.slice(2);
const groups = Number(count);

const kafka = topicName === 'kafka' ? await startKafka() : null;
try {
  await bench(kafka === null ? 'embedded' : { kind: 'kafka', brokers: kafka.brokers, name: 'bench' });
} finally {
  await kafka?.stop();
}

async function bench(topic: ClusterOptions['topic']): Promise<void> {
  const cluster = await Cluster.create({ topic });
  try {
    await cluster.start(...NODES);
    const [startMs, cpuBefore] = [performance.now(), cpuOf(cluster)];
    const slowestMs = await (way === 'batch' ? makeAtOnce : makeAll)(cluster.url('a'));
    print(`${groups} groups made through one node (${way}), all answered`, performance.now() - startMs);
    print('the slowest answer', slowestMs);
    for (const id of NODES) await untilHasAll(cluster, id);
    print('… and all three nodes have them', performance.now() - startMs);
    const cpu = cpuOf(cluster).map((ms, at) => `${NODES[at]} ${((ms - (cpuBefore[at] ?? 0)) / 1000).toFixed(2)} s`);
    console.log(`${topicName}: CPU of the nodes meanwhile: ${cpu.join(', ')}`);
    const laterMs = performance.now();
    await (await cluster.spawn('d')).ready(120_000);
    print('a node that starts later is ready, its process included', performance.now() - laterMs);
    const { registry } = await cluster.status('d');
    if (registry.groups !== groups) throw new Error(`it has ${registry.groups} groups`);
  } finally {
    await cluster.stop();
  }
}

async function makeAll(url: string): Promise<number> {
  const { hostname, port } = new URL(url);
  let [next, slowestMs] = [0, 0];
  await keepAsking({
    place: { host: hostname, port: Number(port) },
    connections: CLIENTS,
    next: () => (next < groups ? requestToMake(next++) : null),
    onAnswer: (status, body, tookMs) => {
      if (status !== 201) throw new Error(`${status}: ${body}`);
      slowestMs = Math.max(slowestMs, tookMs);
    },
  });
  return slowestMs;
}

function requestToMake(number: number): string {
  return requestWith('PUT', `/v1/groups/group-${number}`, definitionOf(number));
}

/** Returns what the one answer took. */
async function makeAtOnce(url: string): Promise<number> {
  const names = Array.from({ length: groups }, (_, number) => [`group-${number}`, definitionOf(number)]);
  const body = JSON.stringify({ groups: Object.fromEntries(names) });
  const startMs = performance.now();
  const answer = await fetch(`${url}/v1/groups`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status}: ${text}`);
  return performance.now() - startMs;
}

function definitionOf(number: number): object {
  return { quota: { publish: { messagesPerSecond: number, bytesPerSecond: '10MiB' } } };
}

/** Milliseconds of CPU since the start of each node; 0 where the system does not say. */
function cpuOf(cluster: Cluster): number[] {
  return NODES.map((id) => {
    if (process.platform !== 'linux') return 0;
    const fields =
      readFileSync(`/proc/${cluster.node(id).child.pid}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    // utime and stime, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  });
}

async function untilHasAll(cluster: Cluster, id: string): Promise<void> {
  while ((await cluster.status(id)).registry.groups < groups) await sleep(50);
}

function print(what: string, tookMs: number): void {
  console.log(`${topicName}: ${what}: ${(tookMs / 1000).toFixed(2)} s`);
}
