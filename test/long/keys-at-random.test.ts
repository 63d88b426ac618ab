import { expect, test } from 'vitest';
import { KeyedCluster } from '../../sim/keys/keyed-cluster.js';

const NODES = 3;
const KEYS = 10;
const STEP_MS = 10;
/** The burst of a minute is spent at once; by then it is paid, or the bucket has filled again. */
const SETTLE_MS = 60_000;
const JUDGED_MS = 120_000;
/**
 * Each node rounds to whole messages, and waits for the requests that come to it: that is a standard deviation of 2 in
 * 100 messages of three nodes, and less of more.
 */
const DEVIATIONS = 3;
const DEVIATION_OF_100 = 2;
/**
 * Part of what is due over all. Wished for was 0.99 below the quota, too: a node that was near its share in a lull is
 * given less for a while, and tells what it left only when it is a part of the depth (docs/decisions/0070).
 */
const LEAST = { below: 0.95, above: 0.99 };

/** A balancer that hands each request to any node. */
test.each([
  { perMinute: 600, demand: 0.8 },
  { perMinute: 600, demand: 2 },
  { perMinute: 600, demand: 4 },
  { perMinute: 1200, demand: 0.9 },
  { perMinute: 1200, demand: 2 },
  { perMinute: 3000, demand: 0.9 },
  { perMinute: 3000, demand: 2 },
])(
  'keys of $perMinute/min, asked for $demand times as often at any of three nodes, get what they ask for, up to their quota',
  ({ perMinute, demand }) => {
    const quota = { publish: { messagesPerSecond: `${perMinute}/min` } };
    const cluster = new KeyedCluster({ nodes: NODES, keys: { 'key:{id}': { quota } }, seed: 3 });
    const perSecond = perMinute / 60;
    const granted = Array.from({ length: KEYS }, () => [] as number[]);
    const ask = (key: number) => {
      const node = cluster.nodes[Math.floor(cluster.random.next() * NODES)];
      if (node.ask(`key:${key}`, 1) !== 'refused') granted[key].push(cluster.nowMs);
    };
    cluster.advance(63_000);
    for (let key = 0; key < KEYS; key++) {
      for (let asked = 0; asked < perMinute; asked++) {
        ask(key);
        if (asked % 20 === 0) cluster.advance(1);
      }
    }
    const fromMs = cluster.nowMs + SETTLE_MS;
    const toMs = fromMs + JUDGED_MS;
    for (let due = 0; cluster.nowMs < toMs; cluster.advance(STEP_MS)) {
      due += (perSecond * demand * STEP_MS) / 1000;
      for (; due >= 1; due--) for (let key = 0; key < KEYS; key++) ask(key);
    }
    const wanted = perSecond * Math.min(1, demand);
    const judged = granted.map((times) => times.filter((ms) => ms >= fromMs));
    const ratios = judged.map(({ length }) => length / (wanted * (JUDGED_MS / 1000)));
    const spans = judged.flatMap((times) => spansOf(times, toMs));
    const [least, most] = [Math.min(...spans), Math.max(...spans)];
    console.log(
      `${perMinute}/min × ${demand}: ${percent(Math.min(...ratios))} to ${percent(Math.max(...ratios))} of what was due; ` +
        `any 10 s ${percent(least / (10 * wanted))} to ${percent(most / (10 * wanted))}`,
    );
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(LEAST[demand < 1 ? 'below' : 'above']);
    expect(Math.max(...ratios)).toBeLessThanOrEqual(1.01);
    if (demand < 1) return;
    const chance = DEVIATIONS * DEVIATION_OF_100 * Math.sqrt(wanted / 10);
    expect(least).toBeGreaterThanOrEqual(10 * wanted - chance);
    expect(most).toBeLessThanOrEqual(10 * wanted + chance);
  },
);

/** Grants in all spans of 10 s that begin with a grant, or right behind one. */
function spansOf(times: readonly number[], toMs: number): number[] {
  const spans: number[] = [];
  let [end, same] = [0, 0];
  for (let from = 0; from < times.length && times[from] + 10_000 <= toMs; from++) {
    while (end < times.length && times[end] < times[from] + 10_000) end++;
    while (same < times.length && times[same] <= times[from]) same++;
    spans.push(end - from, end - same);
  }
  return spans;
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}
