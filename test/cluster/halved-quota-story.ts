import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedTopic } from '../../src/topic/embedded/embedded-topic.js';
import { Cluster } from './cluster.js';
import { type WorstWindows, worstSpans } from './hot-quotas.js';
import { TrafficProcess } from './traffic.js';

const IDS = ['a', 'b', 'c'];
const [BEFORE, AFTER] = [400, 200];

export interface Halved {
  /** From the append until each node had applied it, as their logs say. */
  readonly appliedMs: readonly number[];
  /** All windows of a length, the new quota in force from the append on. */
  sinceAppend(lengthMs: number): WorstWindows;
  /** The same, where the new quota counts at each node from when it has applied it. */
  sinceApplied(lengthMs: number): WorstWindows;
}

/** Three nodes under nearly twice their quota, which is halved through the registry. */
export async function playHalvedQuota(): Promise<Halved> {
  const cluster = await Cluster.create({ topic: 'embedded', quota: BEFORE });
  const traffic = new TrafficProcess();
  try {
    await cluster.start(...IDS);
    traffic.setRates(IDS.map((id) => ({ node: id, url: cluster.url(id), ratePerSecond: 250 })));
    await sleep(WARM_UP_MS);
    await traffic.collect();
    const fromMs = Date.now();
    await sleep(BESIDE_MS);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ quota: { publish: { messagesPerSecond: AFTER } } });
    const answer = await fetch(`${cluster.url('b')}/v1/groups/orders`, { method: 'PATCH', headers, body });
    if (answer.status !== 200) throw new Error(await answer.text());
    await sleep(BESIDE_MS);
    const toMs = Date.now() - 200;
    const answered = await traffic.collect();
    const sinceMs = await firstAppendMs(join(cluster.folder, 'state', 'registry'), '/proposal/', '/group/orders/');
    const quotas = [
      { sinceMs: 0, messagesPerSecond: BEFORE },
      { sinceMs, messagesPerSecond: AFTER },
    ];
    const appliedMs = IDS.map((id) => {
      return Date.parse(APPLIED.exec(cluster.node(id).child.output)?.[1] ?? '') - sinceMs;
    });
    const perNode = appliedMs.map((lateMs) => {
      return quotas.map(({ sinceMs, messagesPerSecond }) => ({ sinceMs: sinceMs + lateMs, messagesPerSecond }));
    });
    return {
      appliedMs,
      sinceAppend: (lengthMs) => worstSpans(answered, [quotas], { fromMs, toMs, lengthMs }),
      sinceApplied: (lengthMs) => worstSpans(answered, perNode, { fromMs, toMs, lengthMs }),
    };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}

const WARM_UP_MS = 4000;
/** Before and behind the change; longer than any window. */
const BESIDE_MS = 6000;
const APPLIED = /"time":"([^"]+)"[^\n]*"group defined at run time"/;

/** When the topic took the first record of such a key; the proposal is freed when its state is in the log, that stays. */
async function firstAppendMs(path: string, ...parts: readonly string[]): Promise<number> {
  const topic = new EmbeddedTopic({ path, appendTimeoutMs: 5000, durable: true });
  const found: number[] = [];
  await new Promise<void>((resolve, reject) => {
    topic
      .open({
        onEpoch: () => undefined,
        onRecords: (records) => {
          for (const { key, appendMs, value } of records) {
            if (value !== null && parts.some((part) => key.includes(part))) found.push(appendMs);
          }
        },
        onCaughtUp: resolve,
        onLost: () => undefined,
        onRecovered: () => undefined,
        onFailed: reject,
      })
      .catch(reject);
  });
  await topic.close();
  return Math.min(...found);
}
