/**
 * `npm run bench:envoy [-- rounds [direct | through | quotas]]`: a node and envoyproxy/ratelimit on a Redis asked directly; then
 * requests through an Envoy that limits nothing, that decides by quotas which a node assigns, that asks a node, and that
 * asks ratelimit; in turns, never over the limit. Needs pip, Go, a Redis, and h2load (nghttp2-client) for the first.
 * Generator, Envoy and service share the cores. `quotas`: streams of 20,000 buckets, and what a node takes for them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpPipe } from '../src/tools/load/http-pipe.js';
import { medianOf, quantileOf } from '../src/tools/load/quantile.js';
import { type Envoy, startEnvoy } from '../test/envoy/envoy.js';
import { EnvoyCluster } from '../test/envoy/envoy-cluster.js';
import { quotaFilter } from '../test/envoy/quota-filter.js';
import { rateLimitFilter, tenantDescriptor } from '../test/envoy/rate-limit-filter.js';
import { measureDirect } from './envoy/direct.js';
import { measureManyBuckets } from './envoy/many-buckets.js';
import { paired, printAim, printHead, printSample } from './limiter/figures.js';
import { contender as ratelimit } from './race/contenders/envoy-ratelimit.js';
import { cpuOf } from './race/run-contender.js';

const ROUNDS = Number(process.argv[2] ?? 3);
const PART = process.argv[3] ?? 'both';
const STREAMS = 2;
const SECONDS = 4;
const CONNECTIONS = [1, 32];
/** Two reports, so that a quota is assigned by demand. */
const WARM_MS = 7000;
const PER_SECOND = 1_000_000;

/** One way of limiting: an Envoy, and the processes that serve it. */
interface Way {
  readonly name: string;
  readonly envoy: Envoy;
  /** Each way has a quota of its own. */
  readonly tenant: string;
  pids(): readonly number[];
}

interface Turn {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly envoyMicros: number;
  readonly serviceMicros: number;
}

if (PART === 'quotas') {
  await measureManyBuckets(STREAMS);
  process.exit(0);
}
const quota = { publish: { messagesPerSecond: PER_SECOND } };
const ours = await EnvoyCluster.start(['a'], { 'edge/tenant:assigned': { quota }, 'edge/tenant:asked': { quota } });
const theirs = await ratelimit.start({ key: 'alice', perSecond: PER_SECOND, burst: PER_SECOND, nodes: 1 });
try {
  if (PART !== 'through') await direct();
  if (PART !== 'direct') await measure(await waysOf());
} finally {
  await ours.stop();
  await theirs.stop();
}

async function direct(): Promise<void> {
  const node = { name: 'a node', port: ours.portOf('a'), domain: 'edge', key: 'tenant', value: 'asked' };
  const ratelimits = { name: 'ratelimit + Redis', port: Number(theirs.address), domain: 'race', key: 'key' };
  const nodePids = () => [ours.cluster.node('a').child.pid];
  await measureDirect(ROUNDS, [
    { ...node, pids: nodePids },
    { ...ratelimits, value: 'alice', pids: () => theirs.pids() },
  ]);
}

async function waysOf(): Promise<Way[]> {
  const ourPids = () => [ours.cluster.node('a').child.pid];
  const quotas = { filters: [quotaFilter({ domain: 'edge', name: 'bench', expired: 'ALLOW_ALL' })] };
  const asked = { filters: [rateLimitFilter('edge')], rateLimits: [tenantDescriptor('tenant')] };
  const askedThem = { filters: [rateLimitFilter('race')], rateLimits: [tenantDescriptor('key')] };
  const none = await startEnvoy({ filters: [], nodes: [] });
  ours.envoys.push(none);
  const withThem = await startEnvoy({ ...askedThem, nodes: [Number(theirs.address)] });
  ours.envoys.push(withThem);
  return [
    { name: 'no limit', tenant: 'any', envoy: none, pids: () => [] },
    { name: 'quotas assigned by a node', tenant: 'assigned', envoy: await ours.envoy(['a'], quotas), pids: ourPids },
    { name: 'a node is asked', tenant: 'asked', envoy: await ours.envoy(['a'], asked), pids: ourPids },
    { name: 'ratelimit + Redis is asked', tenant: 'alice', envoy: withThem, pids: () => theirs.pids() },
  ];
}

async function measure(ways: readonly Way[]): Promise<void> {
  for (const way of ways) await play(way, 8, 2);
  await sleep(WARM_MS);
  for (const connections of CONNECTIONS) {
    const turns = new Map<Way, Turn[]>(ways.map((way) => [way, []]));
    for (let round = 0; round < ROUNDS; round++) {
      const order = round % 2 === 0 ? ways : ways.toReversed();
      for (const way of order) turns.get(way)?.push(await play(way, connections, SECONDS));
    }
    print(
      connections,
      ways.map((way) => ({ name: way.name, turns: turns.get(way) ?? [] })),
    );
  }
}

/** Plays requests, one at a time on each connection. Throws if one is refused or fails. */
async function play({ name, envoy, tenant, pids }: Way, connections: number, seconds: number): Promise<Turn> {
  const [envoyBefore, serviceBefore] = [await cpuOf(envoy.pid), await sumOf(pids())];
  const request = `GET / HTTP/1.1\r\nhost: envoy\r\nx-tenant: ${tenant}\r\n\r\n`;
  const tookMs: number[] = [];
  const wrong: (number | null)[] = [];
  const begunMs = performance.now();
  const untilMs = begunMs + 1000 * seconds;
  const one = () => {
    return new Promise<void>((resolve) => {
      const pipe = new HttpPipe({ host: '127.0.0.1', port: envoy.port });
      const ask = () => {
        const sentMs = performance.now();
        const onAnswer = (status: number | null) => {
          const nowMs = performance.now();
          tookMs.push(nowMs - sentMs);
          if (status !== 200) wrong.push(status);
          if (nowMs < untilMs && status !== null) ask();
          else {
            pipe.close();
            resolve();
          }
        };
        pipe.send({ request, onAnswer });
      };
      ask();
    });
  };
  await Promise.all(Array.from({ length: connections }, one));
  const elapsed = (performance.now() - begunMs) / 1000;
  if (wrong.length > 0) throw new Error(`${name}: ${wrong.length} of ${tookMs.length} answers are ${wrong[0]}`);
  const [envoyAfter, serviceAfter] = [await cpuOf(envoy.pid), await sumOf(pids())];
  return {
    perSecond: tookMs.length / elapsed,
    p50Ms: medianOf(tookMs),
    p99Ms: quantileOf(tookMs, 0.99),
    envoyMicros: (envoyAfter - envoyBefore) / tookMs.length,
    serviceMicros: (serviceAfter - serviceBefore) / tookMs.length,
  };
}

async function sumOf(pids: readonly number[]): Promise<number> {
  const each = await Promise.all(pids.map(cpuOf));
  return each.reduce((sum, micros) => sum + micros, 0);
}

function print(connections: number, rows: readonly { name: string; turns: readonly Turn[] }[]): void {
  const figures: [string, keyof Turn, number][] = [
    ['requests/s', 'perSecond', 0],
    ['ms, median', 'p50Ms', 2],
    ['ms, p99', 'p99Ms', 2],
    ['µs of CPU of Envoy per request', 'envoyMicros', 1],
    ['µs of CPU of the service per request', 'serviceMicros', 1],
  ];
  for (const [what, key, digits] of figures) {
    printHead(`${what}, ${connections === 1 ? 'one connection' : `${connections} connections`}`);
    for (const { name, turns } of rows)
      printSample(
        name,
        turns.map((turn) => turn[key]),
        digits,
      );
  }
  const [none = [], quotas = [], node = [], ratelimits = []] = rows.map(({ turns }) => turns);
  const ratio = (one: readonly Turn[], other: readonly Turn[], key: keyof Turn) => {
    const figuresOf = (turns: readonly Turn[]) => turns.map((turn) => turn[key]);
    return medianOf(paired(figuresOf(one), figuresOf(other), (left, right) => left / right));
  };
  printHead('aims (medians of pairs within a round)');
  const byQuotas = ratio(quotas, none, 'perSecond');
  printAim('requests/s: quotas assigned by a node / no limit ≥ 0.9', byQuotas, byQuotas >= 0.9, 2);
  const asked = ratio(node, ratelimits, 'perSecond');
  printAim('requests/s: a node / ratelimit + Redis ≥ 1.5', asked, asked >= 1.5, 2);
  const cpu = ratio(node, ratelimits, 'serviceMicros');
  printAim('CPU of the service: a node / ratelimit + Redis ≤ 0.5', cpu, cpu <= 0.5, 2);
  const late = ratio(node, ratelimits, 'p99Ms');
  printAim('p99: a node / ratelimit + Redis < 1', late, late < 1, 2);
}
