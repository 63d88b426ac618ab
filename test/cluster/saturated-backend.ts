import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { playStream } from '../../sim/load/play-arrivals.js';
import type { GroupExplanation } from '../../src/node/api/group-explanation.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { RealTimeQueue } from '../../src/tools/load/real-time-queue.js';
import { Child } from '../../src/tools/processes/child.js';
import type { WrittenSettings } from '../written-settings.js';
import { Cluster, type ClusterOptions } from './cluster.js';
import { steadyStream } from './steady-stream.js';

/** Pieces of work per second that each backend can do. */
export const CAPACITY = 150;
export const QUEUE_TARGET = 300;
const QUEUE_SPRING = 200;
/** Totals 1 : 2, and one with a reserve: what it holds, in pieces per second. Each piece costs one unit per backend. */
export const RESERVED = 70;
const UNITS = 3;
const GROUPS = {
  small: { quota: { publish: { costPerSecond: 175 * UNITS } }, expectedCost: UNITS },
  large: { quota: { publish: { costPerSecond: 350 * UNITS } }, expectedCost: UNITS },
  kept: {
    quota: { publish: { costPerSecond: 175 * UNITS, reservedCostPerSecond: RESERVED * UNITS } },
    expectedCost: UNITS,
  },
} satisfies WrittenSettings['groups'];
type Group = keyof typeof GROUPS;
const UNDER_WAY_MAX = 200;
const NODES = ['n1', 'n2', 'n3'] as const;
const BACKENDS = ['a', 'b', 'c'] as const;

export interface Window {
  readonly seconds: number;
  /** Pieces per second: done by backend b, admitted per group, asked for in all. */
  readonly servedPerSecond: number;
  readonly admitted: Readonly<Record<Group, number>>;
  readonly asked: number;
  /** Mean length of b's queue, looked at ten times a second. */
  readonly queue: number;
  /** Pieces of work in the window whose requests failed. */
  readonly failed: number;
}

interface Queues {
  readonly [name: string]: { readonly queue: number; readonly served: number };
}

/** Three nodes, three backends in three zones that every piece of work touches, and clients that ask at fixed rates. */
export class SaturatedBackend {
  readonly #cluster: Cluster;
  readonly #backends: Child;
  readonly #url: string;
  readonly #admitted = { small: 0, large: 0, kept: 0 };
  #asked = 0;
  #underWay = 0;
  #failed = 0;
  #arrivals: RealTimeQueue | null = null;

  private constructor(cluster: Cluster, backends: Child, url: string) {
    this.#cluster = cluster;
    this.#backends = backends;
    this.#url = url;
  }

  static async start(topic: ClusterOptions['topic']): Promise<SaturatedBackend> {
    const child = new Child([fileURLToPath(new URL('./backends.mjs', import.meta.url))]);
    const url = `http://127.0.0.1:${await child.next<number>()}`;
    const backends = Object.fromEntries(
      BACKENDS.map((name) => {
        const level = { metric: 'queue_length', target: QUEUE_TARGET, spring: QUEUE_SPRING, everyMs: 200 };
        return [`db-${name}`, { url: `${url}/metrics/${name}`, zone: name, ...level }];
      }),
    );
    const limiting = { split: 'by-quota', zonesLeftOut: 1 } satisfies WrittenSettings['limiting'];
    const cluster = await Cluster.create({ topic, nodeSettings: { groups: GROUPS, backends, limiting } });
    const scene = new SaturatedBackend(cluster, child, url);
    await scene.setCapacity({ a: CAPACITY, b: CAPACITY, c: CAPACITY });
    await cluster.start(...NODES).catch((error) => {
      child.signal('SIGKILL');
      throw error;
    });
    return scene;
  }

  async setCapacity(perSecond: Partial<Record<(typeof BACKENDS)[number], number>>): Promise<void> {
    await (await fetch(`${this.#url}/capacity`, { method: 'POST', body: JSON.stringify(perSecond) })).arrayBuffer();
  }

  /** Pieces per second of each group, over all nodes; what is owed after a pause of this process comes late, not never. */
  setRates(rates: Readonly<Record<Group, number>>): void {
    this.#arrivals?.stop();
    const queue = new RealTimeQueue(epochNow());
    this.#arrivals = queue;
    for (const group of Object.keys(rates) as Group[]) {
      let turn = 0;
      const arrive = () => {
        const node = NODES[turn++ % NODES.length] as string;
        // A busy machine must not pile up requests: one that has no room is not sent.
        if (this.#underWay < UNDER_WAY_MAX) void this.#ask(group, node);
        return true;
      };
      playStream(steadyStream(group, rates[group], true), { queue, seed: 1, arrive });
    }
  }

  async measure(seconds: number): Promise<Window> {
    const before = {
      ...this.#admitted,
      asked: this.#asked,
      failed: this.#failed,
      served: (await this.queues()).b?.served ?? 0,
    };
    const begunMs = performance.now();
    const queues: number[] = [];
    while (performance.now() - begunMs < seconds * 1000) {
      queues.push((await this.queues()).b?.queue ?? Number.NaN);
      await sleep(100);
    }
    const took = (performance.now() - begunMs) / 1000;
    const rate = (group: Group) => (this.#admitted[group] - before[group]) / took;
    return {
      seconds: took,
      servedPerSecond: (((await this.queues()).b?.served ?? 0) - before.served) / took,
      admitted: { small: rate('small'), large: rate('large'), kept: rate('kept') },
      asked: (this.#asked - before.asked) / took,
      queue: queues.reduce((sum, one) => sum + one, 0) / queues.length,
      failed: this.#failed - before.failed,
    };
  }

  async queues(): Promise<Queues> {
    return (await (await fetch(`${this.#url}/served`)).json()) as Queues;
  }

  async explain(group: Group): Promise<GroupExplanation> {
    return (await (await fetch(`${this.#cluster.url('n1')}/v1/groups/${group}/explain`)).json()) as GroupExplanation;
  }

  async stop(): Promise<void> {
    this.#arrivals?.stop();
    await sleep(200);
    this.#backends.signal('SIGKILL');
    await this.#cluster.stop();
  }

  /** As a sidecar does it: reserve with an estimate, do the work, commit what it has cost. */
  async #ask(group: Group, node: string): Promise<void> {
    this.#asked++;
    this.#underWay++;
    await this.#work(group, node).catch(() => {
      this.#failed++;
    });
    this.#underWay--;
  }

  async #work(group: Group, node: string): Promise<void> {
    const url = this.#cluster.url(node);
    const request = { group, messages: 1, cost: { units: UNITS } };
    const body = (await (await post(`${url}/v1/acquire`, request)).json()) as { readonly id?: string };
    if (body.id === undefined) return;
    this.#admitted[group]++;
    await (await fetch(`${this.#url}/work`, { method: 'POST' })).arrayBuffer();
    const costs = BACKENDS.map((name) => ({ backend: `db-${name}`, units: 1 }));
    await (await post(`${url}/v1/commit`, { id: body.id, costs })).arrayBuffer();
  }
}

function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(5000) });
}
