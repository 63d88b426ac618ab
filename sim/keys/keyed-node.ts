import type { Timers } from '../../src/base/ports/clock.js';
import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import type { ResolvedConfig } from '../../src/config/resolved/resolved-config.js';
import { groupIdOf } from '../../src/core/base/ids.js';
import type { CoordinatorEvent } from '../../src/core/base/protocol/events-and-effects.js';
import { Attachments } from '../../src/core/beside/attachments/attachments.js';
import type { ServingLoop } from '../../src/core/machine/coordinator-view.js';
import { Gate } from '../../src/node/admission/gate.js';
import { GroupTable } from '../../src/node/groups/group-table.js';
import { GroupsInForce } from '../../src/node/groups/groups-in-force.js';
import { KeyBook } from '../../src/node/groups/keys/key-book.js';
import type { EventQueue } from '../cluster/event-queue.js';
import { type NodeObserver, SimulatedNode } from '../cluster/simulated-node.js';
import type { SimulatedTopic } from '../cluster/simulated-topic.js';

/** Answer for a key; `unpublished` and `aloud` are grants. */
type KeyAnswer = 'unpublished' | 'aloud' | 'refused';

interface KeyedNodeOptions {
  readonly nonce: number;
  /** True = it reads only the newest record of each key. */
  readonly compacted?: boolean;
  readonly stepped?: (node: SimulatedNode) => void;
}

/** Runs a simulated node with production's admission. */
export class KeyedNode {
  readonly node: SimulatedNode;
  readonly keys: KeyBook;
  readonly gate: Gate;
  readonly inForce: GroupsInForce;
  isOpen = true;
  #wasReady = false;

  constructor(config: ResolvedConfig, queue: EventQueue, topic: SimulatedTopic, options: KeyedNodeOptions) {
    const { cluster, nodeId, timing, sampleIntervalMs, limiting, costs, limits } = config;
    const { nonce, compacted = false, stepped } = options;
    const { maxNodes, maxRows, maxGroupsPerNode } = limits;
    const bounds = { maxNodes, maxRows, maxGroupsPerNode };
    const partitions = topic.partitions.length;
    const named = { cluster, nodeId, version: 'simulated', nonce, partitions, groups: config.groups };
    const settings = { ...timing, ...named, sampleIntervalMs, limiting, costs, ...bounds };
    const node = new SimulatedNode(settings, queue, topic, { compacted, observer: this.#watch(stepped) });
    const { limiter } = node;
    const groups = new GroupTable(config.groups, (name) => groupIdOf(cluster, name));
    const shared = { limiter, clock: () => node.nowMs, groups, limits, loop: loopOf(node) };
    this.node = node;
    this.keys = new KeyBook({
      ...shared,
      cluster,
      keys: config.keys,
      shareValidMs: timing.shareValidMs,
      hashSeed: nonce,
      telemetry: silentTelemetry,
      define: (group) => this.inForce.defineKey(group),
      rename: (number, group) => this.inForce.renameKey(number, group),
      dividedBy: () => null,
      remove: (group) => this.inForce.removeKey(group),
    });
    this.gate = new Gate({
      ...shared,
      ...UNUSED,
      timers: timersOf(queue),
      keys: this.keys,
      attachments: new Attachments(config.attachments, (name) => groups.numbers.has(name) || this.keys.isKey(name)),
      defaultGroup: config.defaultGroup,
    });
    const step = (event: CoordinatorEvent) => node.step(event);
    const stepping = { coordinator: node.coordinator, step };
    this.inForce = new GroupsInForce({ groups, limiter, gate: this.gate, loop: stepping });
    this.#scheduleRounds(queue, sampleIntervalMs);
  }

  #scheduleRounds(queue: EventQueue, everyMs: number): void {
    const round = () => {
      if (!this.node.isRunning) return;
      if (!this.node.isStalled) this.gate.keep(this.node.nowMs);
      queue.after(everyMs, round);
    };
    queue.after(everyMs, round);
  }

  leave(): void {
    this.isOpen = false;
    this.gate.close();
    this.node.leave(this.keys.lastWords());
  }

  crash(): void {
    this.isOpen = false;
    this.node.crash();
  }

  /** True = it takes and decides requests. */
  get isReady(): boolean {
    return this.isOpen && !this.node.isStalled && this.node.coordinator.isReady;
  }

  /** Requests tokens. Throws KEYS_FULL. */
  ask(key: string, messages: number): KeyAnswer {
    if (!this.isReady) return 'refused';
    const before = this.#grantedUnpublished;
    if (!this.gate.tryAcquire(key, { messages }).granted) return 'refused';
    return this.#grantedUnpublished > before ? 'unpublished' : 'aloud';
  }

  get #grantedUnpublished(): number {
    let sum = 0;
    for (const { granted } of this.keys.counts.values()) sum += granted;
    return sum;
  }

  /** Passes the loop's calls to waiting lines. */
  #watch(stepped?: (node: SimulatedNode) => void): NodeObserver {
    return {
      stepped: (node, _, effects) => {
        stepped?.(node);
        this.gate.waiting.limitsChanged(effects.changedLanes);
        const { isReady } = node.coordinator;
        if (isReady && !this.#wasReady) this.gate.waiting.wakeAll();
        this.#wasReady = isReady;
      },
    };
  }
}

const UNUSED = { whyNotReady: () => '', chargeCosts: () => undefined };

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
    unpublishedCharged: (lane) => node.step({ kind: 'unpublished-charged', lane }),
  };
}

/** Makes timers in virtual time; cleared ones do nothing. */
function timersOf(queue: EventQueue): Timers {
  return {
    set: (run, delayMs) => {
      const timer = { isSet: true };
      queue.after(delayMs, () => {
        if (timer.isSet) run();
      });
      return timer;
    },
    clear: (timer) => {
      (timer as { isSet: boolean }).isSet = false;
    },
  };
}
