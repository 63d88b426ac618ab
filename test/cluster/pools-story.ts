import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, type ClusterOptions } from './cluster.js';
import { type QuotaStep, worstWindows } from './hot-quotas.js';
import { now } from './story.js';
import { type Answered, TrafficProcess } from './traffic.js';

export const POOL_QUOTA = 900;
/** Each node has work for more than its share; three times the quota would tell of a slow machine. By the number of nodes. */
const RATES = [0, 1000, 550, 400];
const WINDOW_MS = 5000;
/** Longer than a window, so that several places of it are seen. */
const SETTLED_MS = 6000;
/** From a start or a farewell until the pool agrees: some 100 ms, ten times that on a busy machine. */
const AGREED_MS = 1000;
/** A killed node counts until it has been silent for `stalenessMs`. */
const STALENESS_MS = 5000;

export interface PoolPhase {
  readonly what: string;
  /** Least and most admitted ÷ quota over any 5 s of the settled phase. */
  readonly least: number;
  readonly most: number;
}

export interface PoolRun {
  readonly phases: readonly PoolPhase[];
  /** Most admitted ÷ quota over any 5 s, and over any sliding second, of the whole run, changes included. */
  readonly worstFiveSeconds: number;
  readonly worstSecond: number;
}

/** 1 → 3 → 2 → 1 nodes of strategy `equal` by start, SIGTERM and kill -9, each with work for the whole quota. */
export async function playPools(topic: ClusterOptions['topic']): Promise<PoolRun> {
  const groupSettings = { strategy: 'equal' };
  const cluster = await Cluster.create({ topic, quota: POOL_QUOTA, groupSettings });
  const traffic = await TrafficProcess.start();
  const history: Answered[] = [];
  const drive = (...ids: string[]) => {
    const ratePerSecond = RATES[ids.length]!;
    return traffic.setRates(ids.map((node) => ({ node, url: cluster.url(node), ratePerSecond })));
  };
  const phases: PoolPhase[] = [];
  async function settled(what: string, agreedMs: number): Promise<void> {
    await sleep(agreedMs);
    const fromMs = now();
    await sleep(SETTLED_MS);
    const toMs = now();
    await sleep(100);
    history.push(...(await traffic.collect()));
    phases.push({ what, ...worstWindows(history, [QUOTA_IN_FORCE], { fromMs, toMs, lengthMs: WINDOW_MS }) });
  }
  try {
    await cluster.start('a');
    const fromMs = drive('a');
    await settled('1 node', AGREED_MS);
    await cluster.start('b', 'c');
    drive('a', 'b', 'c');
    await settled('3 nodes', AGREED_MS);
    cluster.node('c').child.kill('SIGTERM');
    await cluster.node('c').exited;
    drive('a', 'b');
    await settled('2 nodes after SIGTERM', AGREED_MS);
    cluster.node('b').child.kill('SIGKILL');
    drive('a');
    await settled('1 node after kill -9', STALENESS_MS + AGREED_MS);
    const most = (lengthMs: number) => {
      return worstWindows(history, [QUOTA_IN_FORCE], { fromMs, toMs: now(), lengthMs }).most;
    };
    return { phases, worstFiveSeconds: most(WINDOW_MS), worstSecond: most(1000) };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

const QUOTA_IN_FORCE: readonly QuotaStep[] = [{ sinceMs: 0, messagesPerSecond: POOL_QUOTA }];
