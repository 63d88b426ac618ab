import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { FollowedCluster } from '../pulsar/broker/followed-cluster.js';
import { PULSAR_START_TIMEOUT_MS } from '../pulsar/broker/pulsar-cluster.js';
import { mostInWindow, PulsarLoad, ratesBetween, type Sample, total } from '../pulsar/broker/pulsar-load.js';

const QUOTA = 1000;
let cluster: FollowedCluster;

beforeAll(async () => {
  cluster = await FollowedCluster.start((end) => afterAll(end));
}, PULSAR_START_TIMEOUT_MS);

async function loadOf(topics: readonly string[], batching = false): Promise<PulsarLoad> {
  const load = await PulsarLoad.start({ url: cluster.pulsar.brokers[0]!.serviceUrl, topics, batching });
  onTestFinished(() => load.stop());
  return load;
}

/** Seconds from a moment until the topic has so much for good, by the mean of half a second. */
function settledAfter(samples: readonly Sample[], topic: number, least: number): number {
  const late = samples.filter((sample, at) => {
    const before = samples.findLast(({ ms }, earlier) => earlier < at && sample.ms - ms >= 500);
    return before !== undefined && (ratesBetween(before, sample)[topic] as number) < least;
  });
  return ((late.at(-1)?.ms ?? samples[0]!.ms) - samples[0]!.ms) / 1000;
}

for (const batching of [false, true]) {
  test(`publish, 80/20 and then moved${batching ? ', with batches' : ''}`, async () => {
    const group = batching ? 'moved-batches' : 'moved';
    const topics = await cluster.group(group, { publishRateInMsgs: QUOTA });
    const load = await loadOf(topics, batching);
    load.want(1600, 400);
    await sleep(10_000);
    console.log(`${group}: shares ${await cluster.shares(group)}, ${load.last.acknowledged}`);
    for (const broker of cluster.pulsar.brokers) console.log(broker.lastWords());
    const steadyMs = Date.now();
    await sleep(15_000);
    load.want(400, 1600);
    const movedMs = Date.now();
    await sleep(15_000);
    const steady = load.since(steadyMs).filter(({ ms }) => ms < movedMs);
    const after = load.since(movedMs);
    const all = load.since(steadyMs);
    const perSecond = (samples: readonly Sample[]) => ratesBetween(samples[0]!, samples.at(-1)!).map(Math.round);
    const most = mostInWindow(all, 5, total);
    const lines = after.filter((_, at) => at % 5 === 0).map((sample, at, some) => at > 0 && ratesBetween(some[at - 1]!, sample).map(Math.round));
    console.log(`${group}: ${perSecond(steady)}, then ${perSecond(after)}; most in 5 s ${most}; ${lines.join(' ')}`);
    console.log(`${group}: settled after ${settledAfter(after, 1, 0.9 * 600)} s, shares ${await cluster.shares(group)}`);
    const metrics = await cluster.pulsar.brokers[0]!.metrics('pulsar_quotamesh');
    console.log([...metrics].filter(([name]) => name.includes(`"${group}"`) || !name.includes('{')));
    const used = total(all.at(-1)!) - total(all[0]!);
    expect(used / QUOTA / ((all.at(-1)!.ms - all[0]!.ms) / 1000)).toBeGreaterThan(0.97);
    expect(most).toBeLessThan(1.03 * 5 * QUOTA);
  });
}
