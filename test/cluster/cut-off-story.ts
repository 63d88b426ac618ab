import { setTimeout as sleep } from 'node:timers/promises';
import { admittedRate } from '../../sim/cluster/measure.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import type { RedisServer } from '../redis/redis.js';
import { Cluster } from './cluster.js';
import { CuttableProxy } from './cuttable-proxy.js';
import { Story, worstFiveSeconds } from './story.js';
import { TrafficProcess } from './traffic.js';

export const CUT_OFF_QUOTA = 900;
/** As in the simulator's table (sim/topic-away.ts): node a would like to have what b holds. */
const WANTED = { a: 1000, b: 300, c: 100 };
const HELD_MS = [6000, 9000] as const;
/** Behind `stalenessMs` of the others and `holdMs` of the one, until the way is mended. */
const POLICY_MS = [15_500, 21_500] as const;

export interface CutOffRun {
  /** Σ per second: while the share is held; under the policy; after the return. */
  readonly held: number;
  readonly policy: number;
  readonly after: number;
  /** Most over any 5 s from the cut on, as a part of the quota. */
  readonly worst: number;
  readonly degraded: readonly string[];
}

/** One of three nodes loses its way to a Redis that the others go on using. */
export async function playCutOff(
  redis: RedisServer,
  prefix: string,
  isolation: { readonly policy: string; readonly holdMs: string },
): Promise<CutOffRun> {
  const proxy = await CuttableProxy.start(redis.port);
  const topic = { kind: 'redis', addresses: [redis.address], prefix };
  const topicOf = { b: { ...topic, addresses: [proxy.address] } };
  const cluster = await Cluster.create({ topic, topicOf, quota: CUT_OFF_QUOTA, groupSettings: { isolation } });
  const traffic = new TrafficProcess();
  const story = new Story(cluster, traffic, CUT_OFF_QUOTA, { poisson: false });
  try {
    await cluster.start(...Object.keys(WANTED));
    await story.phase(WANTED, 5000, 2000);
    const cutMs = epochNow();
    proxy.cut(true);
    await sleep(POLICY_MS[1]);
    const { degraded } = await cluster.status('b');
    proxy.cut(false);
    const backMs = epochNow();
    await sleep(9000);
    const { events } = await story.since(cutMs, 0, Object.keys(WANTED));
    const rate = ([fromMs, toMs]: readonly [number, number], sinceMs: number) => {
      return admittedRate(events, sinceMs + fromMs, sinceMs + toMs);
    };
    return {
      held: rate(HELD_MS, cutMs),
      policy: rate(POLICY_MS, cutMs),
      after: rate([3000, 8500], backMs),
      worst: worstFiveSeconds(events, CUT_OFF_QUOTA),
      degraded,
    };
  } finally {
    traffic.stop();
    await cluster.stop();
    proxy.stop();
  }
}
