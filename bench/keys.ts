/**
 * `npm run bench:keys [-- 100000 1000000]`: what a key costs a node that spends it without publishing it. Bytes per
 * live key, without and with its name, and the CPU time of one decision by name in Zipf order, in turn with a bare Map
 * lookup of the same names in the same order. With `-- --cluster`: what keys cost a cluster (keys-cluster.ts).
 */
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createNode } from '../src/index.js';
import { medianOf } from '../src/tools/load/quantile.js';
import { measureCluster } from './keys-cluster.js';

const TURNS = 7;
const ORDER = 2 ** 20;
const BETWEEN_ROUNDS = 2 ** 16;
const BYTES_AIM = 100;
const NS_AIM = 150;
const FLOOD = 1_000_000;
/** Keys made between two looks at the clocks: a look at the CPU time takes as long as a key. */
const TOGETHER = 100;
const ONE = { messages: 1 };
/** What is computed goes here, so that nothing of it is left out by the engine. */
let sink = 0;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cluster: { type: 'boolean', default: false },
    nodes: { type: 'string', default: '20' },
    keys: { type: 'string', default: '100000' },
    hot: { type: 'string', default: '0.01' },
    warm: { type: 'string', default: '4' },
    minutes: { type: 'string', default: '1' },
    burst: { type: 'string', default: '0' },
    'hot-burst': { type: 'string', default: '0' },
  },
});
if (values.cluster) {
  const { nodes, keys, hot, warm, minutes, burst, 'hot-burst': hotBurst } = values;
  const time = { warmMinutes: +warm, minutes: +minutes };
  measureCluster({ nodes: +nodes, keys: +keys, hotRatio: +hot, ...time, burst: +burst, hotBurst: +hotBurst }, say);
} else {
  const counts = positionals.length > 0 ? positionals.map(Number) : [100_000, 1_000_000];
  for (const count of counts) await measure(count);
  await flood();
}

async function measure(count: number): Promise<void> {
  const names = Array.from({ length: count }, (_, at) => `key:${at.toString(36).padStart(8, '0')}`);
  const bare = new Map(names.map((name, at) => [name, at]));
  const order = zipfOrder(count);
  const node = await createNode({
    config: {
      cluster: 'bench',
      node: 'a',
      topic: 'memory',
      registry: { enabled: false },
      keys: { maxLive: 2 * count, 'key:{id}': { quota: { publish: { messagesPerSecond: 1_000_000 } } } },
    },
    env: {},
  });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const before = heapBytes();
  const began = process.cpuUsage();
  const slowest = { ms: 0, cpuMs: 0 };
  for (let from = 0; from < count; from += TOGETHER) {
    // Rounds run in between, as they do between requests.
    if (from % 10_000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
    for (const name of names.slice(from, from + TOGETHER)) node.tryAcquire(name, ONE);
    slowest.ms = Math.max(slowest.ms, performance.now() - startMs);
    // What other processes of the machine took of the time is none of it; what this one's collector took is.
    slowest.cpuMs = Math.max(slowest.cpuMs, cpuNs(startCpu) / 1e6);
  }
  const madeNs = cpuNs(began) / count;
  const live = node.status().keys[0]?.live ?? 0;
  const bytes = (heapBytes() - before) / live;
  const [read, lookups, timed, decisions]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let turn = 0; turn < TURNS; turn++) {
    read.push(await nsPerCall((from, to) => readAll(names, order, from, to)));
    lookups.push(await nsPerCall((from, to) => lookUpAll(bare, names, order, from, to)));
    timed.push(await nsPerCall((from, to) => lookUpAll(bare, names, order, from, to, performance)));
    decisions.push(await nsPerCall((from, to) => decideAll(node, names, order, from, to)));
  }
  const loud = node.status().keys[0]?.loud ?? 0;
  if (loud > 0) throw new Error(`${loud} keys are groups now: their decisions are others`);
  const decision = medianOf(decisions);
  say(`${count} keys, ${live} live: ${bytes.toFixed(0)} bytes per key beside its name (aim ${BYTES_AIM})`);
  const { ms, cpuMs } = slowest;
  say(
    `  made: ${madeNs.toFixed(0)} ns each; the slowest ${TOGETHER} took ${ms.toFixed(1)} ms, ${cpuMs.toFixed(1)} of CPU`,
  );
  say(`  by name, Zipf: ${range(decisions)} ns (aim ${NS_AIM})`);
  say(`  without any lookup, a letter of each name and the clock: ${range(read)} ns`);
  say(`  bare Map lookup: ${range(lookups)} ns; with the clock read for each, as a decision does: ${range(timed)} ns`);
  const [bareNs, timedNs] = [medianOf(lookups), medianOf(timed)];
  say(
    `  a decision takes ${(decision / bareNs).toFixed(2)} of the lookup, ${(decision / timedNs).toFixed(2)} of lookup and ` +
      `clock; aims ${verdict(bytes, decision)}`,
  );
  await node.close();
  if (Number.isNaN(sink)) throw new Error('what was looked up is no number');
}

/**
 * Ten times as many names as there is room for, each once, as fast as one node answers; a group is asked in between.
 */
async function flood(): Promise<void> {
  const node = await createNode({
    config: {
      cluster: 'bench',
      node: 'a',
      topic: 'memory',
      registry: { enabled: false },
      groups: { orders: { quota: { publish: { messagesPerSecond: 1_000_000 } } } },
      keys: { maxLive: FLOOD / 10, 'key:{id}': { quota: { publish: { messagesPerSecond: 1 } } } },
    },
    env: {},
  });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  node.tryAcquire('orders', ONE);
  const seen = { granted: 0, full: 0, orders: 0, slowestMs: 0 };
  const began = process.cpuUsage();
  for (let from = 0; from < FLOOD; from += TOGETHER) {
    if (from % 10_000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const startCpu = process.cpuUsage();
    for (let id = from; id < from + TOGETHER; id++) {
      try {
        if (node.tryAcquire(`key:flood-${id}`, ONE).granted) seen.granted++;
      } catch {
        seen.full++;
      }
    }
    seen.slowestMs = Math.max(seen.slowestMs, cpuNs(startCpu) / 1e6);
    if (node.tryAcquire('orders', ONE).granted) seen.orders++;
  }
  const { granted, full, orders, slowestMs } = seen;
  say(`a flood of ${FLOOD} names, room for ${FLOOD / 10}: ${granted} granted, ${full} found no room (503)`);
  say(
    `  ${(cpuNs(began) / FLOOD).toFixed(0)} ns each; the slowest ${TOGETHER} took ${slowestMs.toFixed(1)} ms of CPU; ` +
      `another group was granted ${orders} of ${FLOOD / TOGETHER}`,
  );
  await node.close();
  if (orders !== FLOOD / TOGETHER) throw new Error('the flood disturbed another group');
}

type Node = Awaited<ReturnType<typeof createNode>>;

/** What a name in hand costs that nobody has looked at since long ago. */
function readAll(names: readonly string[], order: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) sink += names[order[at]].charCodeAt(0) + performance.now();
}

/** Reading the clock waits until all loads have come back, so the misses of several lookups do not overlap any more. */
function lookUpAll(
  bare: ReadonlyMap<string, number>,
  names: readonly string[],
  order: Uint32Array,
  from: number,
  to: number,
  clock: { now(): number } | null = null,
): void {
  for (let at = from; at < to; at++) {
    if (clock !== null) sink += clock.now();
    sink += bare.get(names[order[at]]) as number;
  }
}

function decideAll(node: Node, names: readonly string[], order: Uint32Array, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    if (!node.tryAcquire(names[order[at]], ONE).granted) throw new Error('a decision was refused');
  }
}

/** Name k is asked for in proportion to 1 / k; neighbours in rank are not neighbours in memory. */
function zipfOrder(count: number): Uint32Array {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) sums[rank] = sum += 1 / (rank + 1);
  const order = new Uint32Array(ORDER);
  let state = 1;
  for (let at = 0; at < ORDER; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const wanted = (state / 2 ** 32) * sum;
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    order[at] = (low * 7_368_787) % count;
  }
  return order;
}

/** Rounds run in between: a node that makes none for as long as a share is valid decides in another way. */
async function nsPerCall(run: (from: number, to: number) => void): Promise<number> {
  let ns = 0;
  for (let from = 0; from < ORDER; from += BETWEEN_ROUNDS) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const began = process.cpuUsage();
    run(from, from + BETWEEN_ROUNDS);
    ns += cpuNs(began);
  }
  return ns / ORDER;
}

function cpuNs(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return 1000 * (user + system);
}

function heapBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function range(turns: readonly number[]): string {
  return [Math.min(...turns), medianOf(turns), Math.max(...turns)].map((ns) => ns.toFixed(0)).join(' / ');
}

function verdict(bytes: number, ns: number): string {
  const missed = [
    ...(bytes <= BYTES_AIM ? [] : [`missed by ${(bytes - BYTES_AIM).toFixed(0)} bytes`]),
    ...(ns <= NS_AIM ? [] : [`missed by ${(ns - NS_AIM).toFixed(0)} ns`]),
  ];
  return missed.length === 0 ? 'met' : missed.join(', ');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
