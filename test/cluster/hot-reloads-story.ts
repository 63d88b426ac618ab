import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from './cluster.js';
import { rewriteQuota, takenMs, type WorstWindows, worstSpans } from './hot-quotas.js';
import { TrafficProcess } from './traffic.js';

const IDS = ['a', 'b', 'c'];
const QUOTAS = [100, 200];
const WARM_UP_MS = 4000;
const EVERY_MS = 1000;
const WINDOW_MS = 5000;
const TAKEN_MAX_MS = 15_000;

/** Three nodes under at least twice their quota, whose YAML is rewritten every second. */
export async function playHotReloads(reloads: number): Promise<WorstWindows & { readonly taken: number[] }> {
  const cluster = await Cluster.create({ topic: 'embedded', quota: QUOTAS[0] });
  const traffic = new TrafficProcess();
  try {
    await cluster.start(...IDS);
    traffic.setRates(IDS.map((id) => ({ node: id, url: cluster.url(id), ratePerSecond: 140 })));
    await sleep(WARM_UP_MS);
    await traffic.collect();
    const fromMs = Date.now();
    for (let reload = 1; reload <= reloads; reload++) {
      const startMs = performance.now();
      await rewriteQuota(cluster, IDS, QUOTAS[reload % QUOTAS.length]);
      while (!IDS.every((id) => takenMs(cluster, id).length >= reload)) {
        if (performance.now() - startMs > TAKEN_MAX_MS) throw new Error(`reload ${reload} is not taken`);
        await sleep(20);
      }
      await sleep(EVERY_MS - (performance.now() - startMs));
    }
    const toMs = Date.now() - 100;
    const answered = await traffic.collect();
    const perNode = IDS.map((id) => {
      const steps = takenMs(cluster, id).map((sinceMs, at) => ({
        sinceMs,
        messagesPerSecond: QUOTAS[(at + 1) % QUOTAS.length],
      }));
      return [{ sinceMs: 0, messagesPerSecond: QUOTAS[0] }, ...steps];
    });
    const taken = perNode.map((steps) => steps.length - 1);
    return { ...worstSpans(answered, perNode, { fromMs, toMs, lengthMs: WINDOW_MS }), taken };
  } finally {
    traffic.stop();
    await cluster.stop();
  }
}
