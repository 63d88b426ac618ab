import { test, vi } from 'vitest';
import { resolveConfig } from '../../../src/config/resolve-config.js';
import { Meter } from '../../../src/demo/measure/meter.js';
import { NodeClients, type Work } from '../../../src/demo/traffic/node-clients.js';
import { Replay } from '../../../src/demo/traffic/replay.js';
import { readTrace } from '../../../src/demo/traffic/trace.js';
import { unevenSplit } from '../../../src/demo/traffic/uneven-split.js';
import { createNode } from '../../../src/index.js';
import { silentTelemetry } from '../../../src/ports/telemetry.js';
import { QuotaNode } from '../../../src/runtime/quota-node.js';
import { createMemoryLog } from '../../../src/topic/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory-topic.js';

const env = process.env;
const num = (name: string, fallback: number) => Number(env[name] ?? fallback);
const FOR = num('FOR', 41) * 1000,
  QM = num('QM', 300),
  QB = num('QB', 600_000);
const IDEAL = env.IDEAL === '1';
let seed = num('SEED', 1);
function rnd() {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const sleep = (ms: number) => new Promise<void>((r) => setTimeout(r, ms));

test('scratch', async () => {
  const rows = await readTrace('examples/traces/azure-llm-code-2023.csv');
  vi.useFakeTimers({
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'setImmediate',
      'clearImmediate',
      'performance',
      'Date',
    ],
  });
  const log = createMemoryLog();
  const names = IDEAL ? ['A'] : ['A', 'B', 'C'];
  const nodes = names.map((id) => {
    const group: Record<string, unknown> = {
      quota: { publish: { messagesPerSecond: QM, bytesPerSecond: QB } },
      burstMs: num('BURST', 40),
      burstMinMessages: num('BMIN', 2),
      allowanceRatio: num('ALLOW', 0.0),
    };
    if (env.STRAT) group.strategy = env.STRAT;
    const timing: Record<string, unknown> = {};
    for (const [k, v] of Object.entries(env)) if (k.startsWith('T_')) timing[k.slice(2)] = Number(v);
    const config = resolveConfig(
      { cluster: 'demo', node: id, topic: 'memory', timing, groups: { requests: group } } as never,
      { source: '(x)' } as never,
    );
    const topic = new MemoryTopic(log);
    const append = topic.append.bind(topic);
    topic.append = async (r) => {
      await sleep(num('TOPIC', 4));
      return append(r);
    };
    return new QuotaNode({ config, topic, telemetry: silentTelemetry, version: 'x', nonce: 1 });
  });
  const starting = Promise.all(nodes.map((n) => n.start()));
  await vi.advanceTimersByTimeAsync(3000);
  await starting;
  for (const n of nodes) if (!n.isReady) throw new Error('not ready');
  const start = performance.now();
  const meter = new Meter([QM, QB], 3);
  const at = () => performance.now() - start;
  const clients = [0, 1, 2].map((i) => {
    const node = nodes[i % nodes.length];
    return new NodeClients({
      random: rnd,
      outcome: { admitted: (w) => meter.admitted(i, w.bytes, at()), gaveUp: (w) => meter.gaveUp(i, w.bytes, at()) },
      acquire: async (w: Work) => {
        const sent = performance.now();
        await sleep(1);
        const d = node.tryAcquire('requests', { messages: 1, bytes: w.bytes }, { retry: w.refusedBefore });
        await sleep(1);
        meter.answered(performance.now() - sent);
        if (d.granted) return { kind: 'granted' };
        return { kind: d.reason === 'quota' ? 'refused' : 'unavailable', retryAfterMs: d.retryAfterMs };
      },
    });
  });
  const replay = new Replay(rows, num('SPEED', 170));
  let lastSec = 0;
  let before: any = null;
  const lines: string[] = [];
  const fine: string[] = [];
  const fineBefore: any[] = [];
  while (at() < FOR) {
    for (const row of replay.arrivedBy(at())) {
      const i = unevenSplit(at(), rnd(), [0, 1, 2]);
      meter.arrived(i, row.bytes, at());
      clients[i].take({ bytes: row.bytes, arrivedMs: performance.now(), refusedBefore: false });
    }
    await vi.advanceTimersByTimeAsync(1);
    if (env.FINE && Math.round(at()) % 50 === 0 && at() > num('FROM', 2) * 1000 && at() < num('TO', 4) * 1000) {
      const ss = nodes.map((n) => n.groupStatus('requests').directions.publish);
      fine.push(
        `${Math.round(at())} ` +
          clients
            .map((c: any, i) => {
              const t = meter.nodes[i];
              const w = t.arrived[0] - t.admitted[0] - t.gaveUp[0];
              const was = fineBefore[i];
              fineBefore[i] = structuredClone(t);
              const l = ss[i].local;
              const n = ss[0].nodes.find((x) => x.nodeId === names[i])!;
              return `${names[i]} arr ${t.arrived[0] - (was?.arrived[0] ?? 0)} w ${w} adm ${(t.admitted[0] - (was?.admitted[0] ?? 0)) * 20}/${Math.round((t.admitted[1] - (was?.admitted[1] ?? 0)) / 50)}k lim ${l.limit.messagesPerSecond!.toFixed(0)}/${(l.limit.bytesPerSecond! / 1000).toFixed(0)}k dem ${n.demand.messagesPerSecond!.toFixed(0)}/${(n.demand.bytesPerSecond! / 1000).toFixed(0)}k`;
            })
            .join(' | '),
      );
    }
    if (Math.floor(at() / 1000) > lastSec) {
      lastSec++;
      const m = meter.measurement(at());
      const st = nodes[0].groupStatus('requests').directions.publish;
      const u = { used: m.utilisation * m.dueSeconds, due: m.dueSeconds };
      const d = (i: number, k: 'arrived' | 'admitted' | 'gaveUp') => m.nodes[i][k][0] - (before?.nodes[i][k][0] ?? 0);
      const wait = (i: number) => m.nodes[i].arrived[0] - m.nodes[i].admitted[0] - m.nodes[i].gaveUp[0];
      const adm = [0, 1, 2].reduce((s, i) => s + d(i, 'admitted'), 0);
      const admB = [0, 1, 2].reduce((s, i) => s + m.nodes[i].admitted[1] - (before?.nodes[i].admitted[1] ?? 0), 0);
      lines.push(
        `${lastSec}s used ${(u.used - (before?.u.used ?? 0)).toFixed(3)} due ${(u.due - (before?.u.due ?? 0)).toFixed(3)} total ${adm} ${Math.round(admB / 1000)}k | ` +
          [0, 1, 2]
            .map(
              (i) =>
                `${d(i, 'arrived')}+${wait(i)}w→${d(i, 'admitted')}${IDEAL ? '' : ` sh ${st.nodes.find((n) => n.nodeId === names[i])!.share.messagesPerSecond!.toFixed(0)} dem ${st.nodes.find((n) => n.nodeId === names[i])!.demand.messagesPerSecond!.toFixed(0)}`}`,
            )
            .join(' | '),
      );
      before = { ...m, u };
    }
  }
  const { nodes: _, ...m } = meter.measurement(at());
  vi.useRealTimers();
  if (env.FINE) console.log(fine.join('\n'));
  if (env.LINES !== '0') console.log(lines.join('\n'));
  console.log(
    JSON.stringify(m),
    'reports/s',
    nodes.map((n) => (n.topic.counters.recordsAppended / (FOR / 1000)).toFixed(1)).join(' '),
  );
}, 300_000);
