import { setTimeout as sleep } from 'node:timers/promises';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { Cluster, type ClusterOptions } from './cluster.js';
import { type QuotaStep, worstSpans } from './hot-quotas.js';
import { carriable } from './story.js';
import { type Answered, TrafficProcess } from './traffic.js';

export const POOL_QUOTA = 900;
/** Each node has work for more than its share; three times the quota would tell of a slow machine. By the number of nodes. */
const RATES = [0, 1000, 550, 400];
const WINDOW_MS = 5000;
/** Longer than a window, so that several places of it are seen. */
const SETTLED_MS = 6000;
/** Some 100 ms, and `stalenessMs` more behind a kill; how long it may take is held in virtual time. */
const AGREED_PATIENCE_MS = 30_000;
const AGREED_POLL_MS = 50;
/** Buckets fill, and clients find the nodes that are new to them. */
const WARM_MS = 1000;

export interface PoolPhase {
  readonly what: string;
  /** Least and most admitted ÷ quota over any 5 s of the settled phase. */
  readonly least: number;
  readonly most: number;
  /** What could have been admitted of what reached the nodes ÷ quota, in the worst 5 s: a busy machine asks for less. */
  readonly carriable: number;
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
  const traffic = new TrafficProcess();
  const history: Answered[] = [];
  const drive = (...ids: string[]) => {
    const ratePerSecond = RATES[ids.length];
    return traffic.setRates(ids.map((node) => ({ node, url: cluster.url(node), ratePerSecond })));
  };
  const phases: PoolPhase[] = [];
  async function settled(what: string, ...ids: string[]): Promise<void> {
    await untilAgreed(cluster, ids);
    await sleep(WARM_MS);
    const fromMs = epochNow();
    await sleep(SETTLED_MS);
    const toMs = epochNow();
    await sleep(100);
    history.push(...(await traffic.collect()));
    const { least, most } = worstSpans(history, [QUOTA_IN_FORCE], { fromMs, toMs, lengthMs: WINDOW_MS });
    phases.push({ what, least, most, carriable: leastCarriable(history, fromMs, toMs) });
  }
  try {
    await cluster.start('a');
    const fromMs = drive('a');
    await settled('1 node', 'a');
    await cluster.start('b', 'c');
    drive('a', 'b', 'c');
    await settled('3 nodes', 'a', 'b', 'c');
    cluster.node('c').child.signal('SIGTERM');
    await cluster.node('c').child.ended;
    drive('a', 'b');
    await settled('2 nodes after SIGTERM', 'a', 'b');
    cluster.node('b').child.signal('SIGKILL');
    drive('a');
    await settled('1 node after kill -9', 'a');
    const most = (lengthMs: number) => {
      return worstSpans(history, [QUOTA_IN_FORCE], { fromMs, toMs: epochNow(), lengthMs }).most;
    };
    return { phases, worstFiveSeconds: most(WINDOW_MS), worstSecond: most(1000) };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

/** Every one of them divides by as many, and knows that all do. */
async function untilAgreed(cluster: Cluster, ids: readonly string[]): Promise<void> {
  const deadlineMs = epochNow() + AGREED_PATIENCE_MS;
  for (;;) {
    const pools = await Promise.all(ids.map(async (id) => (await cluster.status(id)).pool));
    if (pools.every((pool) => pool?.agreed === true && pool.size === ids.length)) return;
    if (epochNow() > deadlineMs) throw new Error(`no agreement of ${ids.join(', ')}: ${JSON.stringify(pools)}`);
    await sleep(AGREED_POLL_MS);
  }
}

/** In the window of the phase that got least. */
function leastCarriable(history: readonly Answered[], fromMs: number, toMs: number): number {
  const own = history.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  let least = Infinity;
  for (let startMs = fromMs; startMs + WINDOW_MS <= toMs; startMs += WINDOW_STEP_MS) {
    least = Math.min(least, carriable(own, startMs, startMs + WINDOW_MS, POOL_QUOTA) / POOL_QUOTA);
  }
  return least;
}

const WINDOW_STEP_MS = 250;
const QUOTA_IN_FORCE: readonly QuotaStep[] = [{ sinceMs: 0, messagesPerSecond: POOL_QUOTA }];
