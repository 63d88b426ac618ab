/**
 * `npm run bench:reload [-- groups]`: what a hot reload of YAML costs requests. One node under 300 acquires a second; quiet
 * seconds and seconds with two reloads each take turns. Aim: p99 beside reloads at most twice that of quiet times.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { medianOf, quantileOf } from '../src/tools/load/quantile.js';
import { Cluster } from '../test/cluster/cluster.js';
import { rewriteQuota } from '../test/cluster/hot-quotas.js';
import { TrafficProcess } from '../test/cluster/traffic.js';

const groups = Number(process.argv[2] ?? 100);
const RATE_PER_SECOND = 300;
const TURNS = 10;
const RELOADS_PER_TURN = 6;
const TURN_MS = 3000;
const WARM_UP_MS = 5000;
const QUOTAS = [1000, 2000];

const others = Object.fromEntries(
  Array.from({ length: groups - 1 }, (_, at) => [`group-${at}`, { quota: { publish: { messagesPerSecond: 100 } } }]),
);
const orders = { quota: { publish: { messagesPerSecond: QUOTAS[0] } } };
const nodeSettings = { groups: { ...others, orders } };
const cluster = await Cluster.create({ topic: 'embedded', nodeSettings });
const traffic = new TrafficProcess();
try {
  await cluster.start('a');
  traffic.setRates([{ node: 'a', url: cluster.url('a'), ratePerSecond: RATE_PER_SECOND }]);
  await sleep(WARM_UP_MS);
  const p99Ms: Record<'quiet' | 'reloads', number[]> = { quiet: [], reloads: [] };
  let reloads = 0;
  for (let turn = 0; turn < 2 * TURNS; turn++) {
    const kind = turn % 2 === 0 ? 'quiet' : 'reloads';
    await traffic.collect();
    const endMs = performance.now() + TURN_MS;
    if (kind === 'reloads') for (let at = 0; at < RELOADS_PER_TURN; at++) await reload(reloads++);
    await sleep(endMs - performance.now());
    const answered = await traffic.collect();
    p99Ms[kind].push(
      quantileOf(
        answered.map(({ atMs, sentMs }) => atMs - sentMs),
        0.99,
      ),
    );
  }
  const { taken, refused } = (await cluster.status('a')).configuration;
  console.log(
    `${groups} groups, ${taken} reloads taken of ${reloads}, ${refused} refused, ${RATE_PER_SECOND} acquires/s`,
  );
  print('quiet', p99Ms.quiet);
  print('beside reloads', p99Ms.reloads);
  console.log(`p99 beside reloads ÷ quiet, medians: ${(medianOf(p99Ms.reloads) / medianOf(p99Ms.quiet)).toFixed(2)}`);
} finally {
  traffic.stop();
  await cluster.stop();
}

/** Rewrites the file and says so; two a second at most, as the next would be read together with it. */
async function reload(number: number): Promise<void> {
  const startMs = performance.now();
  await rewriteQuota(cluster, ['a'], QUOTAS[(number + 1) % 2]);
  cluster.node('a').child.signal('SIGHUP');
  await sleep(TURN_MS / RELOADS_PER_TURN - (performance.now() - startMs));
}

function print(what: string, p99Ms: readonly number[]): void {
  const [least, most] = [Math.min(...p99Ms), Math.max(...p99Ms)];
  console.log(`p99 ${what}, ms: min ${least.toFixed(1)}, median ${medianOf(p99Ms).toFixed(1)}, max ${most.toFixed(1)}`);
}
