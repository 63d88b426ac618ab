import type { ClusterUnderTest } from '../cluster/cluster-under-test.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { LOCAL_KAFKA } from '../cluster/world.js';
import { defaultSettings } from '../scenario/world-settings.js';
import type { System } from '../systems.js';

/** Experiment where FoundationDB's hand-out fails (docs/background/foundationdb-tag-throttling.md). */
interface RateExperiment {
  readonly name: string;
  readonly says: string;
  /** Baseline of the experiment, and its source's figure. */
  readonly baseline: 'fdb-client' | 'fdb-proxy';
  readonly anchor: number;
  /** Bound of ours. */
  readonly atMost?: number;
  readonly atLeast?: number;
  readonly play: (system: System) => number;
}

/** Seconds to settle: client mode needs minutes; its clients are nodes here. */
const CHANGE_SEC = 150;
const UNLIMITED = Infinity;

export const RATE_EXPERIMENTS: readonly RateExperiment[] = [
  {
    name: 'second client joins',
    says: 'Two clients of 200/s, quota 100/s, the second joins: most in 5 s ÷ quota.',
    baseline: 'fdb-client',
    anchor: 1.97,
    atMost: 1.1,
    play: (system) => {
      const stage = new Stage(system, { quota: 100, nodes: 2 });
      stage.join(0, 200);
      stage.runTo(CHANGE_SEC);
      stage.join(1, 200);
      stage.runTo(CHANGE_SEC + 60);
      return stage.worst(5, CHANGE_SEC) / 100;
    },
  },
  {
    name: 'quota halved',
    says: 'Two clients of 200/s, the quota falls from 100/s to 50/s: most in 5 s ÷ the new quota.',
    baseline: 'fdb-client',
    anchor: 1.78,
    atMost: 1.1,
    play: (system) => {
      const stage = new Stage(system, { quota: 100, nodes: 2 });
      for (const node of [0, 1]) stage.join(node, 200);
      stage.runTo(CHANGE_SEC);
      stage.cluster.setQuota(50, UNLIMITED);
      stage.runTo(CHANGE_SEC + 60);
      return stage.worst(5, CHANGE_SEC) / 50;
    },
  },
  {
    name: 'slow clients',
    says: '50 clients of 5/s, quota 25/s, half a message each: admitted ÷ quota, in the second half minute.',
    baseline: 'fdb-client',
    anchor: 2,
    atMost: 1.01,
    play: (system) => slowClients(system, 50),
  },
  {
    name: 'unequal proxies',
    says: 'Two proxies are asked for 5/s and 25/s, quota 20/s: admitted ÷ quota, once it has settled.',
    baseline: 'fdb-proxy',
    anchor: 0.75,
    atLeast: 0.99,
    play: (system) => {
      const stage = new Stage(system, { quota: 20, nodes: 2 });
      stage.join(0, 5);
      stage.join(1, 25);
      stage.runTo(500);
      return stage.admitted(300, 500) / 20;
    },
  },
];

/** Plays slow clients, 200 on 100/s in the source. 50 show the same in a sixteenth of the time; test/long plays 200. */
export function slowClients(system: System, clients: number): number {
  const quota = clients / 2;
  const stage = new Stage(system, { quota, nodes: clients });
  for (let node = 0; node < clients; node++) stage.join(node, 5);
  stage.runTo(60);
  return stage.admitted(30, 60) / quota;
}

class Stage {
  readonly cluster: ClusterUnderTest;
  readonly #queue = new EventQueue();
  readonly #random = Random.stream(1, 'clients');
  readonly #admittedMs: number[] = [];

  constructor(system: System, { quota, nodes }: { readonly quota: number; readonly nodes: number }) {
    this.cluster = system.create({
      queue: this.#queue,
      random: Random.stream(1, 'network'),
      delays: LOCAL_KAFKA,
      nodes,
      quota: { messagesPerSecond: quota, bytesPerSecond: UNLIMITED },
      settings: defaultSettings(),
    });
  }

  /** Starts a node with an even rate, out of step. */
  join(at: number, perSecond: number): void {
    const node = `n${at + 1}`;
    this.cluster.start(node);
    const ask = () => {
      this.#queue.after(1000 / perSecond, ask);
      if (this.cluster.tryAcquire(node, 1, 0, false)) this.#admittedMs.push(this.#queue.nowMs);
    };
    this.#queue.after(this.#random.between(0, 1000 / perSecond), ask);
  }

  runTo(seconds: number): void {
    this.#queue.runUntil(seconds * 1000);
  }

  admitted(fromSec: number, toSec: number): number {
    const inside = this.#admittedMs.filter((atMs) => atMs >= fromSec * 1000 && atMs < toSec * 1000);
    return inside.length / (toSec - fromSec);
  }

  worst(spanSec: number, fromSec: number): number {
    const times = this.#admittedMs.filter((atMs) => atMs >= fromSec * 1000);
    let [worst, oldest] = [0, 0];
    times.forEach((atMs, at) => {
      while (times[oldest] <= atMs - spanSec * 1000) oldest++;
      worst = Math.max(worst, at - oldest + 1);
    });
    return worst / spanSec;
  }
}
