import { setTimeout as sleep } from 'node:timers/promises';
import { change } from '../node-client/node-requests.js';
import type { DemoEnding } from './ending.js';
import type { Cluster } from './processes/cluster.js';
import type { TrafficProcess } from './processes/traffic-process.js';
import { type Act, actsFor, type Happening, STORY_QUOTA, VICTIM } from './story/acts.js';
import type { ActTallies } from './story/story-traffic.js';
import { actEnding, actHeading, storyEnding } from './view/act-text.js';
import type { View } from './view/view.js';

export interface StoryParts {
  readonly cluster: Cluster;
  readonly traffic: TrafficProcess;
  readonly view: View;
  readonly ending: DemoEnding;
  readonly group: string;
  /** Called for a restarted node, to watch its end. */
  readonly onStarted: (node: number) => void;
  readonly onQuota: (messagesPerSecond: number) => void;
}

export class StoryTeller {
  readonly #parts: StoryParts;
  readonly #told: (readonly [Act, ActTallies])[] = [];
  #title: string | null = null;

  constructor(parts: StoryParts) {
    this.#parts = parts;
  }

  get title(): string | null {
    return this.#title;
  }

  /** True = every finished act was good. */
  get isGood(): boolean {
    return this.#told.every(([{ figure }, { ours, central }]) => figure.isGood(ours, central));
  }

  /** Plays all acts; resolves after the last. */
  async tell(): Promise<void> {
    const { view, cluster, ending } = this.#parts;
    const acts = actsFor(cluster.nodes.length);
    const beganMs = performance.now();
    for (const [at, act] of acts.entries()) {
      this.#title = `Act ${at + 1} of ${acts.length}: ${act.title}`;
      view.tell(actHeading(act, at + 1, acts.length));
      const [tallies] = await Promise.all([this.#parts.traffic.act(act.stretches), this.#happen(act.happening)]);
      if (ending.reason !== null) return;
      this.#told.push([act, tallies]);
      view.tell(actEnding(act, tallies));
    }
    view.tell(storyEnding(this.#told, (performance.now() - beganMs) / 1000));
  }

  /** Keeps moving demand for those who look at nodes, until something ends it. */
  async goOn(): Promise<void> {
    const { cluster, ending, traffic, view } = this.#parts;
    this.#title = 'Demand goes on moving';
    view.tell(['The nodes go on, and demand moves from one to the other, until Ctrl-C.']);
    await this.#setQuota(STORY_QUOTA);
    const [, , moving] = actsFor(cluster.nodes.length);
    while (ending.reason === null) await traffic.act(moving?.stretches ?? []);
  }

  async #happen(happening: Happening | null): Promise<void> {
    if (happening === null) return;
    await sleep(happening.atMs, undefined, { ref: false });
    const { cluster, view } = this.#parts;
    if (this.#parts.ending.reason !== null) return;
    if (happening.kind === 'kill') {
      cluster.nodes[VICTIM]?.child.signal('SIGKILL');
      view.tell(['  now: node B is killed.']);
    } else if (happening.kind === 'start') await this.#startAgain();
    else {
      await this.#setQuota(STORY_QUOTA / 2);
      view.tell([`  now: the quota is ${STORY_QUOTA / 2} per second.`]);
    }
  }

  async #startAgain(): Promise<void> {
    const { cluster, traffic, view, onStarted } = this.#parts;
    if (cluster.nodes[VICTIM]?.child.isRunning === true) return;
    const beganMs = performance.now();
    const started = cluster.startAgain(VICTIM);
    onStarted(VICTIM);
    await started;
    traffic.nodeBack(VICTIM);
    view.tell([`  now: node B is ready, ${((performance.now() - beganMs) / 1000).toFixed(1)} s after it was started.`]);
  }

  /** Changes the quota by one call to one node. */
  async #setQuota(messagesPerSecond: number): Promise<void> {
    const { cluster, traffic, group, onQuota } = this.#parts;
    const node = cluster.nodes.find(({ child }) => child.isRunning);
    if (node === undefined) return;
    const asked = { url: new URL(node.url), token: null, tls: {} };
    const body = { quota: { publish: { messagesPerSecond } } };
    await change(asked, { method: 'PATCH', path: `v1/groups/${group}`, body });
    traffic.setQuota(messagesPerSecond);
    onQuota(messagesPerSecond);
  }
}
