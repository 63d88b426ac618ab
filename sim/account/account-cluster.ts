import { resolveConfig } from '../../src/config/read/resolve-config.js';
import type { ResolvedConfig } from '../../src/config/resolved/resolved-config.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import type { SimulatedNode } from '../cluster/simulated-node.js';
import { SimulatedTopic } from '../cluster/simulated-topic.js';
import { KeyedNode } from '../keys/keyed-node.js';
import type { Story, WrittenBucket } from './story.js';
import { ToldBucket } from './told-bucket.js';
import { namesOf, perSecondOf, writtenConfig } from './written-bucket.js';

/** Process of the cluster, seen from outside. */
export interface Member {
  readonly name: string;
  readonly node: KeyedNode;
  /** Start of decisions; NaN = not yet. */
  readyMs: number;
  readonly startLogMs: number;
  /** True = its log shows no silence before its start. */
  readonly isCompacted: boolean;
}

/** Runs a story's nodes, and counts what that allows every bucket. They start, stop and are killed. */
export class AccountCluster {
  readonly queue = new EventQueue();
  readonly topic: SimulatedTopic;
  readonly told: readonly ToldBucket[];
  readonly written: WrittenBucket[];
  config: ResolvedConfig;
  members: Member[] = [];
  /** End of the last trouble beside requests. */
  troubledMs = 0;
  readonly #random: Random;
  readonly #story: Story;
  /** Log time of the last kills, by name. */
  readonly #killedLogMs = new Map<string, number>();
  /** Nodes that have left since the log was lost last. */
  readonly #left = new Map<Member, { readonly atMs: number; readonly nodes: number }>();
  /** Milliseconds without any node, and begin of the last such time. Log time stands still in them. */
  #emptyMs = 0;
  #emptySinceMs = 0;
  /** Time at which the log was lost last. */
  #lostMs = -Infinity;
  /** Buckets that were in a lost log, within a delivery; without those that nobody knows. */
  #lost = new Set<ToldBucket>();
  #started = 0;
  #nights = 0;

  constructor(story: Story) {
    this.#story = story;
    this.#random = new Random(story.seed);
    this.topic = new SimulatedTopic(this.queue, this.#random, story.delays, story.partitions);
    this.written = [...story.buckets];
    this.config = this.#resolved();
    const nodesMax = story.nodes + story.acts.filter(({ act }) => act === 'start').length;
    this.told = story.buckets.flatMap((bucket, at) =>
      namesOf(bucket, at).map((name) => new ToldBucket(name, bucket, 0, nodesMax)),
    );
    for (let at = 0; at < story.nodes; at++) this.start(`node-${this.#started++}`, false);
  }

  get nowMs(): number {
    return this.queue.nowMs;
  }

  /** Tests if a full bucket is whole at three nodes: records come back fast (docs/guide/tokens.md). */
  get isNear(): boolean {
    const { delays } = this.#story;
    return delays.appendMs[1] + delays.deliveryMs[1] < WHOLE_BELOW_MS;
  }

  /** Longest way of a record to all nodes, with a decision. */
  get deliveryMs(): number {
    const { delays, sampleIntervalMs } = this.#story;
    return delays.appendMs[1] + delays.deliveryMs[1] + sampleIntervalMs;
  }

  /** Tests if a node began to decide within two deliveries. */
  isStarter({ readyMs }: Member): boolean {
    return readyMs > FIRST_MS && this.nowMs - readyMs < 2 * this.deliveryMs;
  }

  startNew(compacted: boolean): void {
    this.start(`node-${this.#started++}`, compacted);
  }

  start(name: string, compacted: boolean): void {
    if (this.members.some((member) => member.name === name)) return;
    const nonce = Math.floor(this.#random.next() * 0x10000);
    const stepped = ({ coordinator }: SimulatedNode) => {
      if (coordinator.isReady && Number.isNaN(member.readyMs)) member.readyMs = this.nowMs;
    };
    const options = { nonce, compacted, stepped };
    const node = new KeyedNode({ ...this.config, nodeId: name }, this.queue, this.topic, options);
    if (this.members.length === 0) this.#emptyMs += this.nowMs - this.#emptySinceMs;
    const member: Member = { name, node, readyMs: Number.NaN, startLogMs: this.#logMs, isCompacted: compacted };
    this.members.push(member);
    for (const told of this.told) if (told.limitedMs > -Infinity) told.isVague = true;
  }

  /** Plans work that all nodes' end cancels. */
  later(delayMs: number, run: () => void): void {
    const nights = this.#nights;
    this.queue.after(delayMs, () => {
      if (nights === this.#nights) run();
    });
  }

  /** Ends all nodes, and plans of restarts. */
  endAll(end: (member: Member) => void): void {
    this.#nights++;
    for (const member of [...this.members]) end(member);
  }

  leave(member: Member): void {
    const { name, node } = member;
    const nodes = this.counted();
    node.leave();
    this.#gone(name);
    // Its farewell goes to the log that was lost.
    const isUnread = this.nowMs - this.#lostMs <= this.deliveryMs;
    if (isUnread) this.#allowUnread(member, nodes);
    else {
      this.#left.set(member, { atMs: this.nowMs, nodes });
      for (const { ledger, written } of this.told) if (written.isKey) ledger.keyStopped(this.nowMs, nodes);
    }
  }

  kill(member: Member): void {
    const { name, node } = member;
    const nodes = this.counted();
    node.crash();
    this.#gone(name);
    this.#killedLogMs.set(name, this.#logMs);
    this.#allowUnread(member, nodes);
  }

  /** Allows the unread use of one of so many nodes. */
  #allowUnread(member: Member, nodes: number): void {
    for (const { ledger } of this.told) ledger.killed(this.nowMs, nodes, this.deliveryMs, member);
  }

  loseLog(): void {
    // In a new log each has a part until all have published.
    this.troubledMs = this.nowMs + this.config.timing.stalenessMs;
    this.topic.makeAnew();
    this.#lostMs = this.nowMs;
    this.#lost = new Set(this.told);
    for (const [member, { atMs, nodes }] of this.#left) {
      // Others have not read its farewell.
      if (this.nowMs - atMs <= this.deliveryMs) this.#allowUnread(member, nodes);
    }
    this.#left.clear();
    this.#forgetUnlessKnown();
  }

  /** Allows full buckets of a lost log that no ready node knew. */
  #forgetUnlessKnown(): void {
    if (this.nowMs - this.#lostMs > this.deliveryMs) this.#lost.clear();
    const ready = this.members.filter(({ node }) => node.isReady);
    for (const told of this.#lost) {
      // A node knows the keys that it has served: the log has no names.
      if (ready.some((member) => !told.written.isKey || told.servedBy.has(member))) continue;
      told.ledger.forgotten(this.nowMs);
      this.#lost.delete(told);
    }
  }

  /** Changes a quota, at each node after its own delivery. */
  limit(at: number, bucket: WrittenBucket): void {
    this.troubledMs = Math.max(this.troubledMs, this.nowMs);
    this.written[at] = bucket;
    this.config = this.#resolved();
    const names = namesOf(bucket, at);
    const allMs = this.nowMs + this.#story.delays.deliveryMs[1] + 1;
    const changed = this.told.filter(({ name }) => names.includes(name));
    for (const told of changed) told.limited(bucket, this.nowMs, allMs);
    for (const { node } of this.members) {
      this.queue.after(this.topic.drawDelayMs('deliveryMs'), () => {
        if (!node.isOpen) return;
        if (!node.isReady) for (const told of changed) told.isVague = true;
        // Later readings follow all earlier writings.
        const { groups, keys } = this.config;
        if (bucket.isKey) node.keys.use(keys.templates);
        else for (const group of groups) if (names.includes(group.name)) node.inForce.define(group);
      });
    }
  }

  #gone(name: string): void {
    this.members = this.members.filter((member) => member.name !== name);
    if (this.members.length === 0) this.#emptySinceMs = this.nowMs;
    this.#forgetUnlessKnown();
    this.troubledMs = Math.max(this.troubledMs, this.nowMs);
  }

  /**
   * Counts nodes that others count: running ones, and those killed just now.
   * @param by the node that counts, where its log may show less
   */
  counted(by: Member | null = null): number {
    const known = this.members.filter(({ readyMs }) => this.nowMs - readyMs >= 2 * this.deliveryMs);
    return Math.max(1, known.length + this.#killedFor(by));
  }

  /** Counts nodes that this one may count: also those that start just now. */
  countedAtMost(by: Member): number {
    return this.members.length + this.#killedFor(by);
  }

  #killedFor(by: Member | null): number {
    const isBack = (name: string) => this.members.some((member) => member.name === name);
    return [...this.#killedLogMs].filter(([name, logMs]) => !isBack(name) && this.#logMs < this.#countsUntil(logMs, by))
      .length;
  }

  /** Tests if a killed node's report has kept the bucket from filling. */
  lacksExpected(by: Member, { written, depth }: ToldBucket): boolean {
    const { stalenessMs, heartbeatMs } = this.config.timing;
    const fillMs = Math.min(stalenessMs + heartbeatMs, (1000 * depth) / perSecondOf(written));
    return [...this.#killedLogMs.values()].some((logMs) => this.#logMs < this.#countsUntil(logMs, by) + fillMs);
  }

  /** Computes the log time until which a node counts that was killed. */
  #countsUntil(killedLogMs: number, by: Member | null): number {
    const { stalenessMs, heartbeatMs } = this.config.timing;
    const usualMs = killedLogMs + stalenessMs + heartbeatMs;
    const isHidden = by?.isCompacted === true && killedLogMs <= by.startLogMs;
    return isHidden ? Math.max(usualMs, by.startLogMs + stalenessMs + 2 * heartbeatMs) : usualMs;
  }

  get #logMs(): number {
    return this.nowMs - this.#emptyMs;
  }

  #resolved(): ResolvedConfig {
    const { sampleIntervalMs } = this.#story;
    const raw = { cluster: CLUSTER, node: 'node', topic: 'memory', ...writtenConfig(this.written) };
    return { ...resolveConfig(raw, { source: '(story)', env: {} }), sampleIntervalMs };
  }
}

const CLUSTER = 'account';
/** Milliseconds within which first nodes start together. */
const FIRST_MS = 3000;
const WHOLE_BELOW_MS = 120;
