/**
 * `npm run bench:pulsar [-- moves 10 | moves 60 | costs [seconds]]`: real brokers of Pulsar, two of them, each beside a
 * node, on this machine. Each part takes five to nine minutes; without a word all three run one after the other.
 *
 * moves: one group of 1,000 messages per second, a producer at each broker, 800 + 200 wanted, then 200 + 800, then all
 * by both; with Pulsar's own resource groups, which report every 10 or 60 s, and then with the plugin, on the same brokers.
 *
 * costs: what the plugin costs a broker: the most that two producers get through, and the 99th percentile of the time
 * until the acknowledgement, without a group, with a stock group, and with the plugin; interleaved, `seconds` each.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { FollowedCluster } from '../test/pulsar/broker/followed-cluster.js';
import {
  acknowledgedOf,
  mostInWindow,
  PulsarLoad,
  ratesBetween,
  reachedAfter,
  type Sample,
} from '../test/pulsar/broker/pulsar-load.js';

const [part = 'all', argument = ''] = process.argv.slice(2);
const ROUNDS = 4;
const QUOTA = 1000;
const OURS_MS = 20_000;
/** Pulsar's own needs some of its reports. */
const STOCK_REPORTS = { steady: 3, moved: 8, both: 3 };
/** More than these brokers can. */
const NEVER_REACHED = 10_000_000;

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  moves: () => withCluster(Number(argument || 10), compareMoves),
  costs: () => withCluster(60, (cluster) => compareCosts(cluster, Number(argument || 8))),
  all: async () => {
    for (const seconds of [10, 60]) await withCluster(seconds, compareMoves);
    await withCluster(60, (cluster) => compareCosts(cluster, 8));
  },
};
const run = PARTS[part];
if (run === undefined) throw new Error(`no part ${part}: there are ${Object.keys(PARTS).join(', ')}`);
await run();

async function withCluster(
  reportSeconds: number,
  compare: (cluster: FollowedCluster, reportSeconds: number) => Promise<void>,
): Promise<void> {
  const ends: (() => void | Promise<void>)[] = [];
  try {
    const cluster = await FollowedCluster.start((end) => ends.push(end), {
      resourceUsageTransportClassName: 'org.apache.pulsar.broker.resourcegroup.ResourceUsageTopicTransportManager',
      resourceUsageTransportPublishIntervalInSecs: reportSeconds,
    });
    await compare(cluster, reportSeconds);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function compareMoves(cluster: FollowedCluster, reportSeconds: number): Promise<void> {
  console.log(`${QUOTA} messages/s, 800 + 200 wanted, then 200 + 800`);
  const reportMs = 1000 * reportSeconds;
  const { steady, moved, both } = STOCK_REPORTS;
  const long = reportSeconds > 10 ? 2 : 1;
  await keepQuiet(cluster, true);
  await compareMove(cluster, `stock, ${reportSeconds} s`, {
    steadyMs: (steady * reportMs) / long,
    movedMs: (moved * reportMs) / long,
    bothMs: (both * reportMs) / long,
  });
  // Pulsar takes a longer time over at its next report, and never a shorter one than the one it waits for.
  await cluster.pulsar.admin('POST', 'brokers/configuration/resourceUsageTransportPublishIntervalInSecs/86400');
  await keepQuiet(cluster, false);
  await sleep(reportMs);
  await compareMove(cluster, 'with the plugin', { steadyMs: OURS_MS, movedMs: OURS_MS, bothMs: OURS_MS });
}

interface MoveTimes {
  readonly steadyMs: number;
  readonly movedMs: number;
  readonly bothMs: number;
}

async function compareMove(cluster: FollowedCluster, name: string, times: MoveTimes): Promise<void> {
  const topics = await cluster.group(name.startsWith('stock') ? 'stock' : 'ours', { publishRateInMsgs: QUOTA });
  const load = await loadOf(cluster, topics);
  load.want(800, 200);
  await sleep(times.steadyMs);
  load.want(200, 800);
  const after = await samplesOver(load, times.movedMs);
  load.want(QUOTA, QUOTA);
  const both = await samplesOver(load, times.bothMs);
  const settled = reachedAfter(after, 1, 0.95 * 800) / 1000;
  console.log(
    `${name.padEnd(16)} within 5 % after ${settled.toFixed(1)} s, used ${used(after)} %, at most ${over(after)} % over in 5 s; ` +
      `both want ${QUOTA}: ${rates(both)}, ${over(both)} % over in 5 s`,
  );
  load.stop();
}

async function samplesOver(load: PulsarLoad, ms: number): Promise<Sample[]> {
  const beganMs = Date.now();
  await sleep(ms);
  return load.since(beganMs);
}

async function compareCosts(cluster: FollowedCluster, seconds: number): Promise<void> {
  const kinds = ['no group', 'stock group', 'plugin'] as const;
  const topics = {
    'no group': await cluster.topics('alone'),
    'stock group': await cluster.group('cost-stock', { publishRateInMsgs: NEVER_REACHED }),
    plugin: await cluster.group('cost-plugin', { publishRateInMsgs: NEVER_REACHED }),
  };
  const seen = kinds.map((kind) => ({ kind, perSecond: [] as number[], p99Us: [] as number[] }));
  // The first round is for the compilers of all.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { kind, perSecond, p99Us } of seen) {
      await keepQuiet(cluster, kind !== 'plugin');
      const load = await loadOf(cluster, topics[kind]);
      load.want(-1, -1);
      await sleep(2000);
      const samples = await samplesOver(load, 1000 * seconds);
      load.stop();
      if (round === 0) continue;
      perSecond.push(sumOf(ratesOf(samples)));
      p99Us.push((samples.at(-1) as Sample).p99Us);
    }
  }
  console.log(`all that two producers get through, min/median/max of ${ROUNDS} interleaved rounds`);
  for (const { kind, perSecond, p99Us } of seen) {
    console.log(`${kind.padEnd(12)} ${spread(perSecond)} messages/s   p99 ${spread(p99Us)} µs`);
  }
}

async function keepQuiet(cluster: FollowedCluster, isQuiet: boolean): Promise<void> {
  await cluster.pulsar.admin('POST', `brokers/configuration/quotameshQuiet/${isQuiet}`);
  await sleep(1000);
}

function loadOf(cluster: FollowedCluster, topics: readonly string[]): Promise<PulsarLoad> {
  return PulsarLoad.start({ url: cluster.pulsar.brokers[0]?.serviceUrl as string, topics });
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
  return Math.max(0, (100 * mostInWindow(samples, 5, acknowledgedOf)) / (5 * QUOTA) - 100).toFixed(1);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function spread(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((one, other) => one - other).map(Math.round);
  return [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].join(' / ');
}
