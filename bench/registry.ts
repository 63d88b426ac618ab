/**
 * `npm run bench:registry [-- embedded|kafka] [groups]`: groups made through one node of three, over HTTP: how long until all
 * have them, and how long a node that starts later needs until it is ready with all of them. Aims: 5 s and 3 s for 10,000.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type ClusterOptions, untilReady } from '../test/cluster/cluster.js';
import { startKafka } from '../test/kafka/kafka.js';

const NODES = ['a', 'b', 'c'];
/** Requests under way at once; each waits for the log. */
const CLIENTS = 200;
const [topicName = 'embedded', count = '10000'] = process.argv.slice(2);
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
    const startMs = performance.now();
    const slowestMs = await makeAll(cluster.url('a'));
    print(`${groups} groups made through one node, all answered`, performance.now() - startMs);
    print('the slowest answer', slowestMs);
    for (const id of NODES) await untilHasAll(cluster, id);
    print('… and all three nodes have them', performance.now() - startMs);
    const laterMs = performance.now();
    await untilReady(await cluster.spawn('d'), 120_000);
    print('a node that starts later is ready, its process included', performance.now() - laterMs);
    const { registry } = await cluster.status('d');
    if (registry.groups !== groups) throw new Error(`it has ${registry.groups} groups`);
  } finally {
    await cluster.stop();
  }
}

async function makeAll(url: string): Promise<number> {
  let [next, slowestMs] = [0, 0];
  const client = async () => {
    while (next < groups) {
      const startMs = performance.now();
      await make(url, next++);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return slowestMs;
}

async function make(url: string, number: number): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ quota: { publish: { messagesPerSecond: number, bytesPerSecond: '10MiB' } } });
  const response = await fetch(`${url}/v1/groups/group-${number}`, { method: 'PUT', headers, body });
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

async function untilHasAll(cluster: Cluster, id: string): Promise<void> {
  while ((await cluster.status(id)).registry.groups < groups) await sleep(10);
}

function print(what: string, tookMs: number): void {
  console.log(`${topicName}: ${what}: ${(tookMs / 1000).toFixed(2)} s`);
}
