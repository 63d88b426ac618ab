import { expect, test } from 'vitest';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { createMemoryLog } from '../../../src/topic/memory/memory-log.js';
import { WholeNode } from '../../whole-node.js';
import { VirtualTime } from '../demo/virtual-time.js';
import { AwayTopic } from '../runtime/away-topic.js';
import { useUp } from './keys-cluster.js';

interface Alone {
  readonly nodes: readonly WholeNode[];
  readonly time: VirtualTime;
  /** The topic comes, for all nodes. */
  readonly come: () => void;
}

/** Three nodes that start while their topic is away. */
async function startAlone(keys: object, story: (scene: Alone) => Promise<void>): Promise<void> {
  const time = new VirtualTime();
  const [log, registryLog] = [createMemoryLog(), createMemoryLog()];
  try {
    const topics: AwayTopic[] = [];
    const away = (of: typeof log) => {
      const topic = new AwayTopic(of);
      topics.push(topic);
      return topic;
    };
    const nodes = ['a', 'b', 'c'].map((node, nonce) => {
      const raw = { cluster: 'alone', node, topic: 'memory', keys, start: { policy: 'alone', nodeCount: 3 } };
      return new WholeNode({
        config: resolveConfig(raw, { source: '(test)', env: {} }),
        topic: away(log),
        registryTopic: away(registryLog),
        telemetry: silentTelemetry,
        version: '0',
        nonce,
        clock: () => performance.now(),
      });
    });
    const started = Promise.all(nodes.map((node) => node.start()));
    await time.advance(5000);
    await started;
    const come = () => {
      for (const topic of topics) topic.come();
    };
    await story({ nodes, time, come });
    come();
    const closed = Promise.all(nodes.map((node) => node.close()));
    await time.advance(5000);
    await closed;
  } finally {
    time.end();
  }
}

function takeAll(nodes: readonly WholeNode[], key: string): number {
  return nodes.reduce((taken, node) => taken + useUp(node, key), 0);
}

/** All that is granted to whoever asks for everything ten times a second. */
async function saturate({ nodes, time }: Alone, key: string, seconds: number): Promise<number> {
  let taken = 0;
  for (let tenth = 0; tenth < 10 * seconds; tenth++) {
    taken += takeAll(nodes, key);
    await time.advance(100);
  }
  return taken;
}

const KEYS = { 'key:{id}': { quota: { publish: { messagesPerSecond: '600/min' } } } };

test('nodes that start alone spend one depth of a key between them, and its quota from then on', async () => {
  await startAlone(KEYS, async (scene) => {
    await scene.time.advance(61_000);
    expect(scene.nodes.map((node) => node.status().ready)).toEqual([true, true, true]);
    const first = takeAll(scene.nodes, 'key:hot');
    expect(first).toBeGreaterThan(590);
    expect(first).toBeLessThanOrEqual(600 + 3);
    expect(await saturate(scene, 'key:hot', 10)).toBeLessThanOrEqual(100 + 3);
    const later = await saturate(scene, 'key:hot', 20);
    expect(later).toBeGreaterThan(190);
    expect(later).toBeLessThanOrEqual(200 + 3);
  });
});

test('keys are whole again when the topic comes, silent and loud ones, and nothing bursts', async () => {
  await startAlone(KEYS, async (scene) => {
    const { nodes, time, come } = scene;
    await time.advance(61_000);
    takeAll(nodes, 'key:loud');
    come();
    expect(await saturate(scene, 'key:loud', 30)).toBeLessThanOrEqual(300 + 10);
    for (const node of nodes) {
      expect(node.status().degraded).toEqual([]);
      expect(node.groups.at(node.keys?.seen('key:loud')?.group as number)).toMatchObject({});
    }
    // One node takes what two others leave.
    let one = 0;
    for (let tenth = 0; tenth < 300; tenth++) {
      one += takeAll(nodes.slice(0, 1), 'key:loud');
      await time.advance(100);
    }
    expect(one).toBeGreaterThan(270);
    expect(one).toBeLessThanOrEqual(300 + 10);
  });
});
