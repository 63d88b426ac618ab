/**
 * `npm run bench:pulsar [-- moves 10 | moves 60 | costs [seconds]]`: real brokers of Pulsar, two of them, each beside a
 * node, on this machine. Each part takes four to five minutes; without a word all three run one after the other.
 *
 * moves: one group of 1,000 messages per second, a producer at each broker, 800 + 200 wanted, then 200 + 800, then all
 * by both; with Pulsar's own resource groups, which report every 10 or 60 s, and then with the plugin, on the same
 * brokers. Those that report every 60 s are watched for two and a half minutes.
 *
 * costs: what the plugin costs a broker: the most that a producer gets through, and the 99th percentile of the time
 * until the acknowledgement, at a broker without the plugin, without and with a resource group, and at one with it, where
 * it follows its node and where it keeps quiet; interleaved, `seconds` each.
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
const STOCK_MS: Readonly<Record<number, MoveTimes>> = {
  10: { steadyMs: 30_000, movedMs: 80_000, bothMs: 30_000 },
  60: { steadyMs: 65_000, movedMs: 150_000, bothMs: 0 },
};
/** More than these brokers can. */
const NEVER_REACHED = 10_000_000;

/** At which broker, in which group, and whether the plugin follows its node. */
const KINDS = [
  { kind: 'without the plugin', broker: 1, group: null, isQuiet: true },
  { kind: 'stock group', broker: 1, group: 'cost-stock', isQuiet: true },
  { kind: 'plugin keeps quiet', broker: 0, group: 'cost-quiet', isQuiet: true },
  { kind: 'plugin', broker: 0, group: 'cost-plugin', isQuiet: false },
] as const;

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  moves: () => compareMoves(Number(argument || 10)),
  costs: () => compareCosts(Number(argument || 6)),
  all: async () => {
    for (const seconds of [10, 60]) await compareMoves(seconds);
    await compareCosts(6);
  },
};
const run = PARTS[part];
if (run === undefined) throw new Error(`no part ${part}: there are ${Object.keys(PARTS).join(', ')}`);
await run();

async function withCluster(
  settings: (broker: number) => Readonly<Record<string, string | number>>,
  compare: (cluster: FollowedCluster) => Promise<void>,
): Promise<void> {
  const ends: (() => void | Promise<void>)[] = [];
  try {
    await compare(await FollowedCluster.start((end) => ends.push(end), settings));
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

async function compareMoves(reportSeconds: number): Promise<void> {
  const times = STOCK_MS[reportSeconds];
  if (times === undefined) throw new Error(`moves ${Object.keys(STOCK_MS).join(' or ')}, not ${reportSeconds}`);
  const settings = {
    resourceUsageTransportClassName: 'org.apache.pulsar.broker.resourcegroup.ResourceUsageTopicTransportManager',
    resourceUsageTransportPublishIntervalInSecs: reportSeconds,
  };
  await withCluster(
    () => settings,
    async (cluster) => {
      console.log(`${QUOTA} messages/s, 800 + 200 wanted, then 200 + 800`);
      await keepQuiet(cluster, true);
      await compareMove(cluster, `stock, ${reportSeconds} s`, times);
      // As the guide says; it counts from Pulsar's next report on. Until then the plugin puts right what that writes.
      await cluster.pulsar.admin('POST', 'brokers/configuration/resourceUsageTransportPublishIntervalInSecs/86400');
      await keepQuiet(cluster, false);
      await compareMove(cluster, 'with the plugin', { steadyMs: OURS_MS, movedMs: OURS_MS, bothMs: OURS_MS });
    },
  );
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
  const settled = reachedAfter(after, 1, 0.95 * 800) / 1000;
  console.log(
    `${name.padEnd(16)} within 5 % after ${settled.toFixed(1)} s, used ${used(after)} %, at most ${over(after)} % over in 5 s`,
  );
  if (times.bothMs > 0) {
    load.want(QUOTA, QUOTA);
    const both = await samplesOver(load, times.bothMs);
    console.log(`${name.padEnd(16)} both want ${QUOTA}: ${rates(both)}, at most ${over(both)} % over in 5 s`);
  }
  load.stop();
}

async function samplesOver(load: PulsarLoad, ms: number): Promise<Sample[]> {
  const beganMs = Date.now();
  await sleep(ms);
  return load.since(beganMs);
}

function compareCosts(seconds: number): Promise<void> {
  const settings = (broker: number) => ({ brokerInterceptors: broker === 0 ? 'quotamesh' : '' });
  return withCluster(settings, async (cluster) => {
    const seen = [];
    for (const { group, broker, ...kind } of KINDS) {
      const topics =
        group === null ? cluster.topics('alone') : cluster.group(group, { publishRateInMsgs: NEVER_REACHED });
      seen.push({ ...kind, topic: (await topics)[broker], perSecond: [] as number[], p99Us: [] as number[] });
    }
    // The first round is for the compilers of all.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const { topic, isQuiet, perSecond, p99Us } of seen) {
        await keepQuiet(cluster, isQuiet);
        const load = await loadOf(cluster, [topic]);
        load.want(-1);
        await sleep(2000);
        const samples = await samplesOver(load, 1000 * seconds);
        load.stop();
        if (round === 0) continue;
        perSecond.push(sumOf(ratesOf(samples)));
        p99Us.push((samples.at(-1) as Sample).p99Us);
      }
    }
    console.log(`all that a producer gets through, min/median/max of ${ROUNDS} interleaved rounds`);
    for (const { kind, perSecond, p99Us } of seen) {
      console.log(`${kind.padEnd(20)} ${spread(perSecond)} messages/s   p99 ${spread(p99Us)} µs`);
    }
  });
}

async function keepQuiet(cluster: FollowedCluster, isQuiet: boolean): Promise<void> {
  await cluster.pulsar.admin('POST', `brokers/configuration/quotameshQuiet/${isQuiet}`);
  await sleep(1000);
}

function loadOf(cluster: FollowedCluster, topics: readonly string[]): Promise<PulsarLoad> {
  return PulsarLoad.start({ url: cluster.pulsar.brokers[0]?.serviceUrl, topics });
}

function used(samples: readonly Sample[]): string {
  return ((100 * sumOf(ratesOf(samples))) / QUOTA).toFixed(1);
}

function rates(samples: readonly Sample[]): string {
  return ratesOf(samples).map(Math.round).join(' + ');
}

function ratesOf(samples: readonly Sample[]): number[] {
  return ratesBetween(samples[0], samples.at(-1) as Sample);
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
