import type { ResolvedConfig } from '../../src/config/resolved/resolved-config.js';
import { groupIdOf } from '../../src/core/base/ids.js';
import { laneOf } from '../../src/core/base/vocabulary.js';
import type { ServingLoop } from '../../src/core/coordinator/coordinator-view.js';
import { GroupTable } from '../../src/groups/group-table.js';
import { KeyBook } from '../../src/groups/keys/key-book.js';
import { silentTelemetry } from '../../src/ports/telemetry.js';
import type { EventQueue } from '../cluster/event-queue.js';
import { SimulatedNode } from '../cluster/simulated-node.js';
import type { SimulatedTopic } from '../cluster/simulated-topic.js';

/** How a request for a key was answered; `unheard` and `aloud` are grants. */
export type KeyAnswer = 'unheard' | 'aloud' | 'refused';

/** A simulated node whose groups are all made by use, decided about as src/admission/gate.ts does. */
export class KeyedNode {
  readonly node: SimulatedNode;
  readonly keys: KeyBook;

  constructor(config: ResolvedConfig, at: number, queue: EventQueue, topic: SimulatedTopic) {
    const { cluster, nodeId, timing, sampleIntervalMs, limiting, costs, limits } = config;
    const { maxNodes, maxRows, maxGroupsPerNode } = limits;
    const bounds = { maxNodes, maxRows, maxGroupsPerNode };
    const named = { cluster, nodeId, version: 'simulated', nonce: at, partitions: 1, groups: config.groups };
    const settings = { ...timing, ...named, sampleIntervalMs, limiting, costs, ...bounds };
    const node = new SimulatedNode(settings, queue, topic);
    node.keepsDecisions = false;
    const groups = new GroupTable(config.groups, (name) => groupIdOf(config.cluster, name));
    this.node = node;
    this.keys = new KeyBook({
      cluster,
      keys: config.keys,
      limits,
      shareValidMs: timing.shareValidMs,
      clock: () => node.nowMs,
      telemetry: silentTelemetry,
      groups,
      limiter: node.limiter,
      loop: loopOf(node),
      define: (group) => {
        const number = groups.defineKey(group);
        node.changeGroup(number, group);
        return number;
      },
      rename: (number, group) => {
        groups.renameKey(number, group);
        node.changeGroup(number, group);
      },
      dividedBy: () => null,
      remove: () => undefined,
    });
    const round = () => {
      if (!node.isRunning) return;
      if (!node.isStalled) this.keys.keep(node.nowMs);
      queue.after(sampleIntervalMs, round);
    };
    queue.after(sampleIntervalMs, round);
  }

  leave(): void {
    this.node.leave(this.keys.lastWords());
  }

  /** Throws KEYS_FULL. */
  ask(key: string, messages: number): KeyAnswer {
    const { node, keys } = this;
    if (!node.isRunning || node.isStalled) return 'refused';
    const row = keys.rowOf(key, node.nowMs);
    if (keys.isAsleep(node.nowMs)) return 'refused';
    if (keys.tryTake(row, key, { direction: PUBLISH, messages, bytes: 0 }, node.nowMs)) return 'unheard';
    const lane = laneOf(keys.groupOf(key) as number, PUBLISH);
    return node.tryAcquire(lane, messages, 0) ? 'aloud' : 'refused';
  }
}

function loopOf(node: SimulatedNode): ServingLoop {
  const { coordinator, limiter } = node;
  return {
    coordinator,
    get isReady() {
      return coordinator.isReady;
    },
    serve: (lane) => {
      if (coordinator.lanes.has(lane)) return;
      node.step({ kind: 'lane-served', lane });
      limiter.accrueSince(lane, coordinator.readyMs);
    },
    unheardCharged: (lane) => node.step({ kind: 'unheard-charged', lane }),
  };
}

const PUBLISH = 0;
