/**
 * `npm run bench:keys -- --cluster [--nodes 20] [--keys 100000] [--hot 0.01] [--warm 4] [--minutes 1] [--burst 0]
 * [--hot-burst 0]`: what keys cost a cluster, in virtual time. Hot keys are asked for at twice their quota, the others
 * at a tenth of it, each request at any node.
 *
 * What it takes grows with the hot keys: a thousand of them take twenty nodes some 3 s of CPU per second of virtual
 * time. So a million keys are played with `--keys 1000000 --hot 0.001 --hot-burst 10 --warm 0.25 --minutes 0.167`: a
 * small burst is spent in a few seconds.
 *
 * Printed: bytes in the log per node and minute, CPU time of this process per node and minute (topic and arrivals of
 * the simulation are in it), and what was admitted of hot and of silent keys beside their quota.
 */
import { KeyedCluster } from '../sim/keys/keyed-cluster.js';

export interface KeysInCluster {
  readonly nodes: number;
  readonly keys: number;
  readonly hotRatio: number;
  /**
   * Played before anything is measured, so that hot keys spend their bursts and pay what was spent without publishing
   * it.
   */
  readonly warmMinutes: number;
  readonly minutes: number;
  /** Messages that a key's bucket holds; 0 = as many as its quota gives in a minute. */
  readonly burst: number;
  /** The same of hot keys; 0 = `burst`. */
  readonly hotBurst: number;
}

export function measureCluster(
  { nodes, keys, hotRatio, warmMinutes, minutes, burst, hotBurst }: KeysInCluster,
  say: (line: string) => void,
): void {
  const hot = Math.round(keys * hotRatio);
  const depth = burst || PER_MINUTE;
  const hotDepth = hotBurst || depth;
  say(`${nodes} nodes, ${keys} keys of ${PER_MINUTE} messages per minute, bursts of ${depth}`);
  say(`  ${hot} of them hot, with bursts of ${hotDepth}`);
  say(`  ${seconds(minutes)} measured, after ${seconds(warmMinutes)}`);
  const templates = { maxLive: 2 * keys, [HOT]: templateOf(hotDepth), [SILENT]: templateOf(depth) };
  const cluster = new KeyedCluster({ nodes, keys: templates, seed: 1, maxLoud: keys });
  const names = Array.from({ length: keys }, (_, at) => {
    return (at < hot ? HOT : SILENT).replace('{id}', at.toString(36).padStart(8, '0'));
  });
  const granted = new Float64Array(keys);
  const counts = { asked: 0, unpublished: 0, aloud: 0, refused: 0, silentRefused: 0 };
  const ask = (key: number) => {
    const node = cluster.nodes[Math.floor(cluster.random.next() * nodes)];
    const answer = node.ask(names[key], 1);
    counts.asked++;
    counts[answer]++;
    if (answer !== 'refused') granted[key] = granted[key] + 1;
    else if (key >= hot) counts.silentRefused++;
  };
  const play = (forMinutes: number) => {
    const owed = { hot: 0, silent: 0 };
    const sent = { records: 0, bytes: 0 };
    for (let step = Math.round((forMinutes * 60_000) / STEP_MS); step > 0; step--) {
      cluster.advance(STEP_MS);
      owed.hot += hot * HOT_DEMAND * PER_STEP;
      owed.silent += (keys - hot) * SILENT_DEMAND * PER_STEP;
      for (; owed.hot >= 1; owed.hot--) ask(Math.floor(cluster.random.next() * hot));
      for (; owed.silent >= 1; owed.silent--) ask(hot + Math.floor(cluster.random.next() * (keys - hot)));
      if (step % STEPS_PER_SECOND !== 1) continue;
      const { records, bytes } = cluster.countSent();
      sent.records += records;
      sent.bytes += bytes;
    }
    return sent;
  };
  // A node begins with empty buckets; its part of them, 1/N of a depth, fills at 1/N of the quota.
  cluster.advance((depth * 60_000) / PER_MINUTE);
  play(warmMinutes);
  granted.fill(0);
  Object.assign(counts, { asked: 0, unpublished: 0, aloud: 0, refused: 0, silentRefused: 0 });
  const began = process.cpuUsage();
  const { records, bytes } = play(minutes);
  const { user, system } = process.cpuUsage(began);
  const perNode = nodes * minutes;
  const loud = [HOT, SILENT].map((template) => {
    return cluster.nodes.reduce((sum, { keys: book }) => sum + (book.counts.get(template)?.loud ?? 0), 0) / nodes;
  });
  const { asked, unpublished, aloud, refused, silentRefused } = counts;
  say(
    `  in the log: ${(bytes / perNode / 1000).toFixed(1)} kB and ${(records / perNode).toFixed(0)} records per node and min`,
  );
  say(
    `  CPU: ${((user + system) / 1e6 / perNode).toFixed(2)} s per node and min; loud keys per node: ` +
      `${loud.map((count) => count.toFixed(0)).join(' hot, ')} others`,
  );
  say(`  asked ${asked}: ${unpublished} granted unpublished, ${aloud} aloud, ${refused} refused`);
  const ofQuota = (key: number) => granted[key] / (PER_MINUTE * minutes);
  const hotRatios = names.slice(0, hot).map((_, key) => ofQuota(key));
  const silentBeyond = names.slice(hot).filter((_, at) => granted[hot + at] > PER_MINUTE * minutes + depth);
  const mean = hotRatios.reduce((sum, ratio) => sum + ratio, 0) / hot;
  say(
    `  hot keys: ${percent(mean)} of the quota on the average, ${percent(Math.min(...hotRatios))} to ` +
      `${percent(Math.max(...hotRatios))}; silent keys beyond quota and burst: ${silentBeyond.length}, requests refused: ` +
      `${silentRefused}`,
  );
  if (unpublished === 0 || aloud === 0) throw new Error('nothing was granted unpublished, or nothing aloud');
}

function percent(ratio: number): string {
  return `${(100 * ratio).toFixed(1)} %`;
}

function templateOf(messages: number): object {
  return { quota: { publish: { messagesPerSecond: `${PER_MINUTE}/min` } }, burst: { messages } };
}

function seconds(minutes: number): string {
  return `${Math.round(60 * minutes)} s`;
}

const HOT = 'hot:{id}';
const SILENT = 'key:{id}';
const PER_MINUTE = 60;
/** Parts of the quota that are asked for. */
const HOT_DEMAND = 2;
const SILENT_DEMAND = 0.1;
const STEP_MS = 20;
const STEPS_PER_SECOND = 1000 / STEP_MS;
/** Messages of one quota in a step. */
const PER_STEP = (PER_MINUTE / 60_000) * STEP_MS;
