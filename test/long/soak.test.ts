import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { NodeProcess } from '../../src/tools/processes/node-process.js';
import { Cluster } from '../cluster/cluster.js';
import { Story } from '../cluster/story.js';
import { TrafficProcess } from '../cluster/traffic.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const MINUTE_MS = 60_000;
/** `SOAK_MINUTES=60` at night. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 6);
const FIRST_MINUTES = 2;

/** Both at once: memory is measured, not time. */
for (const topic of ['embedded', 'kafka'] as const) {
  test.concurrent(`${MINUTES} minutes of load on the ${topic} topic: resident memory at the end ≤ 1.05 × that after ${FIRST_MINUTES}`, async () => {
    const cluster = await Cluster.create({ topic: await topicOf(topic) });
    const traffic = new TrafficProcess();
    try {
      await cluster.start('a', 'b', 'c');
      const story = new Story(cluster, traffic, 1000);
      const first = await underLoad(cluster, story, FIRST_MINUTES);
      const last = await underLoad(cluster, story, MINUTES - FIRST_MINUTES);
      for (const [id, bytes] of last) {
        console.log(
          `[soak ${topic}] ${id}: ${mib(bytes)} MiB at the end, ${mib(first.get(id) ?? 0)} after ${FIRST_MINUTES} minutes`,
        );
      }
      const ratio = sum(last) / sum(first);
      console.log(`[soak ${topic}] all: ${ratio.toFixed(3)} × what it was after ${FIRST_MINUTES} minutes`);
      expect(ratio).toBeLessThanOrEqual(1.05);
    } finally {
      traffic.stop();
      await cluster.stop();
    }
  });
}

async function topicOf(topic: 'embedded' | 'kafka') {
  if (topic === 'embedded') return 'embedded' as const;
  return { kind: 'kafka', brokers: await sharedKafka(), name: `soak-${process.pid}` };
}

/** All nodes together: what V8 and malloc hold beside 20 MB of live heap moves by 5 MB within minutes, on each node at another time. */
function sum(bytes: ReadonlyMap<string, number>): number {
  return [...bytes.values()].reduce((total, each) => total + each, 0);
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

/**
 * Load whose busy node changes every 10 s; returns resident bytes per node: the mean of the last minute, a sample a
 * second, since garbage collection makes a saw of ± 5 %.
 */
async function underLoad(cluster: Cluster, story: Story, minutes: number): Promise<Map<string, number>> {
  const samples = new Map<string, number[]>();
  const rounds = (minutes * MINUTE_MS) / 10_000;
  for (let round = 0; round < rounds; round++) {
    const busy = ['a', 'b', 'c'][round % 3];
    const fromMs = story.setRates(Object.fromEntries(['a', 'b', 'c'].map((id) => [id, id === busy ? 1200 : 50])));
    for (let second = 0; second < 10; second++) {
      await sleep(1000);
      if (round >= rounds - 6) await sampleInto(samples, cluster);
    }
    await story.since(fromMs, 0, []);
    story.history.length = 0;
  }
  return new Map(
    [...samples].map(([id, values]) => [id, values.reduce((sum, value) => sum + value, 0) / values.length]),
  );
}

async function sampleInto(samples: Map<string, number[]>, cluster: Cluster): Promise<void> {
  for (const node of cluster.nodes.values()) {
    samples.set(node.id, [...(samples.get(node.id) ?? []), await residentBytes(node)]);
  }
}

async function residentBytes(node: NodeProcess): Promise<number> {
  const status = await readFile(`/proc/${node.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
