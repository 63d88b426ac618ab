/**
 * `npm run bench:keys [-- 100000 1000000]`: what a key costs a node that spends it unheard. Bytes per live key, without
 * and with its name, and the CPU time of one decision by name in Zipf order, in turn with a bare Map lookup of the same
 * names in the same order.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createNode } from '../src/index.js';
import { medianOf } from '../src/load/quantile.js';

const TURNS = 7;
const ORDER = 2 ** 20;
const BYTES_AIM = 100;
const NS_AIM = 150;
const ONE = { messages: 1 };
/** What is computed goes here, so that nothing of it is left out by the engine. */
let sink = 0;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const counts = process.argv.slice(2).map(Number);
for (const count of counts.length > 0 ? counts : [100_000, 1_000_000]) await measure(count);

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
  let slowestMs = 0;
  for (const [at, name] of names.entries()) {
    // Rounds run in between, as they do between requests.
    if (at % 10_000 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    const startMs = performance.now();
    node.tryAcquire(name, ONE);
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
  }
  const madeNs = cpuNs(began) / count;
  const live = node.status().keys[0]?.live ?? 0;
  const bytes = (heapBytes() - before) / live;
  const [lookups, decisions]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < TURNS; turn++) {
    lookups.push(nsPerCall(() => lookUpAll(bare, names, order)));
    decisions.push(nsPerCall(() => decideAll(node, names, order)));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [lookup, decision] = [medianOf(lookups), medianOf(decisions)];
  say(`${count} keys, ${live} live: ${bytes.toFixed(0)} bytes per key beside its name (aim ${BYTES_AIM})`);
  say(`  made: ${madeNs.toFixed(0)} ns each, the slowest ${slowestMs.toFixed(1)} ms (columns and map grow)`);
  say(`  by name, Zipf: ${range(decisions)} ns (aim ${NS_AIM}); bare Map lookup ${range(lookups)} ns`);
  say(`  beyond the lookup ${(decision - lookup).toFixed(0)} ns; aims ${verdict(bytes, decision)}`);
  await node.close();
  if (sink === 0) throw new Error('nothing was granted');
}

type Node = Awaited<ReturnType<typeof createNode>>;

function lookUpAll(bare: ReadonlyMap<string, number>, names: readonly string[], order: Uint32Array): void {
  for (let at = 0; at < ORDER; at++) sink += bare.get(names[order[at] as number] as string) as number;
}

function decideAll(node: Node, names: readonly string[], order: Uint32Array): void {
  for (let at = 0; at < ORDER; at++) if (node.tryAcquire(names[order[at] as number] as string, ONE).granted) sink++;
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
      if ((sums[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    order[at] = (low * 7_368_787) % count;
  }
  return order;
}

function nsPerCall(run: () => void): number {
  const began = process.cpuUsage();
  run();
  return cpuNs(began) / ORDER;
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
