/**
 * `npm run bench:pulsar [-- seconds]`: real brokers of Pulsar, two of them, each beside a node, on this machine.
 *
 * First: one group of 1,000 messages per second, a producer at each broker, 800 + 200 wanted, then 200 + 800; with
 * Pulsar's own resource groups, which report every 10 s, and with the plugin, on the same brokers one after the other.
 * Second, what the plugin costs a broker: the most that two producers get through, and the 99th percentile of the time
 * until the acknowledgement, without a group, with a stock group, and with the plugin; interleaved, `seconds` each.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FollowedCluster } from '../test/pulsar/broker/followed-cluster.js';
import {
  acknowledged,
  mostInWindow,
  PulsarLoad,
  ratesBetween,
  reachedAfter,
  type Sample,
} from '../test/pulsar/broker/pulsar-load.js';

const SECONDS = Number(process.argv[2] ?? 10);
const ROUNDS = 3;
const QUOTA = 1000;
const REPORT_SECONDS = 10;
/** Pulsar's own needs several of its reports. */
const STOCK_STEADY_MS = 60_000;
const STOCK_MOVED_MS = 100_000;
const OURS_STEADY_MS = 15_000;
const OURS_MOVED_MS = 20_000;
/** More than these brokers can. */
const NEVER_REACHED = 10_000_000;

const ends: (() => void | Promise<void>)[] = [];
try {
  const cluster = await FollowedCluster.start((end) => ends.push(end), {
    resourceUsageTransportClassName: 'org.apache.pulsar.broker.resourcegroup.ResourceUsageTopicTransportManager',
    resourceUsageTransportPublishIntervalInSecs: REPORT_SECONDS,
  });
  await compareMoves(cluster);
  await compareCosts(cluster);
} finally {
  for (const end of ends.reverse()) await end();
}

async function compareMoves(cluster: FollowedCluster): Promise<void> {
  console.log(`${QUOTA} messages/s, 800 + 200 wanted, then 200 + 800`);
  for (const isOurs of [false, true]) {
    await keepQuiet(cluster, !isOurs);
    const topics = await cluster.group(isOurs ? 'ours' : 'stock', { publishRateInMsgs: QUOTA });
    const load = await loadOf(cluster, topics);
    load.want(800, 200);
    await sleep(isOurs ? OURS_STEADY_MS : STOCK_STEADY_MS);
    load.want(200, 800);
    const movedMs = Date.now();
    await sleep(isOurs ? OURS_MOVED_MS : STOCK_MOVED_MS);
    const after = load.since(movedMs);
    load.want(QUOTA, QUOTA);
    const bothMs = Date.now();
    await sleep(isOurs ? OURS_MOVED_MS : STOCK_STEADY_MS);
    const both = load.since(bothMs);
    const settled = reachedAfter(after, 1, 0.95 * 800) / 1000;
    console.log(
      `${isOurs ? 'with the plugin' : `stock, ${REPORT_SECONDS} s     `}  within 5 % after ${settled.toFixed(1)} s, used ` +
        `${used(after)} %, at most ${over(after)} % over in 5 s; both want ${QUOTA}: ${rates(both)}, ${over(both)} % over in 5 s`,
    );
    load.stop();
  }
}

async function compareCosts(cluster: FollowedCluster): Promise<void> {
  const kinds = ['no group', 'stock group', 'plugin'] as const;
  const topics = {
    'no group': await cluster.topics('alone'),
    'stock group': await cluster.group('cost-stock', { publishRateInMsgs: NEVER_REACHED }),
    plugin: await cluster.group('cost-plugin', { publishRateInMsgs: NEVER_REACHED }),
  };
  const seen = kinds.map((kind) => ({ kind, perSecond: [] as number[], p99Us: [] as number[] }));
  for (let round = 0; round < ROUNDS; round++) {
    for (const { kind, perSecond, p99Us } of seen) {
      await keepQuiet(cluster, kind !== 'plugin');
      const load = await loadOf(cluster, topics[kind]);
      load.want(-1, -1);
      await sleep(3000);
      const beganMs = Date.now();
      await sleep(1000 * SECONDS);
      perSecond.push(sumOf(ratesBetween(load.since(beganMs)[0] as Sample, load.last)));
      p99Us.push(load.last.p99Us);
      load.stop();
    }
  }
  console.log(`all that two producers get through, min/median/max of ${ROUNDS} interleaved rounds`);
  for (const { kind, perSecond, p99Us } of seen) {
    console.log(`${kind.padEnd(12)} ${spread(perSecond)} messages/s   p99 ${spread(p99Us)} µs`);
  }
}

async function keepQuiet(cluster: FollowedCluster, isQuiet: boolean): Promise<void> {
  await cluster.pulsar.admin('POST', `brokers/configuration/quotameshQuiet/${isQuiet}`);
  await cluster.pulsar.admin(
    'POST',
    `brokers/configuration/resourceUsageTransportPublishIntervalInSecs/${isQuiet ? REPORT_SECONDS : 86_400}`,
  );
  await sleep(2000);
}

async function loadOf(cluster: FollowedCluster, topics: readonly string[]): Promise<PulsarLoad> {
  const url = cluster.pulsar.brokers[0]?.serviceUrl as string;
  const load = await PulsarLoad.start({ url, topics });
  ends.push(() => load.stop());
  return load;
}

function used(samples: readonly Sample[]): string {
  return ((100 * sumOf(ratesOf(samples))) / QUOTA).toFixed(1);
}

function rates(samples: readonly Sample[]): string {
  return ratesOf(samples).map(Math.round).join(' + ');
}

function ratesOf(samples: readonly Sample[]): number[] {
  return ratesBetween(samples[0] as Sample, samples.at(-1) as Sample);
}

function over(samples: readonly Sample[]): string {
  return Math.max(0, (100 * mostInWindow(samples, 5, acknowledged)) / (5 * QUOTA) - 100).toFixed(1);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function spread(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((one, other) => one - other).map(Math.round);
  return [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].join(' / ');
}
