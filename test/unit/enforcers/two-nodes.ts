import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { directionIndex, laneOf, MESSAGES } from '../../../src/core/base/vocabulary.js';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../whole-node.js';
import { VirtualTime } from '../demo/virtual-time.js';

export const QUOTA = 1000;
export const TURN_MS = 100;

interface TurningProxy {
  readonly admitted: number;
  turn(turnMs: number): Promise<void>;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** Two nodes that share a group of 1,000 messages/s, or of another quota, by a log, in virtual time. */
export class TwoNodes {
  readonly time = new VirtualTime();
  readonly log: MemoryLog = createMemoryLog();
  readonly nodes: readonly WholeNode[];

  private constructor(quota: number, more: object) {
    const groups = { orders: { quota: { publish: { messagesPerSecond: quota } }, ...more } };
    this.nodes = ['a', 'b'].map((node, nonce) => {
      const config = resolveConfig({ cluster: 'enforced', topic: 'memory', groups, node }, { source: '(test)' });
      const clock = () => performance.now();
      const topic = new MemoryTopic(this.log);
      return new WholeNode({ config, topic, telemetry: silentTelemetry, version: '0', nonce, clock });
    });
  }

  /** @param more settings of the group */
  static async start(quota = QUOTA, more: object = {}): Promise<TwoNodes> {
    const scene = new TwoNodes(quota, more);
    const started = Promise.all(scene.nodes.map((node) => node.start()));
    await scene.time.advance(3000);
    await started;
    return scene;
  }

  /** Lets proxies take turns for so long; returns what each admitted per second. */
  async pass(proxies: readonly TurningProxy[], seconds: number, turnMs = TURN_MS): Promise<number[]> {
    const before = proxies.map(({ admitted }) => admitted);
    for (let turn = 0; turn < (1000 * seconds) / turnMs; turn++) {
      for (const proxy of proxies) await proxy.turn(turnMs);
      await this.time.advance(turnMs);
    }
    return proxies.map(({ admitted }, at) => (admitted - before[at]) / seconds);
  }

  async close(): Promise<void> {
    this.log.resumeAppends();
    const closed = Promise.all(this.nodes.map((node) => node.close()));
    await this.time.advance(5000);
    await closed;
    this.time.end();
  }
}

/** What an enforcer in the group was told, after its report. */
export async function reportTo(node: WholeNode, enforcer: string, admitted: number, isHeldBack: boolean) {
  const lane = laneOf(node.gate.groupIndex('orders'), directionIndex('publish'));
  const lanes = [{ lane, admitted: [admitted, 0] as const, isHeldBack }];
  const patience = { seen: null, waitMs: 0, signal: new AbortController().signal };
  const { parts } = await node.enforcers.report({ enforcer, life: 1, ttlMs: 3000, lanes }, patience);
  const [part] = parts;
  if (!part?.isKnown) return { rate: 0, depth: 0 };
  return { rate: part.rate[MESSAGES], depth: part.depth[MESSAGES] };
}
