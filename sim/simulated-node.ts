import { Coordinator } from '../src/core/coordinator.js';
import type { CoordinatorEvent, Notice } from '../src/core/coordinator-protocol.js';
import { enforce } from '../src/core/limiter/enforce.js';
import { GRANTED, Limiter, UNCONFIRMED } from '../src/core/limiter/limiter.js';
import type { CoordinatorSettings, GroupSettings } from '../src/core/settings.js';
import { DIRECTION_COUNT, MESSAGES, slotOf } from '../src/core/vocabulary.js';
import type { EventQueue } from './event-queue.js';
import type { Connection, SimulatedTopic } from './simulated-topic.js';

/** What a node wrote into its decision log: the share of a lane, messages/s, from that time on. */
export interface ShareDecision {
  readonly atMs: number;
  readonly lane: number;
  readonly share: number;
}

/** A node in virtual time: the production coordinator and limiter, driven as src/runtime drives them. */
export class SimulatedNode {
  readonly coordinator: Coordinator;
  readonly limiter: Limiter;
  readonly notices: { readonly atMs: number; readonly notice: Notice }[] = [];
  readonly decisions: ShareDecision[] = [];
  isRunning = true;
  /** A stalled process runs nothing: no rounds, no reads, no requests. */
  isStalled = false;
  readonly #queue: EventQueue;
  readonly #topic: SimulatedTopic;
  readonly #connection: Connection;
  #backlog: CoordinatorEvent[] = [];

  constructor(settings: CoordinatorSettings, queue: EventQueue, topic: SimulatedTopic, compacted = false) {
    this.#queue = queue;
    this.#topic = topic;
    this.limiter = new Limiter(settings.groups.length * DIRECTION_COUNT);
    this.coordinator = new Coordinator(settings, this.limiter);
    this.#connection = topic.connect(
      {
        onRecords: (records) => this.#receive({ kind: 'records-read', records }),
        onCaughtUp: () => this.#receive({ kind: 'caught-up' }),
        onAppendFailed: (keys) => this.#receive({ kind: 'append-failed', keys }),
      },
      compacted,
    );
    this.#scheduleRound(settings.sampleIntervalMs);
  }

  /** True when granted. */
  tryAcquire(lane: number, messages: number, bytes: number, retry = false): boolean {
    if (!this.isRunning || this.isStalled) return false;
    const nowMs = this.#queue.nowMs;
    let answer = this.limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    if (answer === UNCONFIRMED && this.coordinator.isReady && !this.coordinator.lanes.has(lane)) {
      this.step({ kind: 'lane-served', lane });
      this.limiter.accrueSince(lane, this.coordinator.readyMs);
      answer = this.limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    }
    return answer === GRANTED;
  }

  /** kill -9. */
  crash(): void {
    this.isRunning = false;
    this.#topic.close(this.#connection);
  }

  leave(): void {
    this.step({ kind: 'stopping' });
    this.isRunning = false;
    this.#queue.after(1000, () => this.#topic.close(this.#connection));
  }

  /** No way to the log and back; one way only with `ways`. */
  cutOff(isCut: boolean, ways = { reads: true, appends: true }): void {
    this.#topic.cut(this.#connection, { reads: isCut && ways.reads, appends: isCut && ways.appends });
  }

  repeatDelivery(count: number): void {
    if (this.isRunning) this.#topic.repeat(this.#connection, count);
  }

  /**
   * The process is frozen. When it wakes, requests come first; its reads `backlogMs` later, as a busy event loop may
   * order them.
   */
  stall(durationMs: number, backlogMs = 0): void {
    this.isStalled = true;
    this.#queue.after(durationMs, () => {
      this.isStalled = false;
      this.#queue.after(backlogMs, () => this.#work());
    });
  }

  changeGroup(group: number, settings: GroupSettings): void {
    this.#receive({ kind: 'group-changed', group, settings });
  }

  step(event: CoordinatorEvent): void {
    const nowMs = this.#queue.nowMs;
    const effects = this.coordinator.step(event, nowMs);
    enforce(effects, this.coordinator, this.limiter, nowMs);
    for (const notice of effects.notices) this.notices.push({ atMs: nowMs, notice });
    for (const lane of effects.changedLanes) {
      this.decisions.push({
        atMs: nowMs,
        lane,
        share: this.coordinator.shares.applied[slotOf(lane, MESSAGES)] as number,
      });
    }
    if (effects.appends.length > 0) this.#topic.append(this.#connection, effects.appends);
  }

  #receive(event: CoordinatorEvent): void {
    if (!this.isRunning) return;
    if (this.isStalled || this.#backlog.length > 0) this.#backlog.push(event);
    else this.step(event);
  }

  #work(): void {
    if (!this.isRunning || this.isStalled) return;
    for (const event of this.#backlog.splice(0)) this.step(event);
  }

  #scheduleRound(everyMs: number): void {
    this.#queue.after(everyMs, () => {
      if (!this.isRunning) return;
      if (!this.isStalled) this.step({ kind: 'round-elapsed' });
      this.#scheduleRound(everyMs);
    });
  }
}
