import type { CoordinatorSettings } from '../src/core/settings.js';
import { EventQueue } from './event-queue.js';
import { Random } from './random.js';
import { SimulatedNode } from './simulated-node.js';
import { SimulatedTopic, type TopicDelays } from './simulated-topic.js';

/** Poisson (or evenly spaced) arrivals at one node for one lane; the rate may change over time. */
export interface Traffic {
  readonly node: string;
  readonly lane?: number;
  /** Arrivals per second at a time; 0 pauses. */
  readonly ratePerSecond: (nowMs: number) => number;
  readonly messages?: number;
  readonly bytes?: number;
  readonly evenly?: boolean;
}

export interface Arrival {
  readonly atMs: number;
  readonly node: string;
  readonly granted: boolean;
  readonly messages: number;
  readonly bytes: number;
}

/** A cluster in virtual time: the same seed gives the same arrivals, delays and decisions. */
export class World {
  readonly queue = new EventQueue();
  readonly random: Random;
  readonly topic: SimulatedTopic;
  readonly nodes = new Map<string, SimulatedNode>();
  readonly arrivals: Arrival[] = [];
  readonly #settings: Omit<CoordinatorSettings, 'nodeId' | 'nonce'>;

  constructor(
    seed: number,
    settings: Omit<CoordinatorSettings, 'nodeId' | 'nonce'>,
    delays: TopicDelays = LOCAL_KAFKA,
  ) {
    this.random = new Random(seed);
    this.#settings = settings;
    this.topic = new SimulatedTopic(this.queue, this.random, delays, settings.partitions);
  }

  start(nodeId: string, compacted = false): SimulatedNode {
    const nonce = Math.floor(this.random.next() * 0x10000);
    const node = new SimulatedNode({ ...this.#settings, nodeId, nonce }, this.queue, this.topic, compacted);
    this.nodes.set(nodeId, node);
    return node;
  }

  drive(traffic: Traffic): void {
    const { node, lane = 0, messages = 1, bytes = 0 } = traffic;
    const next = () => {
      const rate = traffic.ratePerSecond(this.queue.nowMs);
      if (rate <= 0) {
        this.queue.after(1, next);
        return;
      }
      const gapMs = traffic.evenly ? 1000 / rate : this.random.exponential(1000 / rate);
      // The rate may change before a long gap is over; a Poisson process may be drawn anew at any time.
      if (gapMs > REDRAW_MS && !traffic.evenly) {
        this.queue.after(REDRAW_MS, next);
        return;
      }
      this.queue.after(gapMs, () => {
        const granted = this.nodes.get(node)?.tryAcquire(lane, messages, bytes) ?? false;
        this.arrivals.push({ atMs: this.queue.nowMs, node, granted, messages, bytes });
        next();
      });
    };
    next();
  }

  runFor(milliseconds: number): void {
    this.queue.runUntil(this.queue.nowMs + milliseconds);
  }
}

const REDRAW_MS = 5;

/** Measured against a real broker on one machine: 2–5 ms from sending to reading back. */
export const LOCAL_KAFKA: TopicDelays = { appendMs: [0.5, 2], deliveryMs: [0.5, 3] };
