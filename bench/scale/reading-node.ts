/** The node that is measured, in a process of its own: a WholeNode on the Kafka adapter. Told what to do by its parent. */

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import { laneOf } from '../../src/core/base/vocabulary.js';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';
import { WholeNode } from '../../test/whole-node.js';
import { TOPIC } from './broker.js';
import { scaleConfig } from './scale-config.js';

interface Start {
  readonly do: 'start';
  readonly broker: string;
  readonly groups: number;
  readonly topic: Partial<KafkaTopicConfig>;
}

/** Orders that the parent sends to this process. */
export type Order =
  | Start
  | { readonly do: 'serve'; readonly names: readonly string[] }
  | { readonly do: 'wait'; readonly records: number }
  | { readonly do: 'arrivals'; readonly perSecond: number }
  | { readonly do: 'profile'; readonly file: string }
  | { readonly do: 'measure' };

export interface Measured {
  readonly atMs: number;
  readonly userMs: number;
  readonly systemMs: number;
  /** Taken once more after the garbage was collected: the next measurement counts from here. */
  readonly fromMs: number;
  readonly fromUserMs: number;
  readonly fromSystemMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly recordsRead: number;
  readonly entries: number;
  readonly rows: number;
  readonly members: number;
  readonly lanes: number;
  readonly served: number;
  readonly rounds: number;
}

let node: WholeNode | null = null;
let changedLanes = 0;

process.on('message', async (order: Order) => {
  process.send?.(await obey(order));
});

process.on('disconnect', () => process.exit(0));

async function obey(order: Order): Promise<Measured | null> {
  if (order.do === 'start') node = await start(order);
  const running = node as WholeNode;
  if (order.do === 'serve') serve(running, order.names);
  if (order.do === 'wait') while (running.topic.counters.recordsRead < order.records) await sleep(20);
  if (order.do === 'arrivals') arrive(running, order.perSecond);
  if (order.do === 'profile') await profile(order.file);
  if (order.do !== 'measure') return null;
  return await measured(running);
}

async function start({ broker, groups, topic }: Start): Promise<WholeNode> {
  const config = scaleConfig(groups, { topic: { kind: 'kafka', brokers: [broker], name: TOPIC } });
  const adapter = new KafkaReportTopic({ ...(config.topic as KafkaTopicConfig), ...topic });
  const created = new WholeNode({ config, topic: adapter, telemetry: silentTelemetry, version: 'bench', nonce: 1 });
  await created.start();
  await created.ready();
  return created;
}

const served: number[] = [];

function serve(running: WholeNode, names: readonly string[]): void {
  const before = running.limiter.setLimit.bind(running.limiter);
  running.limiter.setLimit = (...args) => {
    changedLanes++;
    before(...args);
  };
  for (const name of names) {
    const group = Number(name.slice('group-'.length));
    running.serve(laneOf(group, 0));
    served.push(laneOf(group, 0));
  }
}

/** Requests of every served group, evenly, straight at the limiter: what admission adds is measured elsewhere. */
function arrive(running: WholeNode, perSecond: number): void {
  let at = 0;
  let due = 0;
  let lastMs = running.clock();
  setInterval(() => {
    const nowMs = running.clock();
    due += ((nowMs - lastMs) / 1000) * perSecond * served.length;
    lastMs = nowMs;
    for (; due >= 1; due--) running.limiter.tryAcquire(served[at++ % served.length], 1, 1000, false, nowMs);
  }, 10);
}

let profiler: Session | null = null;

/** From the first call to the second: what the processor was used for, as Chrome's DevTools and VS Code read it. */
async function profile(file: string): Promise<void> {
  if (profiler !== null) {
    const { profile: taken } = await profiler.post('Profiler.stop');
    writeFileSync(file, JSON.stringify(taken));
    return;
  }
  profiler = new Session();
  profiler.connect();
  await profiler.post('Profiler.enable');
  await profiler.post('Profiler.start');
}

async function measured(running: WholeNode): Promise<Measured> {
  const [cpu, atMs] = [process.cpuUsage(), performance.now()];
  (globalThis as { gc?: () => void }).gc?.();
  await sleep(50);
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers, rss } = process.memoryUsage();
  const coordinator = running.coordinator as NonNullable<WholeNode['coordinator']>;
  const from = process.cpuUsage();
  return {
    atMs,
    userMs: cpu.user / 1000,
    systemMs: cpu.system / 1000,
    fromMs: performance.now(),
    fromUserMs: from.user / 1000,
    fromSystemMs: from.system / 1000,
    heapBytes: heapUsed + arrayBuffers,
    residentBytes: rss,
    recordsRead: running.topic.counters.recordsRead,
    entries: coordinator.usageMap.entryCount,
    rows: coordinator.usageMap.rows.count,
    members: coordinator.membership.alive.length,
    lanes: changedLanes,
    served: coordinator.lanes.size,
    rounds: running.rounds.count,
  };
}
