import type { CoordinatorSettings, GroupSettings } from '../../src/core/base/settings.js';
import { EventQueue } from './event-queue.js';
import { Random } from './random.js';
import { type NodeObserver, SimulatedNode } from './simulated-node.js';
import { SimulatedTopic, type TopicDelays } from './simulated-topic.js';

/** Arrivals at a node for a lane, Poisson or even; the rate may change. */
export interface Traffic {
  readonly node: string;
  readonly lane?: number;
  readonly ratePerSecond: (nowMs: number) => number;
  readonly messages?: number;
  readonly bytes?: number;
  readonly evenly?: boolean;
}

/** Clients that retry refused work, one piece at a time: as a paused connection (PIP-322). */
export interface Clients {
  readonly node: string;
  readonly lane?: number;
  readonly count: (nowMs: number) => number;
  readonly retryMs: number;
  /** Milliseconds between pieces. */
  readonly thinkMs: number;
}

export interface Arrival {
  readonly atMs: number;
  readonly node: string;
  readonly granted: boolean;
  readonly messages: number;
  readonly bytes: number;
}

export interface LaneArrival extends Arrival {
  readonly lane: number;
}

interface StartOptions {
  /** True = it reads only the newest record of each key. */
  readonly compacted?: boolean;
  /** Name for traffic, default the node id; two processes may claim one id. */
  readonly as?: string;
  readonly nonce?: number;
  /** Signing key, if not the cluster's. */
  readonly signingKey?: string;
}

export type WorldSettings = Omit<CoordinatorSettings, 'nodeId' | 'nonce'>;

/** Runs a cluster in virtual time, the same for the same seed. */
export class World {
  readonly queue = new EventQueue();
  readonly random: Random;
  readonly topic: SimulatedTopic;
  readonly nodes = new Map<string, SimulatedNode>();
  readonly #processes = new Map<string, SimulatedNode[]>();
  readonly arrivals: LaneArrival[] = [];
  settings: WorldSettings;
  /** Observer of processes that start from now on. */
  observer: NodeObserver | null = null;
  /** Signing key of the cluster; null = none. */
  signingKey: string | null = null;

  constructor(seed: number, settings: WorldSettings, delays: TopicDelays = LOCAL_KAFKA) {
    this.random = new Random(seed);
    this.settings = settings;
    this.topic = new SimulatedTopic(this.queue, this.random, delays, settings.partitions);
  }

  get nowMs(): number {
    return this.queue.nowMs;
  }

  start(nodeId: string, { compacted = false, as = nodeId, nonce, signingKey }: StartOptions = {}): SimulatedNode {
    const drawn = this.#drawNonce(as);
    const partitions = this.topic.partitions.length;
    const settings = { ...this.settings, partitions, nodeId, nonce: nonce ?? drawn };
    const signed = { signingKey: signingKey ?? this.signingKey };
    const node = new SimulatedNode(settings, this.queue, this.topic, { compacted, observer: this.observer, ...signed });
    this.nodes.set(as, node);
    this.#processes.set(as, [...(this.#processes.get(as) ?? []), node]);
    return node;
  }

  /** Draws a nonce unlike those of the name's earlier processes (docs/reference/promises.md). */
  #drawNonce(name: string): number {
    const former = new Set(this.#processes.get(name)?.map(({ coordinator }) => coordinator.settings.nonce));
    let nonce = Math.floor(this.random.next() * 0x10000);
    while (former.has(nonce)) nonce = (nonce + 1) % 0x10000;
    return nonce;
  }

  /** Lists a name's running processes; several while two claim one id. Fenced ones are left out. */
  serving(name: string): SimulatedNode[] {
    return (this.#processes.get(name) ?? []).filter((node) => node.isRunning && node.coordinator.phase !== 'fenced');
  }

  /** Lists running processes of a name, fenced ones included. */
  running(name: string): SimulatedNode[] {
    return (this.#processes.get(name) ?? []).filter(({ isRunning }) => isRunning);
  }

  node(name: string): SimulatedNode {
    const node = this.nodes.get(name);
    if (node === undefined) throw new Error(`no node was started as ${name}`);
    return node;
  }

  /** Changes a group in the registry: a delivery later, at once for later starts. */
  changeGroup(group: number, settings: GroupSettings): void {
    this.settings = { ...this.settings, groups: this.settings.groups.with(group, settings) };
    for (const node of this.nodes.values()) {
      this.queue.after(this.topic.drawDelayMs('deliveryMs'), () => node.changeGroup(group, settings));
    }
  }

  drive(traffic: Traffic): void {
    const next = () => {
      const rate = traffic.ratePerSecond(this.nowMs);
      if (rate <= 0) {
        this.queue.after(1, next);
        return;
      }
      const gapMs = traffic.evenly ? 1000 / rate : this.random.exponential(1000 / rate);
      // Long gaps are redrawn every REDRAW_MS for changing rates, as Poisson allows.
      if (gapMs > REDRAW_MS && !traffic.evenly) {
        this.queue.after(REDRAW_MS, next);
        return;
      }
      this.queue.after(gapMs, () => {
        this.#ask(traffic, false);
        next();
      });
    };
    next();
  }

  hold(clients: Clients): void {
    let running = 0;
    const watch = () => {
      while (running < clients.count(this.nowMs)) this.#client(clients, running++, (index) => index < running);
      running = Math.min(running, clients.count(this.nowMs));
      this.queue.after(10, watch);
    };
    watch();
  }

  runFor(milliseconds: number): void {
    this.queue.runUntil(this.nowMs + milliseconds);
  }

  #client(clients: Clients, index: number, isWanted: (index: number) => boolean): void {
    const attempt = (retry: boolean) => {
      if (!isWanted(index)) return;
      const granted = this.#ask(clients, retry);
      const waitMs = granted
        ? this.random.exponential(clients.thinkMs)
        : clients.retryMs * this.random.between(0.8, 1.2);
      this.queue.after(waitMs, () => attempt(!granted));
    };
    this.queue.after(this.random.exponential(clients.thinkMs), () => attempt(false));
  }

  /** Gives work to the name's process; true = admitted. */
  ask(name: string, lane: number, messages: number, bytes: number, retry: boolean): boolean {
    const asked = this.nodes.get(name);
    const process = asked?.coordinator.phase === 'fenced' ? this.serving(name).at(-1) : asked;
    return process?.tryAcquire(lane, messages, bytes, retry) ?? false;
  }

  #ask({ node, lane = 0, messages = 1, bytes = 0 }: Omit<Traffic, 'ratePerSecond'>, retry: boolean): boolean {
    const granted = this.ask(node, lane, messages, bytes, retry);
    this.arrivals.push({ atMs: this.nowMs, node, lane, granted, messages, bytes });
    return granted;
  }
}

const REDRAW_MS = 5;

/** Delays of a real broker on one machine: 2 to 5 ms, measured. */
export const LOCAL_KAFKA: TopicDelays = { appendMs: [0.5, 2], deliveryMs: [0.5, 3] };
