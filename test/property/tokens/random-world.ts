import { Random } from '../../../sim/cluster/random.js';
import type { SimulatedNode } from '../../../sim/cluster/simulated-node.js';
import { World } from '../../../sim/cluster/world.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import { DEFAULT_STRATEGY } from '../../../src/core/convergence/strategies.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';

const QUOTAS = [5, 40, 300];
const STEP_MS = 50;
/** Until then nobody works, and all buckets fill: from then on all nodes have followed them since the same time. */
const FILLED_MS = 12_000;

/** What a node holds of its lanes: how far it has read, and what it computed. */
export interface Seen {
  readonly offset: number;
  readonly tokens: readonly number[];
}

export interface WorldKind {
  readonly strategy?: string;
  readonly moves?: MovingTargets | null;
}

/** Groups whose targets move, and what moves them. */
export interface MovingTargets {
  groupOf(group: GroupSettings, draw: Random): GroupSettings;
  happen(world: World, draw: Random): void;
  /**
   * Whether newcomers may find a compacted log. By such a one they count less log time, so they believe a backend that
   * has fallen silent for longer than others do, and have another target meanwhile.
   */
  readonly compacts: boolean;
}

/**
 * A cluster that shares tokens, in virtual time, with everything that a log may do to records and people to nodes. The
 * nodes of the first hour are called veterans: they have followed every bucket since before it was full.
 */
export class RandomWorld {
  readonly world: World;
  readonly nodeCount: number;
  readonly groups: readonly GroupSettings[];
  readonly veterans = new Set<SimulatedNode>();
  readonly #draw: Random;
  readonly #strategy: string;
  /** Per node and lane: the rate at which it is asked, units per second. */
  readonly #rates = new Map<string, number[]>();
  readonly #moves: MovingTargets | null;

  /** @param kind by which strategy all groups are divided, and what makes their targets move; null = they stay */
  constructor(seed: number, { strategy = DEFAULT_STRATEGY, moves = null }: WorldKind = {}) {
    this.#draw = new Random(seed * 7919 + 1);
    this.#strategy = strategy;
    this.#moves = moves;
    const draw = this.#draw;
    this.nodeCount = 3 + this.#below(6);
    this.groups = Array.from({ length: 1 + this.#below(4) }, (_, at) => this.#group(at));
    const groupsPerRecord = 1 + this.#below(3);
    const settings = { ...SETTINGS, groups: this.groups, groupsPerRecord, forcedReportMs: 8000 };
    this.world = new World(seed, settings, { appendMs: [0.5, 2], deliveryMs: [0.5, draw.next() < 0.5 ? 5 : 60] });
    for (let at = 0; at < this.nodeCount; at++) this.veterans.add(this.#start(`node-${at}`));
    this.#serveAll();
    this.world.runFor(FILLED_MS);
  }

  /** From now on records are lost, repeated and late. */
  trouble(): void {
    const { topic } = this.world;
    topic.faults.lost = this.#draw.next() * 0.3;
    topic.faults.unacknowledged = this.#draw.next() * 0.1;
    Object.assign(topic.deliveries, { repeatedRatio: this.#draw.next() * 0.2, lateRatio: 0.1, lateMs: 400 });
    for (let at = 0; at < this.nodeCount; at++) this.#rates.set(`node-${at}`, this.#drawRates());
  }

  /** Something happens, and then some work is done. */
  go(): void {
    this.#happen();
    const untilMs = this.world.nowMs + 200 + this.#below(1500);
    while (this.world.nowMs < untilMs) {
      for (const [name, rates] of this.#rates) {
        for (const [group, rate] of rates.entries()) this.#ask(name, group, rate);
      }
      this.world.runFor(STEP_MS);
    }
  }

  /** The running veterans that decide, with what they have seen. */
  seen(): Map<SimulatedNode, Seen> {
    const found = new Map<SimulatedNode, Seen>();
    for (const node of this.veterans) {
      const { coordinator } = node;
      if (!node.isRunning || coordinator.phase !== 'ready') continue;
      const tokens = this.groups.flatMap((_, group) => {
        const lane = coordinator.lanes.get(laneOf(group, 0))?.tokens;
        return lane?.slots.map(({ settledTokens }) => settledTokens) ?? [];
      });
      found.set(node, { offset: coordinator.log.nextOffset(0), tokens });
    }
    return found;
  }

  #group(at: number): GroupSettings {
    const messages = QUOTAS[this.#below(QUOTAS.length)];
    const bytes = this.#draw.next() < 0.3 ? messages * 700 : Infinity;
    const policy = this.#draw.next() < 0.3 ? 'divided' : 'optimistic';
    const quota = { ...GROUP.quota, publish: [messages, bytes] as const };
    const burst = { messages: null, bytes: null, policy } as const;
    const strategy = this.#strategy;
    const group: GroupSettings = { ...GROUP, name: `group-${at}`, strategy, quota, burst };
    return this.#moves?.groupOf(group, this.#draw) ?? group;
  }

  #happen(): void {
    this.#moves?.happen(this.world, this.#draw);
    const what = this.#draw.next();
    const name = `node-${this.#below(this.nodeCount)}`;
    const node = this.world.node(name);
    if (what < 0.06 && node.isRunning) node.crash();
    else if (what < 0.12 && node.isRunning) node.leave();
    else if (what < 0.3 && !node.isRunning)
      this.#start(name, this.#draw.next() < 0.5 && this.#moves?.compacts !== false);
    else if (what < 0.35 && node.isRunning) node.repeatDelivery(20);
    else if (what < 0.45 && node.isRunning) this.#cutOff(node);
    else this.#rates.set(name, this.#drawRates());
  }

  #drawRates(): number[] {
    return this.groups.map((group) => this.#rateOf(group));
  }

  /** What it misses meanwhile it reads at once, in one step. */
  #cutOff(node: SimulatedNode): void {
    node.cutOff(true);
    this.world.queue.after(300 + this.#below(1200), () => node.cutOff(false));
  }

  /** Often nothing, so that entries end; else anything up to twice the quota. */
  #rateOf({ quota }: GroupSettings): number {
    return this.#draw.next() < 0.4 ? 0 : 2 * this.#draw.next() ** 3 * quota.publish[0];
  }

  #ask(name: string, group: number, rate: number): void {
    const wanted = (rate * STEP_MS) / 1000;
    const count = Math.floor(wanted) + (this.#draw.next() < wanted % 1 ? 1 : 0);
    for (let at = 0; at < count; at++) this.world.ask(name, laneOf(group, 0), 1, 500 + this.#below(500), false);
  }

  #start(name: string, compacted = false): SimulatedNode {
    return this.world.start(name, { compacted });
  }

  #serveAll(): void {
    this.world.runFor(1500);
    for (const name of this.world.nodes.keys()) {
      this.groups.forEach((_, group) => {
        this.world.ask(name, laneOf(group, 0), 1, 1, false);
      });
    }
  }

  #below(count: number): number {
    return Math.floor(this.#draw.next() * count);
  }
}
