import type {
  Append,
  CoordinatorEvent,
  Effects,
  Notice,
  UnpublishedUse,
} from '../../src/core/base/protocol/events-and-effects.js';
import type { CoordinatorSettings, GroupSettings } from '../../src/core/base/settings.js';
import { DIRECTION_COUNT } from '../../src/core/base/vocabulary.js';
import { GRANTED, Limiter, UNCONFIRMED } from '../../src/core/limiter/limiter.js';
import { FAILED_PRODUCE_PAUSE_MS } from '../../src/core/log/constants.js';
import { OutgoingQueue, type Produce } from '../../src/core/log/outgoing-queue.js';
import { Coordinator } from '../../src/core/machine/coordinator.js';
import { enforce } from '../../src/core/machine/enforce.js';
import type { NodeClock } from './cluster-under-test.js';
import type { EventQueue } from './event-queue.js';
import { ReadOffsets } from './read-offsets.js';
import { SignedReader } from './signed-reader.js';
import type { Connection, SignedEvent, SimulatedTopic } from './simulated-topic.js';

/** Observes a world's processes, and changes nothing. */
export interface NodeObserver {
  stepped?(node: SimulatedNode, event: CoordinatorEvent, effects: Effects): void;
  admitted?(node: SimulatedNode, lane: number, messages: number): void;
  /** Called when a running process refuses a request. */
  refused?(node: SimulatedNode, lane: number, messages: number): void;
  /** Called when a process ends without a step (kill -9). */
  ended?(node: SimulatedNode): void;
}

interface ProcessOptions {
  readonly compacted?: boolean;
  readonly clock?: NodeClock | undefined;
  readonly observer?: NodeObserver | null;
  /** Key of signing and verifying; null = nothing is signed. */
  readonly signingKey?: string | null;
}

/** Drives production's coordinator and limiter in virtual time, as src/node/loop does. */
export class SimulatedNode {
  readonly coordinator: Coordinator;
  readonly limiter: Limiter;
  readonly notices: { readonly atMs: number; readonly notice: Notice }[] = [];
  isRunning = true;
  /** True = frozen: no rounds, reads or requests. */
  isStalled = false;
  /** Offsets that the coordinator has read; deliveries to a stalled process do not count. */
  readonly readOffsets: ReadOffsets;
  /** True = the log was compacted before this process read it. */
  readonly beganCompacted: boolean;
  readonly signingKey: string | null;
  /** Factor of its reports; 1 = the truth. */
  lieFactor = 1;
  readonly #queue: EventQueue;
  readonly #topic: SimulatedTopic;
  readonly #connection: Connection;
  readonly #clock: NodeClock;
  readonly #observer: NodeObserver | null;
  readonly #signed: SignedReader | null;
  /** Milliseconds of suspends, for which its clock stood still. */
  #suspendedMs = 0;
  /** Causes of suspending now, and since when. */
  #suspends = 0;
  #suspendedSinceMs = 0;
  /** Causes of freezing now. */
  #freezes = 0;
  readonly #outgoing = new OutgoingQueue();
  /** Events while it was frozen. */
  #backlog: (() => void)[] = [];
  /** True = it serves no requests, but sends its farewell. */
  #isLeaving = false;

  constructor(
    settings: CoordinatorSettings,
    queue: EventQueue,
    topic: SimulatedTopic,
    { compacted = false, clock = TRUE_CLOCK, observer = null, signingKey = null }: ProcessOptions = {},
  ) {
    this.#queue = queue;
    this.#observer = observer;
    this.beganCompacted = compacted;
    this.readOffsets = new ReadOffsets(settings.partitions);
    this.#clock = clock;
    this.#topic = topic;
    this.limiter = new Limiter(settings.groups.length * DIRECTION_COUNT);
    this.coordinator = new Coordinator(settings, this.limiter);
    this.signingKey = signingKey;
    this.#signed = signingKey === null ? null : new SignedReader(signingKey, settings, () => this.nowMs);
    this.#connection = topic.connect(
      {
        onEpoch: (epoch) => this.#whenAwake(() => this.#epochBegan(epoch)),
        onRecords: (records) => this.#whenAwake(() => this.#read(records)),
        onCaughtUp: () => this.#whenAwake(() => this.#caughtUp()),
      },
      compacted,
      signingKey ?? undefined,
    );
    this.#scheduleRounds(settings.sampleIntervalMs);
  }

  get nowMs(): number {
    return this.#queue.nowMs * (1 + this.#clock.driftRatio) + this.#clock.offsetMs - this.#suspendedMs;
  }

  /** Tests if another key signed the newest record under a key. */
  isOverwritten(partition: number, key: string): boolean {
    return this.#signed?.isOverwritten(partition, key) === true;
  }

  /** Requests tokens; true = granted. */
  tryAcquire(lane: number, messages: number, bytes: number, retry = false): boolean {
    if (!this.isRunning || this.isStalled) return false;
    const nowMs = this.nowMs;
    let answer = this.limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    if (answer === UNCONFIRMED && this.coordinator.isReady && !this.coordinator.lanes.has(lane)) {
      this.step({ kind: 'lane-served', lane });
      this.limiter.accrueSince(lane, this.coordinator.readyMs);
      answer = this.limiter.tryAcquire(lane, messages, bytes, retry, nowMs);
    }
    const isGranted = answer === GRANTED;
    if (isGranted) this.#observer?.admitted?.(this, lane, messages);
    else this.#observer?.refused?.(this, lane, messages);
    return isGranted;
  }

  crash(): void {
    this.isRunning = false;
    this.#topic.close(this.#connection);
    this.#observer?.ended?.(this);
  }

  /** Leaves. @param unpublished use of silent keys that is unpublished */
  leave(unpublished: readonly UnpublishedUse[] = []): void {
    this.step({ kind: 'stopping', unpublished });
    this.isRunning = false;
    this.#isLeaving = true;
    this.#queue.after(FAREWELL_TIMEOUT_MS, () => {
      this.#isLeaving = false;
      this.#topic.close(this.#connection);
    });
  }

  /** Cuts the ways to the log and back, or `ways` of them; false mends them. */
  cutOff(isCut: boolean, ways = { reads: true, appends: true }): void {
    this.#topic.cut(this.#connection, { reads: isCut && ways.reads, appends: isCut && ways.appends });
  }

  /** Delays all its reads by this much more. */
  delayReads(lateMs: number): void {
    this.#connection.lateMs = lateMs;
  }

  repeatDelivery(count: number): void {
    if (this.isRunning) this.#topic.repeat(this.#connection, count);
  }

  /** Freezes the process; at waking it serves first and reads `backlogMs` later, as a busy event loop may. */
  stall(durationMs: number, backlogMs = 0): void {
    this.#freezes++;
    this.isStalled = true;
    this.#queue.after(durationMs, () => {
      this.isStalled = --this.#freezes > 0;
      this.#queue.after(backlogMs, () => this.#work());
    });
  }

  /** Suspends the machine: a stall in which its clock stands still. */
  suspend(durationMs: number, backlogMs = 0): void {
    const { nowMs } = this.#queue;
    if (this.#suspends++ === 0) this.#suspendedSinceMs = nowMs;
    this.#queue.after(durationMs, () => {
      if (--this.#suspends === 0) this.#suspendedMs += this.#queue.nowMs - this.#suspendedSinceMs;
    });
    this.stall(durationMs, backlogMs);
  }

  /** Changes a group; the number after the last adds one. */
  changeGroup(group: number, settings: GroupSettings): void {
    const lanes = (group + 1) * DIRECTION_COUNT;
    if (this.limiter.laneCount < lanes) this.limiter.grow(2 * lanes);
    this.#whenAwake(() => this.step({ kind: 'group-changed', group, settings }));
  }

  step(event: CoordinatorEvent): void {
    const nowMs = this.nowMs;
    const effects = this.coordinator.step(event, nowMs);
    enforce(effects, this.coordinator, this.limiter, nowMs);
    this.readOffsets.follow(event);
    this.#observer?.stepped?.(this, event, effects);
    const { notices, appends } = effects;
    for (const notice of notices) this.notices.push({ atMs: this.#queue.nowMs, notice });
    if (appends.length > 0) this.#send(appends);
  }

  /** Sends as src/node/loop/topic-pump.ts: a produce per partition at a time, a pause after failures. */
  #send(appends: readonly Append[]): void {
    this.#outgoing.add(this.lieFactor === 1 ? appends : exaggerated(appends, this.lieFactor));
    this.#sendNext();
  }

  #sendNext(): void {
    for (let next = this.#outgoing.takeNext(); next !== null; next = this.#outgoing.takeNext()) this.#produce(next);
  }

  #produce({ partition, appends }: Produce): void {
    this.#topic.append(this.#connection, appends, (isAcknowledged) => {
      if (isAcknowledged) {
        this.#whenAwake(() => {
          this.#outgoing.succeeded(partition);
          this.#sendNext();
        });
      } else this.#queue.after(FAILED_PRODUCE_PAUSE_MS, () => this.#whenAwake(() => this.#produceFailed(partition)));
    });
  }

  #produceFailed(partition: number): void {
    this.step({ kind: 'append-failed', partition, keys: this.#outgoing.failed(partition) });
    this.#sendNext();
  }

  #epochBegan(epoch: string): void {
    this.#signed?.epochBegan();
    this.step({ kind: 'epoch-began', epoch });
  }

  #read(read: readonly SignedEvent[]): void {
    const records = this.#signed === null ? read : this.#signed.believed(read);
    if (records.length > 0) this.step({ kind: 'records-read', records });
  }

  #caughtUp(): void {
    this.#signed?.caughtUp();
    this.step({ kind: 'caught-up' });
  }

  #whenAwake(run: () => void): void {
    if (!this.isRunning && !this.#isLeaving) return;
    if (this.isStalled || this.#backlog.length > 0) this.#backlog.push(run);
    else run();
  }

  #work(): void {
    if (!this.isRunning || this.isStalled) return;
    for (const run of this.#backlog.splice(0)) run();
  }

  #scheduleRounds(everyMs: number): void {
    const round = () => {
      if (!this.isRunning) return;
      if (!this.isStalled) this.step(ROUND);
      this.#queue.after(everyMs, round);
    };
    this.#queue.after(everyMs, round);
  }
}

/** Milliseconds of trying a farewell, as in src/node/loop/node-life.ts. */
const FAREWELL_TIMEOUT_MS = 1500;
const ROUND: CoordinatorEvent = { kind: 'round-elapsed' };
const TRUE_CLOCK: NodeClock = { offsetMs: 0, driftRatio: 0 };

/** Exaggerates a lying node's usage and demand, not its share. */
function exaggerated(appends: readonly Append[], factor: number): readonly Append[] {
  return appends.map((append) => {
    const { record } = append;
    if (record?.kind !== 'report') return append;
    const rows = record.rows.map((row) => ({
      ...row,
      usageMessages: row.usageMessages * factor,
      usageBytes: row.usageBytes * factor,
      demandMessages: row.demandMessages * factor,
      demandBytes: row.demandBytes * factor,
    }));
    return { ...append, record: { ...record, rows } };
  });
}
