import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { Measurement } from '../../../src/tools/demo/measure/meter.js';
import type { Answer, Work } from '../../../src/tools/demo/traffic/node-clients.js';
import { Replay } from '../../../src/tools/demo/traffic/replay.js';
import type { TraceRow } from '../../../src/tools/demo/traffic/trace.js';
import { Traffic } from '../../../src/tools/demo/traffic/traffic.js';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../whole-node.js';
import { VirtualTime } from './virtual-time.js';

/** From an append to everybody's reading it: the embedded topic takes 2 to 5 ms. */
const TOPIC_DELAY_MS = 4;
/** A loopback request, there and back. */
const REQUEST_MS = 2;

export interface VirtualDemonstration {
  readonly config: Readonly<Record<string, unknown>>;
  readonly group: string;
  readonly quotaPerSecond: readonly [number, number];
  readonly trace: readonly TraceRow[];
  readonly nodes: number;
  readonly forMs: number;
  readonly random: () => number;
}

/** The demonstration in one process and in virtual time: production nodes, clients and meter; HTTP and topic are delays. */
export async function demonstrateVirtually(demonstration: VirtualDemonstration): Promise<Measurement> {
  const time = new VirtualTime();
  try {
    const nodes = await startNodes(demonstration, time);
    const { quotaPerSecond, random, trace, forMs, group } = demonstration;
    const acquire = nodes.map((node) => (work: Work) => ask(node, group, work));
    const traffic = new Traffic({ replay: new Replay(trace, 170), quotaPerSecond, acquire, random });
    traffic.begin();
    await time.advance(forMs);
    const measurement = traffic.finish();
    const closed = Promise.all(nodes.map((node) => node.close()));
    await time.advance(5000);
    await closed;
    return measurement;
  } finally {
    time.end();
  }
}

async function startNodes({ config, nodes: count }: VirtualDemonstration, time: VirtualTime): Promise<WholeNode[]> {
  const log = createMemoryLog();
  const nodes = Array.from({ length: count }, (_, at) => virtualNode(config, log, at).node);
  const started = Promise.all(nodes.map((node) => node.start()));
  await time.advance(2000);
  await started;
  return nodes;
}

export interface VirtualNode {
  readonly node: WholeNode;
  /** Nothing that it writes from now on arrives: for the others it is dead. */
  silence(): void;
}

export function virtualNode(config: object, log: MemoryLog, at: number, nonce = at): VirtualNode {
  const raw = { ...config, topic: 'memory', node: String.fromCharCode(65 + at) };
  const topic = new MemoryTopic(log);
  const append = topic.append.bind(topic);
  let isSilent = false;
  topic.append = (records) => delay(TOPIC_DELAY_MS).then(() => (isSilent ? undefined : append(records)));
  const resolved = resolveConfig(raw, { source: '(virtual)' });
  const clock = () => performance.now();
  const node = new WholeNode({ config: resolved, topic, telemetry: silentTelemetry, version: '0', nonce, clock });
  const silence = () => {
    isSilent = true;
  };
  return { node, silence };
}

export async function ask(node: WholeNode, group: string, { bytes, refusedBefore }: Work): Promise<Answer> {
  await delay(REQUEST_MS / 2);
  const decision = node.tryAcquire(group, { messages: 1, bytes }, { retry: refusedBefore });
  await delay(REQUEST_MS / 2);
  if (decision.granted) return { kind: 'granted' };
  const { retryAfterMs } = decision;
  return { kind: decision.reason === 'quota' ? 'refused' : 'unavailable', retryAfterMs };
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
