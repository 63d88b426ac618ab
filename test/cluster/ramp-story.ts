import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupStatus } from '../../src/node/api/node-status.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { Cluster, type ClusterOptions } from './cluster.js';
import { type Answered, TrafficProcess } from './traffic.js';

const IDS = ['a', 'b', 'c'];
/** All have work for the top of the ramp, and two for the ceiling at which the third is restarted. */
const RATE = 350;
const [FROM, TO] = [100, 1000];
const WINDOW_MS = 5000;
const STEP_MS = 250;
/** What the buckets of the nodes hold. */
const CARRIED_MS = 100;

export interface Followed {
  /**
   * Least and most admitted ÷ what the line allows, over any 5 s. Work was admitted between its asking and its answer:
   * what may have been counts for the least, what must have been for the most. The least is of what the line allows
   * of the work that reached the nodes: a busy machine asks for less.
   */
  readonly least: number;
  readonly most: number;
}

export interface RampRun {
  /** 100 → 1,000 in 10 s, and 3 s at the top. */
  readonly climb: Followed;
  /** 100 → 1,000 in 30 s: while all nodes are restarted one by one in the middle of it, and afterwards. */
  readonly restarting: Followed;
  readonly resumed: Followed;
  /** What a node says of the ceiling ÷ the line, after the restart. */
  readonly shown: number;
}

/** Two groups with a scheduled ramp, one after the other: one is let climb, the other resumes after a rolling restart. */
export async function playRamps(topic: ClusterOptions['topic']): Promise<RampRun> {
  const cluster = await Cluster.create({
    topic,
    nodeSettings: { groups: { short: group('10s'), long: group('30s') } },
  });
  const traffic = new TrafficProcess();
  const history: Answered[] = [];
  const drive = (name: string, ...ids: string[]) => {
    const targets = ids.map((node) => ({ node, url: cluster.url(node), ratePerSecond: RATE, group: name }));
    return traffic.setRates(targets, { poisson: false });
  };
  const collect = async () => {
    await sleep(100);
    history.push(...(await traffic.collect()));
  };
  try {
    await cluster.start(...IDS);
    const drivenMs = drive('short', ...IDS);
    await sleep(13_000);
    await collect();
    const climbMs = firstUse(history, drivenMs);
    const climb = followed(history, climbMs, 10_000, { fromMs: climbMs, toMs: epochNow() - 200 });

    const longDrivenMs = drive('long', ...IDS);
    await sleep(6000);
    for (const id of IDS) {
      const others = IDS.filter((other) => other !== id);
      drive('long', ...others);
      cluster.node(id).child.signal('SIGTERM');
      await cluster.node(id).child.ended;
      await cluster.start(id);
      drive('long', ...IDS);
      await sleep(500);
    }
    const resumedMs = epochNow();
    await sleep(WINDOW_MS + 1000);
    const [ceiling, shownMs] = [await shownCeiling(cluster, 'a', 'long'), epochNow()];
    await collect();
    const longMs = firstUse(history, longDrivenMs);
    const shown = ceiling / line(shownMs - longMs, 30_000);
    const toMs = epochNow() - 200;
    const restarting = followed(history, longMs, 30_000, { fromMs: longMs, toMs });
    return { climb, restarting, resumed: followed(history, longMs, 30_000, { fromMs: resumedMs, toMs }), shown };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

/** The default bucket of 100 ms bears the pauses of a busy machine, and adds a hundredth to 5 s at most. */
function group(overMs: string): object {
  return {
    quota: { publish: { messagesPerSecond: TO } },
    ramp: { mode: 'scheduled', fromPerSecond: FROM, overMs },
  };
}

/** A ramp begins with the first use (docs/guide/ramps.md), not when clients begin to connect. */
function firstUse(answered: readonly Answered[], sinceMs: number): number {
  return Math.min(...answered.flatMap(({ granted, atMs }) => (granted && atMs >= sinceMs ? [atMs] : [])));
}

function line(sinceMs: number, overMs: number): number {
  return Math.min(TO, FROM + ((TO - FROM) * sinceMs) / overMs);
}

function followed(
  answered: readonly Answered[],
  begunMs: number,
  overMs: number,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Followed {
  const granted = answered.filter(({ granted }) => granted);
  const decided = answered.filter(({ decided }) => decided).map(({ atMs }) => atMs);
  let [least, most] = [Infinity, 0];
  const carriable = (startMs: number) => {
    let sum = 0;
    for (let at = startMs; at < startMs + WINDOW_MS; at += CARRIED_MS) {
      const arrived = decided.filter((atMs) => atMs >= at && atMs < at + CARRIED_MS).length;
      sum += Math.min(arrived, (line(Math.max(0, at + CARRIED_MS / 2 - begunMs), overMs) * CARRIED_MS) / 1000);
    }
    return sum;
  };
  const allowed = (sinceMs: number) => {
    let sum = 0;
    for (let at = 5; at < WINDOW_MS; at += 10) sum += line(Math.max(0, sinceMs + at - begunMs), overMs) / 100;
    return sum;
  };
  for (let startMs = fromMs; startMs + WINDOW_MS <= toMs; startMs += STEP_MS) {
    const endMs = startMs + WINDOW_MS;
    const certain = granted.filter(({ sentMs, atMs }) => sentMs >= startMs && atMs < endMs).length;
    const possible = granted.filter(({ sentMs, atMs }) => atMs >= startMs && sentMs < endMs).length;
    least = Math.min(least, possible / carriable(startMs));
    most = Math.max(most, certain / allowed(startMs));
  }
  return { least, most };
}

async function shownCeiling(cluster: Cluster, id: string, name: string): Promise<number> {
  const answer = await fetch(`${cluster.url(id)}/v1/groups/${name}`, { signal: AbortSignal.timeout(5000) });
  const { directions } = (await answer.json()) as GroupStatus;
  return directions.publish.ramp?.ceiling ?? Number.NaN;
}
