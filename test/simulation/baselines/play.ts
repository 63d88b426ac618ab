import { BASELINES } from '../../../sim/all-baselines.js';
import type { ClusterUnderTest } from '../../../sim/cluster/cluster-under-test.js';
import { EventQueue } from '../../../sim/cluster/event-queue.js';
import { admittedRate, worstSpan } from '../../../sim/cluster/measure.js';
import { Random } from '../../../sim/cluster/random.js';
import { type Arrival, LOCAL_KAFKA } from '../../../sim/cluster/world.js';

interface Stage {
  readonly quota: number;
  readonly nodes: readonly string[];
  readonly seed?: number;
  readonly bytesPerSecond?: number;
  /** False = the nodes are configured, and started by the test. */
  readonly starts?: boolean;
  /** Even work of each node, per second. */
  readonly rate?: number;
}

/** A baseline in virtual time, with evenly spaced or Poisson work for its nodes. */
export class Play {
  readonly queue = new EventQueue();
  readonly random: Random;
  readonly cluster: ClusterUnderTest;
  readonly arrivals: Arrival[] = [];

  constructor(baseline: string, stage: Stage) {
    const { quota, nodes, seed = 4, bytesPerSecond = Infinity, starts = true, rate } = stage;
    const found = BASELINES[baseline];
    if (found === undefined) throw new Error(`no baseline is called ${baseline}`);
    this.random = new Random(seed);
    this.cluster = found.create({
      queue: this.queue,
      random: this.random,
      delays: LOCAL_KAFKA,
      quota: { messagesPerSecond: quota, bytesPerSecond },
      nodes: nodes.length,
    });
    if (starts) for (const node of nodes) this.cluster.start(node);
    if (rate !== undefined) for (const node of nodes) this.drive(node, rate);
  }

  /** Work for a node; the rate, per second, may change over time. */
  drive(node: string, rateAt: number | ((nowMs: number) => number), { evenly = true, bytes = 0 } = {}): void {
    const next = () => {
      const rate = typeof rateAt === 'number' ? rateAt : rateAt(this.queue.nowMs);
      if (rate <= 0) return this.queue.after(10, next);
      const gapMs = evenly ? 1000 / rate : this.random.exponential(1000 / rate);
      this.queue.after(gapMs, () => {
        this.ask(node, bytes);
        next();
      });
    };
    // Nodes are not in step.
    this.queue.after(this.random.between(0, 1), next);
  }

  ask(node: string, bytes = 0): boolean {
    const granted = this.cluster.tryAcquire(node, 1, bytes, false);
    this.arrivals.push({ atMs: this.queue.nowMs, node, granted, messages: 1, bytes });
    return granted;
  }

  runTo(seconds: number): void {
    this.queue.runUntil(seconds * 1000);
  }

  /** Messages per second between two times in seconds. */
  admitted(fromSec: number, toSec: number, node?: string): number {
    return admittedRate(this.arrivals, fromSec * 1000, toSec * 1000, node);
  }

  worst(windowSec: number, fromSec: number, toSec: number): number {
    return worstSpan(this.arrivals, windowSec * 1000, fromSec * 1000, toSec * 1000);
  }
}

/** Prints a figure beside what the sources say or what follows from them, and hands it back to be asserted. */
export function figure(what: string, measured: number, anchor: number): number {
  console.log(`${what}: ${Math.round(measured * 1000) / 1000} (expected: ${anchor})`);
  return measured;
}

export function names(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `n${at + 1}`);
}
