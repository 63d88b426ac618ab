/**
 * `npm run bench:limiter`: what one decision costs, in nanoseconds of CPU time, all contestants in turn within one run, so
 * that a machine that slows down slows all of them. Prints min / median / max over the turns, then the aims.
 */
import { createRequire } from 'node:module';
import Bottleneck from 'bottleneck';
import { RateLimiter } from 'limiter';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { BYTES, DIRECTION_COUNT, MESSAGES } from '../src/core/base/vocabulary.js';
import { Buckets } from '../src/core/limiter/buckets.js';
import { Limiter } from '../src/core/limiter/limiter.js';
import { createNode } from '../src/index.js';
import { medianOf } from '../src/tools/load/quantile.js';
import { bytesLine, paired, printAim, printHead, printSample, type Sample } from './limiter/figures.js';
import { BATCH, measureHttp } from './limiter/http.js';
import { allocatedPerCall, bytesPerName, columnBytesPerDimension } from './limiter/memory.js';

/** The plugin does not export it; its own tests require it by this path. */
const LocalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore.js') as new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  cache: number,
) => { incr(key: string, done: () => void, windowMs: number, max: number): void };

const TURNS = 7;
const ONE_BUCKET = 'one bucket, cached clock (checked and taken)';
const OPEN = 'by name, one hot key, group without quota';
const LIMITER = 'npm limiter (tryRemoveTokens)';
const handleName = (clock: 'cached' | 'fresh') => `by handle: messages, bytes, counters, validUntil; ${clock} clock`;
const lookupName = (order: string) => `bare Map lookup, ${order}`;
const byNameName = (order: string) => `by name, ${order}, cached clock`;
const NAMES = 5000;
const TOPICS = 200;
const UNLIMITED = Infinity;

interface Contestant {
  readonly name: string;
  readonly times: number;
  run(times: number): unknown | Promise<unknown>;
}

const names = Array.from({ length: NAMES }, (_, at) => `tenant-${at % 50}/namespace-${at}`);
/** Zipf order: name k is asked for in proportion to 1 / k. */
const zipf = zipfOrder(4096);
let sink = 0;

function oneBucket(): Contestant {
  const buckets = new Buckets(1);
  buckets.setLimit(0, MESSAGES, 1e12, 1e12, 0);
  buckets.setLimit(0, BYTES, UNLIMITED, 1, 0);
  buckets.fill(0, 0);
  return {
    name: ONE_BUCKET,
    times: 3e6,
    run: (times) => {
      const nowMs = performance.now();
      let taken = 0;
      for (let time = 0; time < times; time++) {
        if (buckets.tryTake(0, 1, 0, nowMs) === -1) taken++;
      }
      sink += taken;
    },
  };
}

function byHandle(clock: 'cached' | 'fresh'): Contestant {
  const limiter = new Limiter(DIRECTION_COUNT);
  limiter.validUntilMs.fill(UNLIMITED);
  for (const dimension of [MESSAGES, BYTES]) limiter.setLimit(0, dimension, 1e12, 1e12, 0);
  limiter.buckets.fill(0, 0);
  const cached = (times: number) => {
    const nowMs = performance.now();
    let answers = 0;
    for (let time = 0; time < times; time++) answers += limiter.tryAcquire(0, 1, 100, false, nowMs);
    sink += answers;
  };
  const fresh = (times: number) => {
    let answers = 0;
    for (let time = 0; time < times; time++) answers += limiter.tryAcquire(0, 1, 100, false, performance.now());
    sink += answers;
  };
  return {
    name: handleName(clock),
    times: clock === 'cached' ? 3e6 : 1e6,
    run: clock === 'cached' ? cached : fresh,
  };
}

function mapLookup(order: string, pick: (time: number) => string): Contestant {
  const map = new Map(names.map((name, at) => [name, at]));
  return {
    name: lookupName(order),
    times: 2e6,
    run: (times) => {
      let lanes = 0;
      for (let time = 0; time < times; time++) lanes += map.get(pick(time)) as number;
      sink += lanes;
    },
  };
}

function byName(order: string, pick: (time: number) => string): Contestant {
  const map = new Map(names.map((name, at) => [name, at]));
  const limiter = new Limiter(NAMES);
  limiter.validUntilMs.fill(UNLIMITED);
  for (let lane = 0; lane < NAMES; lane++) {
    for (const dimension of [MESSAGES, BYTES]) limiter.setLimit(lane, dimension, 1e12, 1e12, 0);
    limiter.buckets.fill(lane, 0);
  }
  return {
    name: byNameName(order),
    times: 2e6,
    run: (times) => {
      const nowMs = performance.now();
      let answers = 0;
      for (let time = 0; time < times; time++) {
        answers += limiter.tryAcquire(map.get(pick(time)) as number, 1, 100, false, nowMs);
      }
      sink += answers;
    },
  };
}

function openByName(pick: (time: number) => string): Contestant {
  const map = new Map(names.map((name, at) => [name, at]));
  const limiter = new Limiter(NAMES);
  limiter.validUntilMs.fill(UNLIMITED);
  for (let lane = 0; lane < NAMES; lane++) {
    for (const dimension of [MESSAGES, BYTES]) limiter.setLimit(lane, dimension, UNLIMITED, 1, 0);
  }
  return {
    name: OPEN,
    times: 2e6,
    run: (times) => {
      let passed = 0;
      for (let time = 0; time < times; time++) {
        if (limiter.passUnlimited(map.get(pick(time)) as number, 1, 100, false)) passed++;
      }
      sink += passed;
    },
  };
}

function counter(): Contestant {
  let count = 0;
  return {
    name: 'bare counter',
    times: 3e6,
    run: (times) => {
      for (let time = 0; time < times; time++) if (count < 1e15) count++;
      sink += count;
    },
  };
}

/** @param topics how many are named in turn */
async function wholeNode(
  group: string,
  name: string,
  topics = 0,
): Promise<{ contestant: Contestant; close(): Promise<void> }> {
  const huge = { publish: { messagesPerSecond: 1e12, bytesPerSecond: 1e12 } };
  const groups = {
    plain: { quota: huge },
    levels: { quota: huge, perClient: huge, topics: 'even' },
    open: {},
    beside: { quota: huge, shadow: { quota: huge } },
    shadow: { quota: huge, mode: 'shadow' },
  };
  const node = await createNode({
    config: { cluster: `bench-${group}-${topics}`, node: 'bench', topic: 'memory', groups },
  });
  const amounts = { messages: 1, bytes: 100 };
  const named = Array.from({ length: topics }, (_, at) => ({ topic: `persistent://acme/orders/${at}`, client: 'c' }));
  const options = topics === 0 ? [{ client: 'c' }] : named;
  const run = (times: number) => {
    for (let time = 0; time < times; time++) node.tryAcquire(group, amounts, options[time % options.length]);
  };
  run(1);
  return { contestant: { name, times: 5e5, run }, close: () => node.close() };
}

function others(): Contestant[] {
  const limiter = new RateLimiter({ tokensPerInterval: 1e9, interval: 'second' });
  const flexible = new RateLimiterMemory({ points: 1e12, duration: 1 });
  const bottleneck = new Bottleneck({ reservoir: 1e12 });
  const store = new LocalStore(false, false, 5000);
  return [
    {
      name: LIMITER,
      times: 5e5,
      run: (times) => {
        let removed = 0;
        for (let time = 0; time < times; time++) if (limiter.tryRemoveTokens(1)) removed++;
        sink += removed;
      },
    },
    {
      name: 'npm rate-limiter-flexible (memory, consume)',
      times: 2e4,
      run: async (times) => {
        for (let time = 0; time < times; time++) await flexible.consume('key', 1);
      },
    },
    {
      name: 'npm bottleneck (schedule)',
      times: 50,
      run: async (times) => {
        for (let time = 0; time < times; time++) await bottleneck.schedule(async () => undefined);
      },
    },
    {
      name: '@fastify/rate-limit (its store, incr)',
      times: 3e5,
      run: (times) => {
        for (let time = 0; time < times; time++) store.incr('key', () => undefined, 1000, 1e9);
      },
    },
  ];
}

function zipfOrder(length: number): Uint16Array {
  const weights = names.map((_, at) => 1 / (at + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let state = 12345;
  return Uint16Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    let left = (state / 2 ** 32) * total;
    let at = 0;
    while (left > weights[at]) left -= weights[at++];
    return at;
  });
}

async function measure(contestants: readonly Contestant[]): Promise<Map<string, number[]>> {
  const results = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let turn = -1; turn < TURNS; turn++) {
    for (const { name, times, run } of contestants) {
      const before = process.cpuUsage();
      await run(times);
      const { user, system } = process.cpuUsage(before);
      if (turn >= 0) results.get(name)!.push(((user + system) * 1000) / times);
    }
  }
  return results;
}

const PLAIN = 'node.tryAcquire by name, fresh clock, all checks';
const BESIDE = 'the same with a shadow beside the quota in force';
const plain = await wholeNode('plain', PLAIN);
const beside = await wholeNode('beside', BESIDE);
const shadow = await wholeNode('shadow', 'the same with mode: shadow');
const topics = await wholeNode('plain', `the same, with one of ${TOPICS} topics`, TOPICS);
const open = await wholeNode('open', 'node.tryAcquire, group without quota');
const levels = await wholeNode('levels', 'node.tryAcquire, group, client and divided topic', 1);
const orders: readonly (readonly [string, (time: number) => string])[] = [
  ['one hot key', () => names[0]],
  [`${NAMES} in turn`, (time) => names[time % NAMES]],
  ['Zipf order', (time) => names[zipf[time & 4095]]],
];
const results = await measure([
  counter(),
  { name: 'clock read (performance.now)', times: 1e6, run: readClock },
  oneBucket(),
  byHandle('cached'),
  byHandle('fresh'),
  ...orders.flatMap(([order, pick]) => [mapLookup(order, pick), byName(order, pick)]),
  openByName(orders[0][1]),
  ...[plain, topics, beside, shadow, open, levels].map(({ contestant }) => contestant),
  ...others(),
]);
const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').trim();
console.log(`node ${process.version}, V8 ${process.versions.v8}, flags: ${flags === '' ? 'none' : flags}`);
printHead('nanoseconds of CPU per call');
for (const [name, sample] of results) printSample(name, sample);

const byHandleRun = byHandle('cached').run;
// Measured once, before the HTTP servers leave their garbage.
const columnBytes = columnBytesPerDimension(false);
printHead('memory, bytes');
for (const [name, bytes] of [
  ['columns per group, direction and dimension', columnBytes],
  ['the same where every lane has refused something', columnBytesPerDimension(true)],
  ['per topic or client with a limit of its own, name of 16 characters', bytesPerName()],
  ['allocated per admission by handle, cached clock', allocatedPerCall(byHandleRun)],
  ['allocated per node.tryAcquire, group without quota', allocatedPerCall(open.contestant.run)],
  ['allocated per node.tryAcquire, fresh clock', allocatedPerCall(plain.contestant.run)],
  ['the same with a shadow beside the quota in force', allocatedPerCall(beside.contestant.run)],
  ['of which the clock read (a boxed double)', allocatedPerCall(readClock)],
] as const) {
  console.log(bytesLine(name, bytes));
}

const http = await measureHttp();
printHead('HTTP, requests per second (wall clock)');
for (const { name, requestsPerSecond } of http) printSample(name, requestsPerSecond, 0);
printHead('HTTP, microseconds of CPU of the server per request');
for (const { name, cpuMicros } of http) printSample(name, cpuMicros);

printHead('aims (medians of pairs within a turn)');
const of = (name: string): Sample => results.get(name) as Sample;
const minus = (one: number, other: number) => one - other;
const atMost = (aim: string, figure: number, most: number) => printAim(`${aim} ≤ ${most}`, figure, figure <= most);
const atLeast = (aim: string, figure: number, least: number) =>
  printAim(`${aim} ≥ ${least}`, figure, figure >= least, 2);
atMost('one bucket, ns', medianOf(of(ONE_BUCKET)), 5);
atMost('by handle, ns', medianOf(of(handleName('cached'))), 15);
for (const [order] of orders) {
  atMost(
    `by name beyond the lookup, ${order}, ns`,
    medianOf(paired(of(byNameName(order)), of(lookupName(order)), minus)),
    15,
  );
}
atMost(
  'group without quota beyond the lookup, ns',
  medianOf(paired(of(OPEN), of(lookupName('one hot key')), minus)),
  2,
);
atMost(
  'a shadow beside the quota in force, part of a decision',
  medianOf(paired(of(BESIDE), of(PLAIN), (one, other) => one / other - 1)),
  0.2,
);
atLeast('npm limiter / one bucket', medianOf(paired(of(LIMITER), of(ONE_BUCKET), (one, other) => one / other)), 10);
atMost('bytes per group, direction and dimension', columnBytes, 64);
for (const { name, bare, requestsPerSecond } of http) {
  const beside = http.find((other) => other.name === bare);
  if (beside === undefined) continue;
  const ratios = paired(requestsPerSecond, beside.requestsPerSecond, (one, other) => one / other);
  atLeast(`${name} / bare`, medianOf(ratios), 0.8);
}
console.log(
  `\nThe cached clock is read once per batch of calls here; who uses it decides on tokens that are late by as much.\n` +
    `node.tryAcquire and POST /v1/acquire read the clock for every decision, a batch of ${BATCH} once for all of them.`,
);
await Promise.all([plain, topics, beside, shadow, open, levels].map(({ close }) => close()));
if (Number.isNaN(sink)) throw new Error('nothing was measured');

function readClock(times: number): void {
  let totalMs = 0;
  for (let time = 0; time < times; time++) totalMs += performance.now();
  sink += totalMs;
}
