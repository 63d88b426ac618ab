import type { GroupSettings } from '../../src/core/base/settings.js';
import { directionIndex, laneOf, MESSAGES, slotOf, UNLIMITED } from '../../src/core/base/vocabulary.js';
import { type BucketSeen, bucketSeen } from '../../src/core/machine/bucket-seen.js';
import { RecordCodec } from '../../src/topic/codec/record-codec.js';
import type { ClusterUnderTest, DeliveryFaults, NodeClock, Ways } from './cluster-under-test.js';
import { SimulatedNode } from './simulated-node.js';
import { SimulatedTopic } from './simulated-topic.js';
import type { SystemEnvironment } from './system-environment.js';

/** Only lane of a scenario: publish of its group. */
const LANE = 0;

/** Runs the production core on a simulated topic. */
export class QuotameshCluster implements ClusterUnderTest {
  readonly name: string;
  readonly topic: SimulatedTopic;
  readonly #environment: SystemEnvironment;
  readonly #nodes = new Map<string, SimulatedNode>();
  readonly #clocks = new Map<string, NodeClock>();
  readonly #lies = new Map<string, number>();
  readonly #codec: RecordCodec;
  readonly #sent = { records: 0, bytes: 0 };
  #group: GroupSettings;
  /** Groups: one, and one per further key. */
  #groups = 1;

  constructor(environment: SystemEnvironment, strategy: string) {
    const { queue, random, delays, quota, settings } = environment;
    this.name = `quotamesh ${strategy}`;
    this.#environment = environment;
    this.#codec = new RecordCodec(settings.cluster);
    const publish = [quota.messagesPerSecond, quota.bytesPerSecond] as const;
    this.#group = { ...settings.groups[0], strategy, quota: { publish, dispatch: UNLIMITED } };
    this.topic = new SimulatedTopic(queue, random, delays, settings.partitions);
  }

  start(node: string): void {
    if (this.#nodes.get(node)?.isRunning === true) return;
    const { settings, queue, random } = this.#environment;
    const own = { ...settings, groups: [this.#group], nodeId: node, nonce: Math.floor(random.next() * 0x10000) };
    // A restarted node finds the log compacted.
    const options = { compacted: this.#nodes.has(node), clock: this.#clocks.get(node) };
    const started = new SimulatedNode(own, queue, this.topic, options);
    started.lieFactor = this.#lies.get(node) ?? 1;
    this.#nodes.set(node, started);
  }

  crash(node: string): void {
    this.#running(node)?.crash();
  }

  leave(node: string): void {
    this.#running(node)?.leave();
  }

  stall(node: string, durationMs: number): void {
    this.#running(node)?.stall(durationMs);
  }

  cutOff(node: string, { readsCut, appendsCut }: Ways): void {
    this.#running(node)?.cutOff(readsCut || appendsCut, { reads: readsCut, appends: appendsCut });
  }

  setOutage(isAway: boolean): void {
    this.topic.isAway = isAway;
  }

  /** Sets faults; messages are lost only before the log, as lost appends. */
  setFaults({ lostRatio, repeatedRatio, lateRatio, lateMs }: DeliveryFaults): void {
    this.topic.faults.lost = lostRatio;
    Object.assign(this.topic.deliveries, { repeatedRatio, lateRatio, lateMs });
  }

  /** Spreads the quota as by a log: a delivery later, at once for later starts. */
  setQuota(messagesPerSecond: number, bytesPerSecond: number): void {
    const quota = { publish: [messagesPerSecond, bytesPerSecond] as const, dispatch: UNLIMITED };
    const group = { ...this.#group, quota };
    this.#group = group;
    for (const node of this.#nodes.values()) {
      this.#environment.queue.after(this.topic.drawDelayMs('deliveryMs'), () => node.changeGroup(0, group));
    }
  }

  setClock(node: string, clock: NodeClock): void {
    this.#clocks.set(node, clock);
  }

  jumpClock(byMs: number): void {
    this.topic.clockOffsetMs += byMs;
  }

  setLie(node: string, factor: number): void {
    this.#lies.set(node, factor);
    const running = this.#running(node);
    if (running !== undefined) running.lieFactor = factor;
  }

  tryAcquire(node: string, messages: number, bytes: number, retry: boolean): boolean {
    return this.#nodes.get(node)?.tryAcquire(LANE, messages, bytes, retry) ?? false;
  }

  tryAcquireOf(key: number, node: string, messages: number, bytes: number, retry: boolean): boolean {
    for (; this.#groups <= key; this.#groups++) {
      const group = { ...this.#group, name: `${this.#group.name}-${this.#groups}` };
      for (const each of this.#nodes.values()) each.changeGroup(this.#groups, group);
    }
    return this.#nodes.get(node)?.tryAcquire(laneOf(key, directionIndex('publish')), messages, bytes, retry) ?? false;
  }

  limitOf(node: string, dimension: 0 | 1): number {
    const asked = this.#running(node);
    if (asked === undefined || asked.isStalled || asked.nowMs > asked.limiter.validUntilMs.at(LANE)) return 0;
    const slot = slotOf(LANE, MESSAGES + dimension);
    const { depth } = asked.limiter.buckets;
    if (depth.at(slot) === Infinity) return Infinity;
    // With shared tokens the limiter's own rate follows the bucket's correction.
    return asked.coordinator.shares.applied[slot];
  }

  bucketOf(dimension: 0 | 1): BucketSeen | null {
    for (const node of this.#nodes.values()) {
      if (!node.isRunning || node.isStalled) continue;
      const now = bucketSeen(node.coordinator, LANE, MESSAGES + dimension, node.nowMs);
      if (now !== null) return now.seen;
    }
    return null;
  }

  forgetPast(): void {
    // Reading `sent` counts records before they are dropped.
    if (this.sent.records > 0) this.topic.forgetDelivered();
  }

  /** Counts the log's keys and values by the codec, without Kafka's envelopes. */
  get sent(): { readonly records: number; readonly bytes: number } {
    const { log } = this.topic;
    for (; this.#sent.records < log.length; this.#sent.records++) {
      const { key, record } = log[this.#sent.records];
      this.#sent.bytes += key.length + (record === null ? 0 : this.#codec.encode(record).length);
    }
    return this.#sent;
  }

  #running(node: string): SimulatedNode | undefined {
    const known = this.#nodes.get(node);
    return known?.isRunning === true ? known : undefined;
  }
}
