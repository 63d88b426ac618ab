import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EmbeddedTopic } from '../../src/topic/embedded/embedded-topic.js';
import { Cluster } from '../cluster/cluster.js';
import { worstWindows } from '../cluster/hot-quotas.js';
import { TrafficProcess } from '../cluster/traffic.js';

const IDS = ['a', 'b', 'c'];
const [BEFORE, AFTER] = [400, 200];

it('a quota that is halved through the registry under full load: worst second at most 1.10 × the quota in force', async () => {
  const cluster = await Cluster.create({ topic: 'embedded', quota: BEFORE });
  const traffic = await TrafficProcess.start();
  try {
    await cluster.start(...IDS);
    traffic.setRates(IDS.map((id) => ({ node: id, url: cluster.url(id), ratePerSecond: 250 })));
    await sleep(4000);
    await traffic.collect();
    const fromMs = Date.now();
    await sleep(2000);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ quota: { publish: { messagesPerSecond: AFTER } } });
    const answer = await fetch(`${cluster.url('b')}/v1/groups/orders`, { method: 'PATCH', headers, body });
    expect(answer.status).toBe(200);
    await sleep(4000);
    const toMs = Date.now() - 200;
    const answered = await traffic.collect();
    const sinceMs = await firstAppendMs(join(cluster.folder, 'state', 'registry'), '/proposal/', '/group/orders/');
    expect(sinceMs).toBeGreaterThan(fromMs);
    const quotas = [
      { sinceMs: 0, messagesPerSecond: BEFORE },
      { sinceMs, messagesPerSecond: AFTER },
    ];
    const { most, windows } = worstWindows(answered, [quotas], { fromMs, toMs, lengthMs: 1000 });
    expect(windows).toBeGreaterThan(60);
    expect(most).toBeLessThan(1.1);
    const after = answered.filter(({ granted, atMs }) => granted && atMs > sinceMs + 1000 && atMs < toMs).length;
    expect(after / ((toMs - sinceMs - 1000) / 1000)).toBeLessThan(AFTER * 1.02);
  } finally {
    traffic.stop();
    await cluster.stop();
  }
});

/** When the topic took the first record of such a key; the proposal is freed when its state is in the log, that stays. */
async function firstAppendMs(path: string, ...parts: readonly string[]): Promise<number> {
  const topic = new EmbeddedTopic({ path, appendTimeoutMs: 5000, durable: true });
  const found: number[] = [];
  await new Promise<void>((resolve, reject) => {
    topic
      .open({
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
