import type { SimulatedNode } from '../../sim/cluster/simulated-node.js';
import { World } from '../../sim/cluster/world.js';
import { backendIdOf, groupIdOf } from '../../src/core/base/ids.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { MESSAGES, slotOf } from '../../src/core/base/vocabulary.js';
import type { Hold } from '../../src/core/limiter/held-tokens.js';
import { GRANTED } from '../../src/core/limiter/limiter.js';
import { SETTINGS } from '../simulation/settings.js';

/** The one lane of a transcript: publish of the only group. */
export const LANE = 0;
export const SLOT = slotOf(LANE, MESSAGES);
const SEED = 1;
/** The one backend, where cost has a quota: each message costs it one unit. */
const BACKEND = 'db';
/** How often somebody reports how the backend is. */
const REPORTED_EVERY_MS = 1000;

/** What the commands of a transcript do (docs/contribute/transcripts.md), on the production core in virtual time. */
export class TranscriptCluster {
  readonly quota: number;
  /** The last span. */
  ranMs = 0;
  readonly #world: World;
  readonly #hasBackend: boolean;
  readonly #wanted = new Map<string, number>();
  /** In the last span. */
  readonly #counts = new Map<string, { asked: number; admitted: number }>();
  readonly #batches = new Map<string, Hold>();
  /** Its queue ÷ what the queue should be; null = nobody reports it. */
  #queue: number | null = null;

  constructor(group: GroupSettings) {
    this.quota = group.quota.publish[MESSAGES];
    this.#hasBackend = Number.isFinite(group.cost.publish.total);
    // Arrivals come evenly, so there is no noise to be told from a change; one backend alone must limit.
    const limiting = { ...SETTINGS.limiting, zonesLeftOut: 0, levelSmoothingMs: 0 };
    this.#world = new World(SEED, { ...SETTINGS, noiseFactor: 0, limiting, groups: [group] });
  }

  get nowMs(): number {
    return Math.round(this.#world.nowMs);
  }

  /** By name. */
  nodes(): [string, SimulatedNode][] {
    return [...this.#world.nodes].sort(([left], [right]) => (left < right ? -1 : 1));
  }

  start(names: readonly string[]): void {
    for (const name of names) {
      const isNew = !this.#world.nodes.has(name);
      this.#world.start(name, { compacted: !isNew });
      if (isNew) this.#drive(name);
    }
  }

  /** Work per second that arrives at a node from now on, evenly spaced. */
  demand(name: string, perSecond: number): void {
    this.#wanted.set(name, perSecond);
  }

  leave(names: readonly string[]): void {
    for (const name of names) this.#world.node(name).leave();
  }

  crash(names: readonly string[]): void {
    for (const name of names) this.#world.node(name).crash();
  }

  cut(names: readonly string[], isCut: boolean): void {
    for (const name of names) this.#world.node(name).cutOff(isCut);
  }

  setTopicAway(isAway: boolean): void {
    this.#world.topic.isAway = isAway;
  }

  setQuota(quota: number): void {
    const publish = [quota, Infinity] as const;
    this.#world.changeGroup(0, { ...this.#group, quota: { ...this.#group.quota, publish } });
  }

  /** The backend's queue is so much of what it should be, from now on: a spring of a quarter below, as FoundationDB's. */
  setQueue(part: number): void {
    const begins = this.#queue === null;
    this.#queue = part;
    if (begins) this.#reportQueue();
  }

  /** Takes up to so many messages at once and holds them; returns how many. */
  take(name: string, messages: number): number {
    const { limiter, nowMs } = this.#world.node(name);
    const taken = Math.floor(Math.max(0, Math.min(messages, limiter.available(LANE, MESSAGES, nowMs))));
    if (taken === 0 || limiter.reserve(LANE, taken, 0, nowMs) !== GRANTED) return 0;
    limiter.countSettled(LANE, taken, 0);
    this.#batches.set(name, limiter.buckets.hold(LANE, taken, 0));
    return taken;
  }

  /** Hands back what was not used of the last batch; returns what may be taken now. */
  handBack(name: string, messages: number): number {
    const { limiter, nowMs } = this.#world.node(name);
    const batch = this.#batches.get(name);
    if (batch === undefined) throw new Error(`${name} has taken no batch`);
    this.#batches.delete(name);
    batch.end(messages, 0, nowMs);
    return Math.floor(limiter.available(LANE, MESSAGES, nowMs));
  }

  /** Pieces of work that arrive at one instant; returns how many of them the node admits. */
  work(name: string, pieces: number): number {
    const node = this.#world.node(name);
    return Array.from({ length: pieces }, () => node.tryAcquire(LANE, 1, 0)).filter(Boolean).length;
  }

  /** Lets the time pass. */
  run(milliseconds: number): void {
    this.ranMs = milliseconds;
    this.#counts.clear();
    this.#world.runFor(milliseconds);
  }

  /** Messages per second of the last span. */
  ratesOf(name: string): { readonly demand: number; readonly usage: number } {
    const { asked, admitted } = this.#counts.get(name) ?? { asked: 0, admitted: 0 };
    const perSecond = (count: number) => Math.round(count * (1000 / this.ranMs));
    return { demand: perSecond(asked), usage: perSecond(admitted) };
  }

  /** What the cluster shares now by the backend's health; null where there is none. */
  get target(): number | null {
    if (!this.#hasBackend) return null;
    const { coordinator } = this.#firstRunning();
    const mapLane = coordinator.usageMap.mapLaneOf(groupIdOf(SETTINGS.cluster, this.#group.name), 0);
    return Math.round(coordinator.targets.decide(this.#group, 0, mapLane).decision.target);
  }

  get #group(): GroupSettings {
    return this.#world.settings.groups[0];
  }

  #firstRunning(): SimulatedNode {
    const running = [...this.#world.nodes.values()].find(({ isRunning }) => isRunning);
    if (running === undefined) throw new Error('no node is running');
    return running;
  }

  #reportQueue(): void {
    const health = { kind: 'level', level: this.#queue ?? 0, target: 1, spring: 0.25 } as const;
    const reporter = this.#firstRunning();
    if (reporter.coordinator.isReady) {
      reporter.step({ kind: 'backend-reported', backend: BACKEND, zone: 'z', health });
    }
    this.#world.queue.after(REPORTED_EVERY_MS, () => this.#reportQueue());
  }

  #drive(name: string): void {
    const { queue } = this.#world;
    const next = () => {
      const rate = this.#wanted.get(name) ?? 0;
      if (rate > 0) this.#ask(name);
      queue.after(rate > 0 ? 1000 / rate : 1, next);
    };
    next();
  }

  #ask(name: string): void {
    const node = this.#world.node(name);
    if (!node.isRunning) return;
    const counts = this.#counts.get(name) ?? { asked: 0, admitted: 0 };
    this.#counts.set(name, counts);
    counts.asked++;
    if (!node.tryAcquire(LANE, 1, 0)) return;
    counts.admitted++;
    if (!this.#hasBackend) return;
    node.coordinator.costs.report(LANE, backendIdOf(SETTINGS.cluster, BACKEND), 1, 1, node.nowMs);
  }
}
