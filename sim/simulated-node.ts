import { Coordinator } from '../src/core/coordinator.js';
import type { CoordinatorEvent, Notice } from '../src/core/coordinator-protocol.js';
import { enforce } from '../src/core/limiter/enforce.js';
import { GRANTED, Limiter, UNCONFIRMED } from '../src/core/limiter/limiter.js';
import type { CoordinatorSettings } from '../src/core/settings.js';
import { DIRECTION_COUNT } from '../src/core/vocabulary.js';
import type { EventQueue } from './event-queue.js';
import type { SimulatedReader, SimulatedTopic } from './simulated-topic.js';

/** A node in virtual time: the production coordinator and limiter, driven as src/runtime drives them. */
export class SimulatedNode {
  readonly coordinator: Coordinator;
  readonly limiter: Limiter;
  readonly notices: { readonly atMs: number; readonly notice: Notice }[] = [];
  isRunning = true;
  /** A stalled process runs nothing: no rounds, no reads; requests may come in the moment it wakes. */
  isStalled = false;
  readonly #queue: EventQueue;
  readonly #topic: SimulatedTopic;
  readonly #reader: SimulatedReader;
  #backlog: CoordinatorEvent[] = [];

  constructor(settings: CoordinatorSettings, queue: EventQueue, topic: SimulatedTopic, compacted = false) {
    this.#queue = queue;
    this.#topic = topic;
    this.limiter = new Limiter(settings.groups.length * DIRECTION_COUNT);
    this.coordinator = new Coordinator(settings, this.limiter);
    this.#reader = topic.open(
      (records) => this.#receive({ kind: 'records-read', records }),
      () => this.#receive({ kind: 'caught-up' }),
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
    this.#topic.close(this.#reader);
  }

  leave(): void {
    this.step({ kind: 'stopping' });
    this.isRunning = false;
    this.#queue.after(1000, () => this.#topic.close(this.#reader));
  }

  cutOff(isCut: boolean): void {
    this.#topic.cut(this.#reader, isCut);
  }

  stall(durationMs: number): void {
    this.isStalled = true;
    this.#queue.after(durationMs, () => {
      this.isStalled = false;
      for (const event of this.#backlog.splice(0)) this.step(event);
    });
  }

  step(event: CoordinatorEvent): void {
    const nowMs = this.#queue.nowMs;
    const effects = this.coordinator.step(event, nowMs);
    enforce(effects, this.coordinator, this.limiter, nowMs);
    for (const notice of effects.notices) this.notices.push({ atMs: nowMs, notice });
    if (effects.appends.length > 0) {
      this.#topic.append(this.#reader, effects.appends, (keys) => this.#receive({ kind: 'append-failed', keys }));
    }
  }

  #receive(event: CoordinatorEvent): void {
    if (!this.isRunning) return;
    if (this.isStalled) this.#backlog.push(event);
    else this.step(event);
  }

  #scheduleRound(everyMs: number): void {
    this.#queue.after(everyMs, () => {
      if (!this.isRunning) return;
      if (!this.isStalled) this.step({ kind: 'round-elapsed' });
      this.#scheduleRound(everyMs);
    });
  }
}
